import assert from "node:assert/strict";
import { test } from "node:test";
import type { IncomingMessage } from "node:http";
import * as fc from "fast-check";
import { healer } from "./heal.ts";
import { refreshToken } from "./heal/token.ts";
import { sanitiser } from "./sanitise.ts";
import { stage, watch } from "./stage.fixture.ts";

const CONNECTIONS = [
  "postgres://admin:hunter2@db.internal:5432/app?sslmode=require",
  "postgresql://db.internal/app",
  "mongodb+srv://user:p%40ss@cluster0.example.net/test",
  "rediss://:s3cret@cache.internal:6380/0",
  "jdbc:postgresql://db.internal:5432/app?user=admin&password=hunter2",
  "jdbc:oracle:thin:scott/tiger@db.internal:1521:xe",
  "amqp://guest:guest@queue.internal:5672",
  "Server=db.internal;Database=app;User Id=sa;Password=hunter2;",
  "host=db.internal port=5432 dbname=app user=admin password=hunter2",
  "Data Source=db.internal;Initial Catalog=app;Integrated Security=true",
  "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=abc123==;EndpointSuffix=core.example.net",
];

test("001-24: whole connection strings are taken out, whatever their form", () => {
  const { clean } = sanitiser();
  for (const connection of CONNECTIONS) {
    const text = JSON.stringify(
      clean({ description: `Cannot reach ${connection}`, metadata: { [connection]: [connection] } }),
    );
    for (const part of ["internal", "hunter2", "s3cret", "tiger", "example.net", "abc123"]) {
      assert.ok(!text.includes(part), `${connection} → ${text}`);
    }
  }
});

test("001-24: keys, tokens and fields with telling names are taken out, and what has a JSON form of its own is seen through", () => {
  const { clean } = sanitiser(["known-secret-value"]);
  const key = ["sk", "live", "a1B2c3D4e5F6g7H8i9J0"].join("_");
  const shown = JSON.stringify(
    clean({
      description: `key ${key}`,
      metadata: {
        api_key: "abcdefgh",
        password: "letmein1",
        url: new URL("https://u:pw-pw-pw1@example.org/"),
        note: "known-secret-value",
      },
    }),
  );
  for (const secret of [key, "abcdefgh", "letmein1", "pw-pw-pw1", "known-secret-value"])
    assert.ok(!shown.includes(secret));
  assert.deepEqual(clean({ attempt: 1, provider: "Auth0", inputTokens: 12 }), {
    attempt: 1,
    provider: "Auth0",
    inputTokens: 12,
  });
});

test("001-24: a secret that becomes known on the way is hidden from then on, in every form", () => {
  const secret = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => text.trim().length >= 8);
  fc.assert(
    fc.property(secret, (value) => {
      const it = sanitiser();
      it.hide(value);
      const shown = JSON.stringify(it.clean({ description: `a ${value} b ${Buffer.from(value).toString("hex")}` }));
      assert.ok(!shown.includes(JSON.stringify(value).slice(1, -1)));
      assert.ok(!shown.includes(Buffer.from(value).toString("hex")));
    }),
  );
});

test("a request may not hide secrets without end", () => {
  const it = sanitiser();
  assert.throws(() => {
    for (let count = 0; ; count++) it.hide(`secret number ${count}`);
  }, RangeError);
});

test("001-24: neither the old token nor the new one leaves with the events of its healing", async () => {
  const [old, fresh] = ["plain-words-old-token", "plain-words-new-token"];
  const heuristics = [refreshToken({ current: () => old, refresh: async () => fresh })];
  await using server = await stage(
    async (aon, _request, response) => {
      const token = await aon.heal({
        name: "read",
        run({ token: given }) {
          if (given === undefined) throw Object.assign(new Error(`Token ${old} is expired.`), { status: 401 });
          return given;
        },
      });
      await aon.status(`Now with ${token} instead of ${old} at ${CONNECTIONS[0]}.`);
      response.json?.({ ok: true });
    },
    { healer: healer({ heuristics }) },
  );
  const text = JSON.stringify(await watch(server.url));
  assert.ok(text.includes("refresh_token"));
  for (const secret of [old, fresh, "db.internal"]) assert.ok(!text.includes(secret), text);
});

test("001-24: an error is sanitised as well, and a result is what the black box would send", async () => {
  await using server = await stage(async (aon, request, response) => {
    await aon.status("working");
    if (request.url === "/fail") throw new Error(`Cannot reach ${CONNECTIONS[0]}`);
    response.json?.({ token: "the-token-that-was-asked-for" });
  });
  const failed = (await watch(`${server.url}fail`)).at(-1);
  assert.ok(failed?.type === "error");
  assert.equal(failed.message, "Cannot reach [redacted]");
  const made = (await watch(server.url)).at(-1);
  assert.deepEqual(made?.type === "result" && made.data, { token: "the-token-that-was-asked-for" });
});

test("001-25: in production only administrators see more of an analysis than its decision", async () => {
  const isAdmin = (request: IncomingMessage): boolean => request.headers["x-role"] === "admin";
  for (const production of [true, false]) {
    await using server = await stage(
      async (aon, _request, response) => {
        const metadata = { rule: 7 };
        await aon.intent({
          original_intent: "create_user",
          detected_issue: "invalid_schema",
          decision: "map",
          metadata,
        });
        response.json?.(1);
      },
      { production, isAdmin },
    );
    const [, everybody] = await watch(server.url);
    const [, administrator] = await watch(server.url, { "X-Role": "admin" });
    const fields = ["type", "timestamp", "requestId"];
    const all = [...fields, "original_intent", "detected_issue", "decision", "metadata"];
    assert.deepEqual(Object.keys(everybody ?? {}), production ? [...fields, "decision"] : all);
    assert.deepEqual(Object.keys(administrator ?? {}), all);
  }
});

test("001-25: in production a stranger's message of a server fault is kept in, and a predicate that throws is a no", async () => {
  const isAdmin = (): boolean => {
    throw new Error("no session");
  };
  await using server = await stage(
    async (aon) => {
      await aon.intent({ original_intent: "a", detected_issue: "b", decision: "c" });
      throw new Error("undefined is not a function at /srv/app/users.js");
    },
    { production: true, isAdmin },
  );
  const [, intent, failed] = await watch(server.url);
  assert.ok(intent?.type === "intent_analysis" && intent.detected_issue === undefined);
  assert.ok(failed?.type === "error" && failed.code === "INTERNAL_ERROR" && !failed.message.includes("users.js"));
});
