import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FetchPlan, ValueOutcome } from "@vidro/core";
import { contextIn, executionOf, scratch } from "../scratch.fixture.ts";
import { fetchPage } from "../web/fetch-page.ts";
import type { HandContext } from "./tool.ts";
import { webFetchTool } from "./web-fetch.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of pages on this machine, and a context whose policy names its host. */
async function site(t: TestContext, answer: Answer): Promise<{ url: string; context: HandContext }> {
  const server = createServer(answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const context = { ...contextIn(scratch(t)), privateHosts: () => ["127.0.0.1", "local*"] };
  return { url: `http://127.0.0.1:${port}`, context };
}

async function fetched(context: HandContext, url: string, offset?: number): Promise<ValueOutcome> {
  const input = { url, ...(offset === undefined ? {} : { offset }) };
  const plan = await webFetchTool.plan(input, context);
  const outcome = await webFetchTool.run(input, executionOf<FetchPlan>(context, plan));
  if (outcome.kind !== "value") throw new Error(outcome.kind);
  return outcome;
}

/** The words of the fault that an address ends with. */
async function refusal(context: HandContext, url: string): Promise<string> {
  try {
    return `nothing was refused: ${(await fetched(context, url)).text}`;
  } catch (thrown) {
    assert.ok(thrown instanceof Fault, String(thrown));
    return `${thrown.code} ${thrown.message}`;
  }
}

test("a page is fetched as text, without its fragment, and a long one in parts", async (t) => {
  const paths: string[] = [];
  const { url, context } = await site(t, (request, response) => {
    paths.push(request.url ?? "");
    response.setHeader("content-type", "text/html; charset=utf-8").setHeader("content-encoding", "gzip");
    response.end(gzipSync(`<title>Guide</title><h1>Olá</h1><p>${"a".repeat(HAND_LIMITS.pageChars)}</p>`));
  });
  const first = await fetched(context, `${url}/a?b=c#part`);
  assert.match(first.text, /^Guide\n\n# Olá\n\na+\n\[characters 0 to 65536 of 65543; go on with offset 65536\]$/);
  assert.deepEqual(first.data, {
    url: `${url}/a?b=c`,
    status: 200,
    type: "text/html",
    title: "Guide",
    chars: 65_543,
    truncated: false,
  });
  assert.equal((await fetched(context, `${url}/a`, 65_536)).text, "aaaaaaa");
  assert.match(await refusal(context, `${url}/a#x`), /nothing was refused/);
  assert.deepEqual(paths, ["/a?b=c", "/a", "/a"]);
});

test("redirections within a host are followed, to another host they are told, and loops end", async (t) => {
  const { url, context } = await site(t, (request, response) => {
    const target = { "/away": "http://example.org/x", "/loop": "/loop", "/odd": "file:///etc/passwd" }[
      request.url ?? ""
    ];
    if (request.url === "/here") response.end("here");
    else response.writeHead(302, { location: target ?? "/here" }).end();
  });
  assert.equal((await fetched(context, `${url}/start`)).text, "here");
  assert.match(
    (await fetched(context, `${url}/away`)).text,
    /redirects to another host; fetch http:\/\/example\.org\/x/,
  );
  assert.match(await refusal(context, `${url}/loop`), /TOOL_FAILED .*redirects more than 5 times/);
  assert.match(await refusal(context, `${url}/odd`), /TOOL_FAILED .*no address of a page/);
});

test("what is not text, too long, broken off or an error is told as such", async (t) => {
  const { url, context } = await site(t, (request, response) => {
    if (request.url === "/png") response.setHeader("content-type", "image/png").end("x");
    else if (request.url === "/404") response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    else if (request.url === "/bomb")
      response
        .writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" })
        .end(gzipSync(Buffer.alloc(HAND_LIMITS.pageBytes * 8, "a")));
    else if (request.url === "/odd") response.setHeader("content-encoding", "odd").end("x");
    else response.writeHead(200, { "content-length": "100" }).write("x", () => response.destroy());
  });
  assert.match(await refusal(context, `${url}/png`), /TOOL_FAILED .* is image\/png, not text/);
  assert.match((await fetched(context, `${url}/404`)).text, /^no such page\n\[the server answered with status 404\]$/);
  const bomb = await fetched(context, `${url}/bomb`);
  assert.match(bomb.text, /only the first 4194304 bytes of the page were read\]$/);
  assert.match(await refusal(context, `${url}/odd`), /TOOL_FAILED .*unknown coding odd/);
  assert.match(await refusal(context, `${url}/cut`), /TOOL_FAILED .*cannot be fetched: aborted/);
  assert.match(await refusal(context, "http://127.0.0.1:1/"), /TOOL_FAILED .*cannot be fetched: .*ECONNREFUSED/);
});

test("an address that is not public is refused in every form, also behind a name and a redirection", async (t) => {
  let asked = 0;
  const { url, context: open } = await site(t, (_request, response) => {
    asked += 1;
    response.end("secret");
  });
  const context = { ...open, privateHosts: () => [] };
  const { port } = new URL(url);
  for (const host of [
    "127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 0 localhost [::1] [::] [::ffff:127.0.0.1]",
    "[::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] 169.254.169.254 [fe80::1] ①②⑦.⓪.⓪.① 127。0。0。1",
  ].flatMap((line) => line.split(" ")))
    assert.match(await refusal(context, `http://${host}:${port}/`), /TOOL_FAILED .*(?:is not public|ENOTFOUND)/, host);
  assert.equal(asked, 0);
  assert.equal((await fetched(open, `http://localhost:${port}/`)).text, "secret");
});

test("a name is resolved once, and refused when one of its addresses is not public", async (t) => {
  const { url } = await site(t, (_request, response) => response.end("page"));
  const named = `http://pages.example:${new URL(url).port}/`;
  let resolved = 0;
  const resolveTo =
    (...addresses: readonly string[]) =>
    async () => {
      resolved += 1;
      return addresses.map((address) => ({ address, family: 4 }));
    };
  const { signal } = new AbortController();
  const mixed = { reach: "public", signal, resolveHost: resolveTo("8.8.8.8", "127.0.0.1") } as const;
  await assert.rejects(fetchPage(named, mixed), /pages\.example has the address 127\.0\.0\.1, which is not public/);
  const page = await fetchPage(named, { reach: "any", signal, resolveHost: resolveTo("127.0.0.1") });
  assert.deepEqual([page.body, resolved], ["page", 2]);
});

test("what is no address of a page is refused before anything is planned", async (t) => {
  const context = contextIn(scratch(t));
  for (const url of ["", "page", "ftp://example.org/", "file:///etc/passwd", "http://ana:key@example.org/", "http://"])
    assert.match(await refusal(context, url), /^BAD_ARGUMENTS web_fetch: /, url);
});

test("a long page is given in parts that join to the whole, with every character whole", async (t) => {
  const whole = `x${"😀".repeat(HAND_LIMITS.pageChars)}`;
  const { url, context } = await site(t, (_, response) => {
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(whole);
  });
  let joined = "";
  for (let parts = 0; joined.length < whole.length; parts += 1) {
    assert.ok(parts < 10);
    const { text } = await fetched(context, url, joined.length);
    const [part = ""] = text.split("\n[characters");
    assert.ok(part.isWellFormed());
    joined += part;
  }
  assert.equal(joined, whole);
});
