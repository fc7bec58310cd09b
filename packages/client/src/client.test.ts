import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Vidro } from "./client.ts";
import { VidroError } from "./vidro-error.ts";
import { answer, begin, cut, cursorOf, JOURNAL, line, linesAfter, scriptedBrain } from "./scripted-brain.fixture.ts";
import type { Script } from "./scripted-brain.fixture.ts";

const QUICK = { retries: 3, backoffMs: 1 };
const HEAD = {
  id: "run_1",
  owner: "me",
  thread: "thread_1",
  task: "count",
  status: "running",
  seq: 1,
  startedAt: 1,
  updatedAt: 2,
} as const;

/** A brain with one run, whose events are those of the fixture. */
const oneRun: Script = (response, request) => {
  if (request.url.pathname.endsWith("/events")) begin(response).end(linesAfter(cursorOf(request)).join(""));
  else answer(response, request.method === "POST" ? 201 : 200, HEAD);
};

test("a task becomes a run, whose events are one union, and whose result is awaited", async () => {
  await using brain = await scriptedBrain(oneRun);
  const vidro = new Vidro({ url: brain.url, token: "id.secret", ...QUICK });
  const run = await vidro.run("count", { agent: "bunny", tools: ["Shell"], budget: { steps: 3 } });
  const told: string[] = [];
  for await (const event of run) {
    if (event.type === "model.delta") told.push(`${event.after}: ${event.text}`);
    else if (event.type === "run.finished") told.push(`${event.seq}: ${JSON.stringify(event.result)}`);
  }
  assert.deepEqual(told, ["4: fünf", '5: "fünf"']);
  assert.equal(await run.result(), "fünf");
  const [start, events, ...more] = brain.seen;
  assert.deepEqual(more, [], "what was seen is not asked for again");
  assert.equal(start?.headers.authorization, "Bearer id.secret");
  assert.equal(events?.headers.authorization, "Bearer id.secret");
  assert.deepEqual(JSON.parse(start?.body ?? ""), {
    task: "count",
    agent: "bunny",
    tools: ["Shell"],
    budget: { steps: 3 },
  });
});

test("a result that was not watched is waited for", async () => {
  await using brain = await scriptedBrain(oneRun);
  assert.equal(await (await new Vidro({ url: brain.url }).run("count")).result(), "fünf");
});

test("a run that fails or is stopped has an error for a result", async () => {
  const ends = [
    { type: "run.failed", fault: { code: "STEP_LIMIT", message: "Too many steps." } },
    { type: "run.aborted", reason: "Ctrl-C" },
  ];
  await using brain = await scriptedBrain((response, _request, n) =>
    begin(response).end(line({ seq: 1, at: 1, event: ends[n - 1] })),
  );
  const vidro = new Vidro({ url: brain.url });
  await assert.rejects(vidro.attach("run_1").result(), { code: "STEP_LIMIT", message: "Too many steps." });
  await assert.rejects(vidro.attach("run_1").result(), { code: "ABORTED", message: "Ctrl-C" });
});

test("every POST has a key of its own, which stays the same however often it has to be sent", async () => {
  await using brain = await scriptedBrain((response, request, n) => {
    if (n === 1) response.destroy();
    else if (n === 2) response.writeHead(201, { "content-length": 900 }).write('{"id":', () => response.destroy());
    else if (n === 3) response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    else oneRun(response, request, n);
  });
  const vidro = new Vidro({ url: brain.url, ...QUICK });
  await vidro.run("count");
  await vidro.attach("run_1").answer({ text: "yes", question: "q1" });
  await vidro.attach("run_1").answer("no");
  await vidro.attach("run_1").abort("enough");
  const keys = brain.seen.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(new Set(keys.slice(0, 4)).size, 1);
  assert.equal(new Set(keys).size, 4);
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  assert.deepEqual(
    brain.seen.slice(4).map(({ url, body }) => [url.pathname, JSON.parse(body)]),
    [
      ["/v1/runs/run_1/answers", { answer: "yes", question: "q1" }],
      ["/v1/runs/run_1/answers", { answer: "no" }],
      ["/v1/runs/run_1/abort", { reason: "enough" }],
    ],
  );
});

