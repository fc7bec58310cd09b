import assert from "node:assert/strict";
import { test } from "node:test";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { aonFastify } from "./fastify.ts";
import { aonOf } from "./node-exchange.ts";
import type { AonOptions } from "./settings.ts";
import { raw, typesOf, unchunked, eventsIn, watch } from "./stage.fixture.ts";

/** A Fastify app on a port of its own. */
async function app(options: AonOptions<FastifyRequest>, addRoutes: (instance: FastifyInstance) => void) {
  const instance = fastify({ bodyLimit: 100 });
  await instance.register(aonFastify<FastifyRequest, FastifyReply>(options));
  addRoutes(instance);
  const url = `${await instance.listen({ port: 0, host: "127.0.0.1" })}/`;
  return {
    url,
    port: Number(new URL(url).port),
    async [Symbol.asyncDispose]() {
      await instance.close();
    },
  };
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const USER = { id: "usr_123", name: "Ana" };

function routes(instance: FastifyInstance): void {
  instance.get("/sync", (_request, reply) => void reply.send(USER));
  instance.get("/async", async (request) => {
    await aonOf(request).status("working", 5);
    return USER;
  });
  instance.get("/throws", async (request) => {
    await aonOf(request).status("working");
    throw Object.assign(new Error("All connection retries exhausted."), { code: "DB_UNREACHABLE", statusCode: 503 });
  });
  instance.get(
    "/refuses",
    (_request, reply) => void reply.code(403).send({ code: "FORBIDDEN", message: "Not yours." }),
  );
  const schema = { body: { type: "object", required: ["name"], properties: { name: { type: "string" } } } };
  instance.post("/valid", { schema }, async (request) => request.body);
}

test("001-04, 001-17, 001-20, 001-30: a Fastify route answers in glass and in black, with the same data", async () => {
  await using server = await app({}, routes);
  for (const path of ["sync", "async"]) {
    const events = await watch(server.url + path);
    const last = events.at(-1);
    assert.equal(events[0]?.type, "status");
    assert.deepEqual(last?.type === "result" && last.data, USER);
    const black = await fetch(server.url + path);
    assert.equal(await black.text(), JSON.stringify(USER));
    assert.equal(black.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(black.headers.get("vary"), "Accept");
    assert.equal(black.headers.get("x-aon-report"), `count=${path === "async" ? 1 : 0};healed=`);
  }
});

test("001-07, 001-11: a Fastify glass box is chunked and closes its connection", async () => {
  await using server = await app({}, routes);
  const answer = await raw(server.port, ["GET /async HTTP/1.1", "Host: here", "Accept: application/x-ndjson"]);
  assert.match(answer.head, /^transfer-encoding: chunked\r?$/im);
  assert.deepEqual(typesOf(eventsIn(unchunked(answer.wire))), ["status", "status", "result"]);
});

test("001-18: what a Fastify route throws becomes the error, with Fastify's own words", async () => {
  await using server = await app({}, routes);
  const events = await watch(`${server.url}throws`);
  const last = events.at(-1);
  assert.ok(last?.type === "error");
  assert.deepEqual(
    [last.code, last.message, last.status],
    ["DB_UNREACHABLE", "All connection retries exhausted.", 503],
  );
  assert.equal((await fetch(`${server.url}throws`)).status, 503);
});

test("refusals of a Fastify app are plain HTTP errors", async () => {
  const refuse = (request: FastifyRequest) => (request.headers["x-nobody"] ? { status: 401 } : undefined);
  await using server = await app({ refuse }, routes);
  const ask = (path: string, { headers, ...more }: Asked = {}): Promise<Response> =>
    fetch(server.url + path, { ...more, headers: { Accept: "application/x-ndjson", ...headers } });
  const json = { "Content-Type": "application/json" };
  const answers = [
    [await ask("sync", { headers: { "X-Nobody": "1" } }), 401],
    [await ask("refuses"), 403],
    [await ask("nowhere"), 404],
    [await ask("valid", { method: "POST", headers: json, body: "{}" }), 400],
    [await ask("valid", { method: "POST", headers: json, body: `"${"x".repeat(200)}"` }), 413],
    [await ask("sync", { headers: { Accept: "image/png" } }), 406],
  ] as const;
  for (const [answer, status] of answers) {
    assert.equal(answer.status, status);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
    await answer.text();
  }
  const posted = await ask("valid", { method: "POST", headers: json, body: '{"name":"Ana"}' });
  assert.deepEqual(typesOf(eventsIn(await posted.text())), ["status", "result"]);
});
