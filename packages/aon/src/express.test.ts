import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import express from "express";
import type { Application, Handle } from "express";
import { aon, aonErrors } from "./express.ts";
import { aonOf } from "./node-exchange.ts";
import { eventsIn, listen, stage, typesOf, watch } from "./stage.fixture.ts";

const USER = { id: "usr_123", at: new Date(0), hidden: undefined, price: 1.5 };

const ROUTES: Readonly<Record<string, Handle>> = {
  "/json": (_request, response) => response.json(USER),
  "/later": async (request, response) => {
    await aonOf(request).status("working");
    response.status(201).json(USER);
  },
  "/send": (_request, response) => response.send(USER),
  "/text": async (request, response) => {
    await aonOf(request).status("working");
    response.type("text/plain").send("plain words");
  },
  "/pieces": async (request, response) => {
    await aonOf(request).status("working");
    response.type("application/json").write('{"in":');
    response.end('"pieces"}');
  },
  "/page": async (request, response) => {
    await aonOf(request).status("working");
    response.send("<h1>page</h1>");
    response.json({ second: true });
  },
  "/image": async (request, response) => {
    await aonOf(request).status("working");
    response.type("image/png").end("png");
  },
  "/throws": () => {
    throw Object.assign(new Error("All connection retries exhausted."), { code: "DB_UNREACHABLE" });
  },
  "/rejects": async (request) => {
    await aonOf(request).status("working");
    throw Object.assign(new Error("All connection retries exhausted."), { code: "DB_UNREACHABLE" });
  },
  "/next": async (request, _response, next) => {
    await aonOf(request).status("working");
    next(Object.assign(new Error("Not yours."), { status: 403 }));
  },
  "/refuses": (_request, response) => response.status(403).json({ code: "FORBIDDEN", message: "Not yours." }),
  "/moved": (_request, response) => response.redirect("/json"),
  "/asked": (request) => aonOf(request).refuse({ status: 422, code: "UNHEALABLE", message: "No name." }),
  "/asked-late": async (request) => {
    await aonOf(request).status("working");
    aonOf(request).refuse({ status: 422, code: "UNHEALABLE", message: "No name." });
  },
};

function app(hasErrors: boolean): Application {
  const it = express();
  it.disable("x-powered-by");
  it.set("env", "test");
  it.use(express.json({ limit: 100 }));
  it.use(
    aon({ refuse: (request) => (request.headers["x-nobody"] ? { status: 401, code: "UNAUTHORIZED" } : undefined) }),
  );
  for (const [path, handle] of Object.entries(ROUTES)) it.all(path, handle);
  if (hasErrors) it.use(aonErrors());
  return it;
}

test("001-17, 001-19, 001-20, 001-30: on any Express route the answer becomes the result, whichever way it is given", async () => {
  await using server = await listen(createServer(app(true)));
  const wanted: Readonly<Record<string, unknown>> = {
    json: JSON.parse(JSON.stringify(USER)),
    later: JSON.parse(JSON.stringify(USER)),
    send: JSON.parse(JSON.stringify(USER)),
    text: "plain words",
    pieces: { in: "pieces" },
    page: "<h1>page</h1>",
  };
  for (const [path, data] of Object.entries(wanted)) {
    const events = await watch(server.url + path);
    assert.equal(events[0]?.type, "status");
    const last = events.at(-1);
    assert.deepEqual(last?.type === "result" && last.data, data, path);
    assert.equal(typesOf(events).filter((type) => type === "result" || type === "error").length, 1);
  }
});

test("001-02, 001-17: the black box of an Express route is what Express itself would send", async () => {
  const plain = express();
  plain.disable("x-powered-by");
  plain.get("/json", (_request, response) => void response.json(USER));
  await using without = await listen(createServer(plain));
  await using under = await listen(createServer(app(true)));
  const [expected, got] = await Promise.all([fetch(`${without.url}json`), fetch(`${under.url}json`)]);
  assert.equal(await got.text(), await expected.text());
  for (const name of ["content-type", "content-length", "etag"]) {
    assert.equal(got.headers.get(name), expected.headers.get(name));
  }
  assert.equal(got.headers.get("x-aon-report"), "count=0;healed=");
});

test("001-18: thrown errors, rejections and next(error) become one error event", async () => {
  await using server = await listen(createServer(app(true)));
  for (const [path, code] of [
    ["throws", "DB_UNREACHABLE"],
    ["rejects", "DB_UNREACHABLE"],
    ["next", "FORBIDDEN"],
  ]) {
    const last = (await watch(server.url + path)).at(-1);
    assert.ok(last?.type === "error");
    assert.equal(last.code, code);
  }
});