test("a key of the caller's own says whether its run was there before", async () => {
  await using brain = await scriptedBrain((response, _request, n) => {
    if (n === 1) answer(response, 201, HEAD);
    else if (n === 2) answer(response, 201, HEAD, { "idempotency-replayed": "true" });
    else answer(response, 200, HEAD);
  });
  const vidro = new Vidro({ url: brain.url });
  const existed = [];
  for (let n = 0; n < 3; n++) existed.push((await vidro.start("count", { key: "mine" })).existed);
  assert.deepEqual(existed, [false, true, true]);
  assert.deepEqual(new Set(brain.seen.map(({ headers }) => headers["idempotency-key"])), new Set(["mine"]));
});

test("what the brain refuses is refused at once, in its own words, whichever surface speaks", async () => {
  const bodies = [
    { ok: false, error: "There is no run x.", code: "NOT_FOUND" },
    { error: { message: "There is no run x.", type: "invalid_request_error", param: null, code: "NOT_FOUND" } },
    { code: "NOT_FOUND", message: "There is no run x.", trace_id: "1" },
  ];
  await using brain = await scriptedBrain((response, _request, n) => answer(response, 404, bodies[n - 1] ?? null));
  const vidro = new Vidro({ url: brain.url, ...QUICK });
  for (const _ of bodies) {
    const refused = vidro.attach("x").head();
    await assert.rejects(refused, new VidroError("NOT_FOUND", "There is no run x.", { status: 404 }));
  }
  assert.equal(brain.seen.length, bodies.length);
});

test("a brain that asks to wait is obeyed, and one that is shutting down is tried again", async () => {
  await using brain = await scriptedBrain((response, request, n) => {
    if (n === 1) answer(response, 429, { ok: false, error: "Slower.", code: "RATE_LIMITED" }, { "retry-after": "0" });
    else if (n === 2) answer(response, 503, { ok: false, error: "Bye.", code: "SHUTTING_DOWN" });
    else if (n === 3) answer(response, 503, { ok: false, error: "No model.", code: "MODEL_UNAVAILABLE" });
    else oneRun(response, request, n);
  });
  const vidro = new Vidro({ url: brain.url, ...QUICK, backoffMs: 1 });
  await assert.rejects(vidro.run("count"), { code: "MODEL_UNAVAILABLE", status: 503 });
  assert.equal(brain.seen.length, 3);
});

test("what answers and is no brain is told so, and a token goes nowhere but to the brain", async () => {
  await using elsewhere = await scriptedBrain((response) => answer(response, 200, HEAD));
  await using brain = await scriptedBrain((response, _request, n) => {
    if (n === 1) response.writeHead(307, { location: `${elsewhere.url}/v1/runs` }).end();
    else if (n === 2) response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>");
    else answer(response, 200, { hello: "world" });
  });
  const vidro = new Vidro({ url: brain.url, token: "id.secret", ...QUICK });
  for (let n = 0; n < 3; n++) await assert.rejects(vidro.run("count"), { code: "BAD_ANSWER" });
  assert.equal(elsewhere.seen.length, 0);
  assert.equal(brain.seen.length, 3);
});

test("a brain may live below a path, and an address that is none is refused", async () => {
  await using brain = await scriptedBrain(oneRun);
  await new Vidro({ url: `${brain.url}/vidro` }).attach("a/b?c").head();
  assert.equal(brain.seen[0]?.url.pathname, "/vidro/v1/runs/a%2Fb%3Fc");
  for (const url of ["", "brain:3120", "ftp://brain", "http://me:secret@brain"]) {
    assert.throws(() => new Vidro({ url }), { code: "BAD_REQUEST" });
  }
});

test("a signal that has fired, or fires while the brain is silent, stops the asking", async () => {
  await using brain = await scriptedBrain(() => undefined);
  const vidro = new Vidro({ url: brain.url, ...QUICK });
  await assert.rejects(vidro.list({ signal: AbortSignal.abort(new Error("late")) }), { message: "late" });
  const controller = new AbortController();
  const asking = vidro.run("count", { signal: controller.signal });
  await once(AbortSignal.timeout(20), "abort");
  controller.abort(new Error("enough"));
  await assert.rejects(asking, { message: "enough" });
});

test("a run that is cut while its result is awaited still has one", async () => {
  await using brain = await scriptedBrain((response, request, n) => {
    if (n === 1) cut(response, line(JOURNAL[0]));
    else oneRun(response, request, n);
  });
  assert.equal(await new Vidro({ url: brain.url, ...QUICK }).attach("run_1").result(), "fünf");
});
