import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { lines, Stage } from "../stage.fixture.ts";

const RUN = "run_0001-aaaa1234";
const HEAD = {
  id: RUN,
  owner: "me",
  thread: "thread_1",
  task: "look around",
  status: "dreaming",
  seq: 3,
  startedAt: 1,
  updatedAt: 2,
};
const HAND = {
  id: "hand_1",
  name: "web-1",
  owner: "me",
  state: "asleep",
  barred: null,
  why: null,
  gateway: "pigeon",
  version: "9",
  workspace: "/",
  tags: [],
  tools: [],
  last_seen_at: "2030-01-01T00:00:00Z",
  created_at: "2030-01-01T00:00:00Z",
  telemetry: null,
};
const ENTRIES = [
  { seq: 1, at: 1, event: { type: "run.dreamt", of: "sheep" } },
  { seq: 2, at: 2, event: { type: "note.observed", note: "half asleep" } },
  { seq: 3, at: 3, event: { type: "run.failed", fault: { code: "DREAM_LOST", message: "It woke up." } } },
];

/** A brain whose words this version does not know. */
async function newerBrain(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://brain");
    const json = (value: object): unknown =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname === "/v1/runs") return json({ runs: [HEAD] });
    if (pathname === "/v1/hands") return json({ hands: [HAND] });
    if (pathname.endsWith("/events"))
      return response
        .writeHead(200, { "content-type": "application/x-ndjson" })
        .end(ENTRIES.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    return json(pathname.startsWith("/v1/runs/") ? HEAD : {});
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("the status of a run and the state of a hand that only a newer brain knows are listed as they are", async () => {
  await using brain = await newerBrain();
  await using stage = await Stage.set({ VIDRO_URL: brain.url });
  const runs = await stage.run("runs", "list");
  assert.equal(runs.code, 0, runs.stderr);
  assert.match(runs.stdout, /aaaa1234 +dreaming .* look around/);
  const hands = await stage.run("hands", "list");
  assert.equal(hands.code, 0, hands.stderr);
  assert.match(hands.stdout, /^web-1 +asleep +pigeon/m);
});

test("events and faults that only a newer brain knows are shown by their names", async () => {
  await using brain = await newerBrain();
  await using stage = await Stage.set({ VIDRO_URL: brain.url, VIDRO_RETRIES: "0" });
  const shown = await stage.run("runs", "show", "--json", RUN);
  assert.equal(shown.code, 0, shown.stderr);
  const [first] = lines(shown.stdout);
  assert.deepEqual([first?.["type"], first?.["event"], first?.body], ["status", "run.dreamt", { of: "sheep" }]);
  const attached = await stage.run("attach", RUN);
  assert.equal(attached.code, 1, attached.stderr);
  assert.match(attached.stderr, /The brain reports DREAM_LOST\.\n {2}why: It woke up\./);
  const terminal = stage.terminal("runs", "show", RUN);
  await terminal.sees("run.dreamt");
  assert.equal(await terminal.ends(), 0);
});