test("001-10, 001-18: without the error middleware Express's own answer becomes the error, and no page leaks into it", async () => {
  await using server = await listen(createServer(app(false)));
  for (const path of ["throws", "rejects"]) {
    const events = await watch(server.url + path);
    const last = events.at(-1);
    assert.ok(last?.type === "error" && last.code === "INTERNAL_ERROR");
    assert.ok(!JSON.stringify(events).includes("<html"));
  }
});

test("refusals before the work begins are plain HTTP errors, also for a client that wants to watch", async () => {
  await using server = await listen(createServer(app(true)));
  const headers = { Accept: "application/x-ndjson" };
  const refusals = [
    [fetch(`${server.url}json`, { headers: { ...headers, "X-Nobody": "1" } }), 401],
    [fetch(`${server.url}refuses`, { headers }), 403],
    [fetch(`${server.url}nowhere`, { headers }), 404],
    [fetch(`${server.url}asked`, { headers }), 422],
    [
      fetch(`${server.url}json`, {
        headers: { ...headers, "Content-Type": "application/json" },
        method: "POST",
        body: `"${"x".repeat(200)}"`,
      }),
      413,
    ],
    [fetch(`${server.url}moved`, { headers, redirect: "manual" }), 302],
  ] as const;
  for (const [answer, status] of refusals) {
    const response = await answer;
    assert.equal(response.status, status);
    assert.notEqual(response.headers.get("content-type"), "application/x-ndjson");
    if (status !== 413) assert.match(response.headers.get("vary") ?? "", /Accept/);
    await response.text();
  }
  const late = (await watch(`${server.url}asked-late`)).at(-1);
  assert.ok(late?.type === "error" && late.code === "UNHEALABLE");
});

test("what a plain route throws or writes in its first moment as a refusal keeps its status and its type", async () => {
  await using server = await stage((_aon, request, response) => {
    if (request.url === "/throws") throw Object.assign(new Error("No such user."), { status: 404 });
    response.setHeader("Content-Type", "application/problem+json");
    response.statusCode = 409;
    response.end('{"title":"Taken"}');
  });
  const headers = { Accept: "application/x-ndjson" };
  const thrown = await fetch(`${server.url}throws`, { headers });
  assert.equal(thrown.status, 404);
  const { code, message } = (await thrown.json()) as Record<string, unknown>;
  assert.deepEqual([code, message], ["NOT_FOUND", "No such user."]);
  const written = await fetch(server.url, { headers });
  assert.deepEqual([written.status, written.headers.get("content-type")], [409, "application/problem+json"]);
  assert.equal(await written.text(), '{"title":"Taken"}');
});

test("001-19: AON before the app and again before a route is one box", async () => {
  const it = express();
  const observe = aon();
  it.use(observe);
  it.get("/", (request, response, next) => void aon()(request, response, next));
  it.get("/", (_request, response) => response.json(USER));
  await using server = await listen(createServer(it));
  assert.deepEqual(typesOf(await watch(server.url)), ["status", "result"]);
  assert.equal(await (await fetch(server.url)).text(), JSON.stringify(USER));
});

test("an answer that is neither JSON nor text is an error that says how to get it", async () => {
  await using server = await listen(createServer(app(true)));
  const last = (await watch(`${server.url}image`)).at(-1);
  assert.ok(last?.type === "error" && last.code === "NOT_JSON");
  assert.equal(await (await fetch(`${server.url}image`)).text(), "png");
});

test("001-26: Vary keeps what the route adds, in both boxes", async () => {
  await using server = await stage((_aon, _request, response) => {
    response.setHeader("Vary", "Origin");
    response.json?.(1);
  });
  for (const accept of ["application/json", "application/x-ndjson"]) {
    const response = await fetch(server.url, { headers: { Accept: accept } });
    assert.equal(response.headers.get("vary"), "Origin, Accept");
    await response.text();
  }
});

test("001-27, 001-30: headers given to writeHead in any form, and HEAD, work as without AON", async () => {
  await using server = await stage((_aon, request, response) => {
    if (request.url === "/flat")
      response.writeHead(200, ["Content-Type", "text/plain", "Set-Cookie", "a=1", "Set-Cookie", "b=2"]);
    else response.writeHead(200, "Fine", { "Content-Type": "text/plain" });
    response.end("words");
  });
  const flat = await fetch(`${server.url}flat`);
  assert.deepEqual(flat.headers.getSetCookie(), ["a=1", "b=2"]);
  const fine = await fetch(server.url);
  assert.deepEqual([fine.statusText, await fine.text()], ["Fine", "words"]);
  const head = await fetch(server.url, { method: "HEAD", headers: { Accept: "application/x-ndjson" } });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  const glass = await fetch(server.url, { headers: { Accept: "application/x-ndjson" } });
  assert.deepEqual(typesOf(eventsIn(await glass.text())), ["status", "result"]);
});

test("a request that did not come through AON is told so", () => {
  assert.throws(() => aonOf({}), /did not come through AON/);
});
