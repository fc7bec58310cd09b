import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import type { Aon } from "./aon.ts";
import type { HeldEvents } from "./black-box.ts";
import { aonFetch } from "./fetch.ts";
import type { AonFetch } from "./fetch.ts";
import { BOX_LIMITS } from "./limits.ts";
import { readAon } from "./read.ts";
import { eventsIn, typesOf } from "./stage.fixture.ts";

const USER = { id: "usr_123", words: "é 😀" };
const GLASS = { headers: { Accept: "application/x-ndjson" } };
const ask = (path: string, init: RequestInit = GLASS): Request => new Request(`http://here${path}`, init);

function hono(): AonFetch {
  const app = new Hono<{ Bindings: { aon: Aon } }>();
  app.get("/sync", (context) => context.json(USER));
  app.get("/async", async (context) => {
    await context.env.aon.status("working", 5);
    return context.json(USER, 201);
  });
  app.get("/throws", async (context) => {
    await context.env.aon.status("working");
    throw new Error("boom");
  });
  app.onError((_error, context) => context.json({ code: "INTERNAL_ERROR", message: "It failed." }, 500));
  app.get("/refuses", (context) => context.json({ code: "FORBIDDEN", message: "Not yours." }, 403));
  app.get("/fails", async (context) => {
    await context.env.aon.status("working");
    return context.json({ code: "TAKEN", message: "That name is taken." }, 409);
  });
  app.get("/asked", (context) => {
    context.env.aon.refuse({ status: 422, code: "UNHEALABLE", message: "No name." });
    return new Promise<Response>(() => undefined);
  });
  return (request, aon) => app.fetch(request, { aon });
}

test("001-04, 001-06, 001-17, 001-20, 001-30: a Hono app answers in glass and in black, with the same data", async () => {
  const serve = aonFetch(hono());
  for (const path of ["/sync", "/async"]) {
    const glass = await serve(ask(path));
    assert.deepEqual([glass.status, glass.headers.get("content-type")], [200, "application/x-ndjson"]);
    assert.deepEqual(
      [glass.headers.get("vary"), glass.headers.get("cache-control")],
      ["Accept", "no-cache, no-transform"],
    );
    const events = eventsIn(await glass.text());
    const last = events.at(-1);
    assert.equal(events[0]?.type, "status");
    assert.deepEqual(last?.type === "result" && last.data, USER);
    const black = await serve(ask(path, {}));
    assert.equal(await black.text(), JSON.stringify(USER));
    assert.equal(black.headers.get("x-aon-report"), `count=${path === "/async" ? 1 : 0};healed=`);
    assert.equal(black.headers.get("vary"), "Accept");
  }
});

test("001-05, 001-08, 001-09: the response is there before the work is done, with heartbeats in silence", async () => {
  const work = Promise.withResolvers<Response>();
  const serve = aonFetch(() => work.promise, { heartbeatMs: 15 });
  const events = readAon(await serve(ask("/")));
  for (let count = 0; count < 3; count++) assert.equal((await events.next()).value?.type, "status");
  work.resolve(Response.json(1));
  assert.equal((await Array.fromAsync(events)).at(-1)?.type, "result");
});

test("001-10, 001-18: failures of a route become one error event", async () => {
  const serve = aonFetch(hono());
  for (const [path, code] of [
    ["/fails", "TAKEN"],
    ["/throws", "INTERNAL_ERROR"],
  ] as const) {
    const last = eventsIn(await (await serve(ask(path))).text()).at(-1);
    assert.ok(last?.type === "error" && last.code === code, path);
  }
  const broken = aonFetch(() => Promise.reject(Object.assign(new Error("Gone."), { code: "LOST", status: 503 })));
  const events = eventsIn(await (await broken(ask("/"))).text());
  assert.deepEqual(typesOf(events), ["status", "error"]);
  const black = await broken(ask("/", {}));
  assert.equal(black.status, 503);
  assert.equal(((await black.json()) as { code: string }).code, "LOST");
});

test("refusals of a fetch-style route are plain responses", async () => {
  const serve = aonFetch(hono(), {
    refuse: (request) => (request.headers.has("x-nobody") ? { status: 401 } : undefined),
  });
  const answers = [
    [ask("/sync", { headers: { ...GLASS.headers, "X-Nobody": "1" } }), 401],
    [ask("/refuses"), 403],
    [ask("/nowhere"), 404],
    [ask("/asked"), 422],
    [ask("/sync", { headers: { Accept: "image/png" } }), 406],
  ] as const;
  for (const [request, status] of answers) {
    const response = await serve(request);
    assert.equal(response.status, status);
    assert.match(response.headers.get("vary") ?? "", /Accept/);
  }
});

test("001-03, 001-32: a fetch-style black box has its timeout and its bound of held events", async () => {
  const late = await aonFetch(() => new Promise(() => undefined), { timeoutMs: 20 })(ask("/", {}));
  assert.equal(late.status, 504);
  let held: HeldEvents | undefined;
  const serve = aonFetch(
    async (_request, aon) => {
      for (let count = 0; count < 5; count++) await aon.status("s");
      return Response.json(1);
    },
    { maxTelemetryEvents: 3, onHeld: (some) => (held = some) },
  );
  assert.equal((await serve(ask("/", {}))).headers.get("x-aon-report"), "count=5;healed=;dropped=2");
  assert.equal(held?.events.length, 4);
});

test("a predicate that throws refuses the request, and a log that throws breaks nothing else", async () => {
  const broken = (): never => {
    throw new Error("broken");
  };
  const judged = await aonFetch(hono(), { refuse: broken })(ask("/sync"));
  assert.equal(judged.status, 500);
  const logged = await aonFetch(hono(), { onHeld: broken })(ask("/sync", {}));
  assert.equal(logged.status, 200);
});

test("a reader of the stream that keeps no pace makes the route wait, and one that cancels stops it", async () => {
  let sent = 0;
  const stopped = Promise.withResolvers<void>();
  const serve = aonFetch(async (_request, aon) => {
    const words = "w".repeat(16 * 1024);
    while (!aon.signal.aborted) {
      await aon.status(words);
      sent++;
    }
    stopped.resolve();
    return Response.json(1);
  });
  const response = await serve(ask("/"));
  const reader = response.body!.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(sent * 16 * 1024 < BOX_LIMITS.unsentBytes);
  await reader.cancel();
  await stopped.promise;
});
