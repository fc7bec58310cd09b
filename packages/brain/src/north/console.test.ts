import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Sessions } from "../auth/sessions.ts";
import { Tokens } from "../auth/tokens.ts";
import { openConsoleFiles } from "../http/console-files.ts";
import { serveHttp } from "../http/server.ts";
import { folder } from "../stores/journal.fixture.ts";
import { openStore } from "../stores/stores.ts";
import { consoleSurface } from "./console.ts";
import { plainFault } from "./ops.ts";

/** A server with the console and one route that changes something, and a session of ada's. */
class ConsoleStage implements AsyncDisposable {
  static async set(folders: readonly string[] = []): Promise<ConsoleStage> {
    const store = await openStore("memory", "");
    const tokens = new Tokens(store.records);
    const sessions = new Sessions(store.records, tokens);
    const changing = {
      method: "POST",
      path: "/v1/change",
      summary: "",
      scope: "runs",
      answer: {},
      handle: async () => ({ json: { changed: true } }),
    } as const;
    const deps = { sessions, tokens, consoleFiles: openConsoleFiles(folders), version: "1.2.3" };
    const surfaces = [consoleSurface(deps), { name: "trial", faultBody: plainFault, routes: [changing] }];
    const server = await serveHttp({
      surfaces,
      tokens,
      sessions,
      records: store.records,
      host: "127.0.0.1",
      port: 0,
      origins: ["https://app.example"],
      production: false,
      log: () => undefined,
    });
    const { token } = await tokens.create({ owner: "ada" });
    return new ConsoleStage(server.url, token, async () => {
      await server.close();
      tokens.close();
      await store.close();
    });
  }

  readonly url: string;
  readonly token: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, token: string, close: () => Promise<void>) {
    this.url = url;
    this.token = token;
    this.#close = close;
  }

  async call(method: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Response> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const typed = body === undefined ? headers : { ...headers, "content-type": "application/json" };
    return fetch(this.url + path, { method, headers: typed, ...sent });
  }

  /** Signs in by a link, as a page of this origin does; resolves to the cookie. */
  async signIn(): Promise<string> {
    const made = await this.call("POST", "/console/links", { authorization: `Bearer ${this.token}` }, {});
    const { path } = (await made.json()) as { path: string };
    const code = path.replace("/#code=", "");
    const opened = await this.call("POST", "/console/session", { origin: this.url }, { code });
    assert.equal(opened.status, 200);
    const again = await this.call("POST", "/console/session", { origin: this.url }, { code });
    assert.equal(again.status, 401);
    assert.match(((await again.json()) as { error: string }).error, /was used already.*vidro console/);
    const cookie = opened.headers.get("set-cookie") ?? "";
    assert.match(cookie, /^vidro-session-\d+=[\w-]{43}; Path=\/; Max-Age=604\d{3}; HttpOnly; SameSite=Strict$/);
    return cookie.split(";")[0] ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

test("a one-time link becomes a session with its token's scopes, which counts until it is ended", async () => {
  await using stage = await ConsoleStage.set();
  const cookie = await stage.signIn();
  const who = await stage.call("GET", "/console/session", { cookie });
  assert.deepEqual(await who.json(), {
    owner: "ada",
    admin: false,
    scopes: ["runs", "getosinfo", "ps", "watch", "getwatches"],
    version: "1.2.3",
  });
  const changed = await stage.call("POST", "/v1/change", { cookie, origin: stage.url }, {});
  assert.equal(changed.status, 200);
  const ended = await stage.call("DELETE", "/console/session", { cookie, origin: stage.url });
  assert.match(ended.headers.get("set-cookie") ?? "", /=; Path=\/; Max-Age=0;/);
  assert.equal((await stage.call("GET", "/console/session", { cookie })).status, 401);
});

test("a session counts for no page of another origin, not even of an allowed one or of another port", async () => {
  await using stage = await ConsoleStage.set();
  const cookie = await stage.signIn();
  const foreign: readonly Record<string, string>[] = [
    {},
    { origin: "http://127.0.0.1:1" },
    { origin: "https://app.example" },
    { origin: stage.url, "sec-fetch-site": "same-site" },
    { origin: stage.url, "sec-fetch-site": "cross-site" },
  ];
  for (const headers of foreign) {
    const refused = await stage.call("POST", "/v1/change", { cookie, ...headers }, {});
    assert.equal(refused.status, 403, JSON.stringify(headers));
  }
  const read = await stage.call("GET", "/console/session", { cookie, "sec-fetch-site": "same-site" });
  assert.equal(read.status, 403);
  const token = await stage.call("POST", "/v1/change", { authorization: `Bearer ${stage.token}` }, {});
  assert.equal(token.status, 200);
});

test("a token signs in, a wrong one and both at once do not, and nothing is kept for a repeated request", async () => {
  await using stage = await ConsoleStage.set();
  const at = { origin: stage.url, "idempotency-key": "k" };
  const opened = await stage.call("POST", "/console/session", at, { token: stage.token });
  const again = await stage.call("POST", "/console/session", at, { token: stage.token });
  assert.notEqual(opened.headers.get("set-cookie"), again.headers.get("set-cookie"));
  const { origin } = at;
  assert.equal((await stage.call("POST", "/console/session", { origin }, { token: `${stage.token}x` })).status, 401);
  assert.equal((await stage.call("POST", "/console/session", { origin }, { token: "a", code: "b" })).status, 400);
  assert.equal((await stage.call("POST", "/console/session", { origin }, {})).status, 400);
});

test("pages have a strict policy and a validator, assets are immutable, and no path leads out", async () => {
  using place = folder();
  mkdirSync(join(place.path, "assets"));
  writeFileSync(join(place.path, "index.html"), "<!doctype html>");
  writeFileSync(join(place.path, "assets/index-1a.js"), "let a;");
  writeFileSync(join(place.path, "secret.js"), "no");
  await using stage = await ConsoleStage.set([join(place.path, "absent"), place.path]);
  for (const path of ["/", "/runs/run_1", "/hands"]) {
    const page = await stage.call("GET", path);
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.equal(page.status, 200, path);
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const etag = page.headers.get("etag") ?? "";
    assert.equal((await stage.call("GET", path, { "if-none-match": etag })).status, 304);
  }
  const asset = await stage.call("GET", "/assets/index-1a.js", { "accept-encoding": "br" });
  assert.deepEqual(
    [asset.headers.get("cache-control"), asset.headers.get("content-encoding"), await asset.text()],
    ["public, max-age=31536000, immutable", "br", "let a;"],
  );
  for (const [accepted, encoding] of [
    ["gzip, br;q=0.5", "br"],
    ["BR ; q=1", "br"],
    ["gzip, br;q=0", null],
    ["br; q=0.000", null],
    ["x-br, brotli", null],
  ] as const) {
    const { headers } = await stage.call("GET", "/assets/index-1a.js", { "accept-encoding": accepted });
    assert.equal(headers.get("content-encoding"), encoding, accepted);
  }
  for (const path of ["/assets/..%2fsecret.js", "/assets/none.js", "/assets/..%2f..%2fetc%2fpasswd"])
    assert.equal((await stage.call("GET", path)).status, 404, path);
});

test("without a build the page says what to do, and the rest of the brain answers", async () => {
  await using stage = await ConsoleStage.set();
  const page = await stage.call("GET", "/");
  assert.equal(page.status, 503);
  assert.match(await page.text(), /npm run console/);
  assert.equal((await stage.call("POST", "/v1/change", { authorization: `Bearer ${stage.token}` }, {})).status, 200);
});
