import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, watch } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SIGNED_HTTP_LIMITS, textIn } from "@vidro/core";
import type { HandEvent, JsonObject, Order } from "@vidro/core";
import type { AgentHttpOptions } from "../../packages/hands/src/links/agent-http.ts";
import { orderOf, sent, signedBytes, SignedBrain, signedHost, signerOf } from "../support/signed-http-harness.ts";
import type { JoinedSignedHost, SignedHost, SignedBrainOptions } from "../support/signed-http-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { alterStore } from "../support/store-under-test.ts";

/* Hands that come over signed HTTP, from the first hello to what they are told and tell. */

interface Stage {
  readonly folder: string;
  readonly brain: SignedBrain;
  readonly host: SignedHost;
  readonly joined: JoinedSignedHost;
}

async function stage(
  t: TestContext,
  options: SignedBrainOptions = {},
  more?: Partial<AgentHttpOptions>,
): Promise<Stage> {
  const folder = temporaryFolder(t);
  const brain = await SignedBrain.open(t, folder, options);
  const { keyid, root } = await brain.enrol("h1");
  const host = await signedHost(t, keyid, root);
  return { folder, brain, host, joined: await host.join(brain.url, more) };
}

async function performed(brain: SignedBrain, order: Order): Promise<HandEvent[]> {
  const remote = await brain.hands.at("h1");
  const events: HandEvent[] = [];
  for await (const event of remote.perform(order, new AbortController().signal)) events.push(event);
  return events;
}

function stateOf(brain: SignedBrain): string {
  return brain.hands.find("h1", { owner: "ana", admin: false }).state;
}

const mark = (): Order => orderOf("sh", ["-c", "echo ran >> marks; echo $$"]);
const marks = ({ workspace }: SignedHost): string => readFileSync(join(workspace, "marks"), "utf8");

test("000-41, 000-42, 000-45, 000-46: a hand says hello over signed HTTP, asks what is to be done, and tells how it went and ended", async (t) => {
  const { brain, host } = await stage(t);
  assert.equal(stateOf(brain), "ok");
  const events = await performed(brain, orderOf("sh", ["-c", "echo hello; echo ran >> marks"]));
  const ended = events.at(-1);
  assert.ok(ended?.type === "finished" && ended.outcome.kind === "process");
  assert.equal(ended.outcome.stdout.text, "hello\n");
  assert.deepEqual(events[0], { type: "output", stream: "stdout", chunk: "hello\n" });
  assert.equal(marks(host), "ran\n");
  const remote = await brain.hands.at("h1");
  const judged = await remote.judge(orderOf("true").action);
  assert.ok(!("code" in judged) && judged.verdict.rule === "test", "the hand's own policy judges");
});

test("000-47, 000-51: telemetry.push is answered with ok, and one that comes twice counts once, also after another hello", async (t) => {
  const staged = await stage(t, {}, { sample: () => ({ load: 1 }) });
  const { brain, host } = staged;
  let { joined } = staged;
  const { keyid, keys } = host.ring.current();
  const url = `${brain.url}/southbound/v1/messages`;
  const message = { method: "telemetry.push", action_id: "tel_1", payload: { load: 2 }, ts: "2026-01-01T00:00:00Z" };
  for (let times = 0; times < 2; times += 1) {
    const { bytes, asked } = signedBytes({ keyid, keys }, { url, message });
    assert.deepEqual(asked.verifyReply(await sent(brain.url, bytes)), { ok: true });
    joined.leave();
    await joined.ended;
    joined = await host.join(brain.url);
  }
  const told = brain.samples.map(({ payload }) => (payload as JsonObject)["load"]);
  assert.deepEqual(
    told.filter((load) => load === 2),
    [2],
  );
});

test("000-50, 000-67: a message without an action id, of no known method, or with a field too many is refused", async (t) => {
  const { brain, host } = await stage(t);
  const url = `${brain.url}/southbound/v1/messages`;
  const push = { method: "telemetry.push", payload: {} };
  const bad = [push, { ...push, action_id: "a", sudo: true }, { method: "format.disk", action_id: "a" }, {}];
  for (const message of bad) {
    const { bytes, asked } = signedBytes(host.ring.current(), { url, message });
    const reply = await sent(brain.url, bytes);
    assert.deepEqual([reply.status, asked.verifyReply(reply)["code"]], [400, "BAD_REQUEST"]);
  }
  const { bytes, asked } = signedBytes(host.ring.current(), { url, message: { messages: [push, 7] } });
  const { replies } = asked.verifyReply(await sent(brain.url, bytes));
  assert.deepEqual(
    (replies as readonly JsonObject[]).map(({ ok }) => ok),
    [false, false],
  );
  assert.deepEqual(brain.samples, []);
});

test("000-65, 000-66: type is taken for method, and the envelope {id, method, params, timestamp} is opened", async (t) => {
  const { brain, host } = await stage(t);
  const url = `${brain.url}/southbound/v1/messages`;
  const fields = { action_id: "a", payload: { load: 1 }, ts: "2026-01-01T00:00:00Z" };
  const params = { ...fields, action_id: "b" };
  const forms = [
    { type: "telemetry.push", ...fields },
    { id: "7", method: "telemetry.push", params, timestamp: "now" },
  ];
  for (const message of forms) {
    const { bytes, asked } = signedBytes(host.ring.current(), { url, message });
    assert.equal(asked.verifyReply(await sent(brain.url, bytes))["ok"], true);
  }
  assert.equal(brain.samples.length, 2);
});

test("F16, 000-51: a lost reply, whichever it is, costs no effect and makes none twice", async (t) => {
  const lost = new Set<string>();
  const isLost = (path: string, message: string): boolean => {
    // The first answer that brings an order, the first that takes its end, and the first that is asked after that.
    const kind = path.endsWith("poll")
      ? `poll ${/"ack":(\d+)/.exec(message)?.[1]}`
      : (/"method":"(\S+?)"/.exec(message)?.[1] ?? "");
    if (lost.has(kind)) return false;
    lost.add(kind);
    return true;
  };
  const { brain, host } = await stage(t, { isLost });
  const [first] = [await performed(brain, mark()), await performed(brain, mark())];
  assert.equal(first?.at(-1)?.type, "finished");
  assert.equal(marks(host), "ran\nran\n");
  assert.ok(
    lost.has("hello") && lost.has("poll 0") && lost.has("poll 1") && lost.has("action.result"),
    [...lost].join(),
  );
});

test("F17, 000-51: an order that is given again has the outcome that it had, and no second effect", async (t) => {
  const { brain, host } = await stage(t);
  const order = mark();
  const first = await performed(brain, order);
  const again = await performed(brain, order);
  assert.deepEqual(again.at(-1), first.at(-1));
  assert.equal(marks(host), "ran\n");
});

test("F16, F18: a brain that is started again while a command runs orders it again, and gets its one outcome", async (t) => {
  const { folder, brain, host, joined } = await stage(t);
  const order = orderOf("sh", ["-c", "echo ran >> marks; while [ ! -e go ]; do sleep 0.02; done; echo done"]);
  const cut = performed(brain, order);
  await appears(join(host.workspace, "marks"));
  await brain.close();
  const ended = (await cut).at(-1);
  assert.ok(ended?.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");
  joined.leave();
  await joined.ended;
  const next = await SignedBrain.open(t, folder);
  await host.join(next.url);
  const again = performed(next, order);
  await performed(next, orderOf("touch", ["go"]));
  const outcome = (await again).at(-1);
  assert.ok(outcome?.type === "finished" && outcome.outcome.kind === "process");
  assert.equal(outcome.outcome.stdout.text, "done\n");
  assert.equal(marks(host), "ran\n");
});

test("F10: a hand that stops asking is gone after a while, and waiting callers are told; it is back when it comes again", async (t) => {
  const folder = temporaryFolder(t);
  const brain = await SignedBrain.open(t, folder, { bounds: { silenceMs: 50 } });
  const first = await brain.enrol("h1");
  const url = `${brain.url}/southbound/v1/messages`;
  const message = { method: "hello", agent_id: "h1", name: "x", version: "1", capabilities: ["command.exec"] };
  assert.equal((await sent(brain.url, signedBytes(signerOf(first), { url, message }).bytes)).status, 200);
  const ended = (await performed(brain, mark())).at(-1);
  assert.ok(ended?.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");
  assert.equal(stateOf(brain), "down");
  const poll = { url: `${brain.url}/southbound/v1/poll`, message: {} };
  const reply = await sent(brain.url, signedBytes(signerOf(first), poll).bytes);
  assert.deepEqual([reply.status, reply.code], [503, "HAND_UNAVAILABLE"]);
  const host = await signedHost(t, first.keyid, first.root);
  await host.join(brain.url);
  assert.equal(stateOf(brain), "ok");
});

test("a peer that knows only the contract is given its work when it asks, and tells how it ended", async (t) => {
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const signer = signerOf(await brain.enrol("h1"));
  const ask = async (path: string, message: JsonObject): Promise<JsonObject> => {
    const { bytes, asked } = signedBytes(signer, { url: `${brain.url}/southbound/v1/${path}`, message });
    return asked.verifyReply(await sent(brain.url, bytes));
  };
  const capabilities = ["command.exec", "telemetry.push", "file.diff", "file.apply"];
  const timestamp = "2026-01-01T00:00:00Z";
  const hello = { method: "hello", agent_id: "h1", name: "x", version: "1", capabilities, timestamp };
  const welcome = await ask("messages", hello);
  assert.ok(typeof (welcome["policy"] as JsonObject)["max_payload"] === "number");
  const ended = performed(brain, orderOf("uptime"));
  const { messages } = await ask("poll", {});
  const [order] = messages as readonly JsonObject[];
  assert.deepEqual([order?.["method"], order?.["command"]], ["command.exec", "uptime"]);
  const action = textIn(order, "action_id");
  const result = { method: "action.result", action_id: action, ok: true, exit_code: 0, stdout: "up", stderr: "" };
  assert.deepEqual(await ask("messages", result), { ok: true });
  const outcome = (await ended).at(-1);
  assert.ok(outcome?.type === "finished" && outcome.outcome.kind === "process" && outcome.outcome.exitCode === 0);
});

test("F29, F20: of two processes with one identity the newest counts, and the other one ends", async (t) => {
  const { brain, host, joined } = await stage(t);
  await host.join(brain.url);
  const why = (await joined.ended) as { readonly code?: string };
  assert.ok(why.code === "CONFLICT" || why.code === "STALE_EPOCH", String(why.code));
  assert.equal((await performed(brain, mark())).at(-1)?.type, "finished");
});

test("a hand that is revoked is told so at once, and is not let in again", async (t) => {
  const { brain, host, joined } = await stage(t);
  await brain.hands.revoke("h1", "It was stolen.");
  assert.equal(((await joined.ended) as { readonly code?: string }).code, "HAND_REVOKED");
  const again = await host.join(brain.url);
  assert.equal(((await again.ended) as { readonly code?: string }).code, "HAND_REVOKED");
});

test("F19: a hand whose clock is an hour off goes by the time that the brain has signed; one that is days off says so", async (t) => {
  const { brain } = await stage(t, {}, { now: () => Date.now() - 3_600_000 });
  assert.equal(stateOf(brain), "ok");
  assert.equal((await performed(brain, mark())).at(-1)?.type, "finished");
  const far = await stage(t, {}, { now: () => Date.now() - 2 * SIGNED_HTTP_LIMITS.offsetMs });
  assert.equal(((await far.joined.ended) as { readonly code?: string }).code, "CLOCK_SKEW");
});

test("a hand outlives a store of the brain that is broken for a while", async (t) => {
  const { folder, brain, host, joined } = await stage(t);
  await alterStore(folder, "ALTER TABLE record_change RENAME TO elsewhere");
  const { bytes } = signedBytes(host.ring.current(), { url: `${brain.url}/southbound/v1/poll`, message: {} });
  assert.equal((await sent(brain.url, bytes)).code, "STORE_UNREADABLE");
  await alterStore(folder, "ALTER TABLE elsewhere RENAME TO record_change");
  assert.equal((await performed(brain, mark())).at(-1)?.type, "finished");
  assert.equal(await Promise.race([joined.ended, Promise.resolve("up")]), "up");
});

test("a reply that the brain has not signed is not believed", async (t) => {
  const welcome = JSON.stringify({ ok: true, policy: { timeouts: { exec: 1 }, max_payload: 1 }, session_epoch: 9 });
  const stranger = createServer((_, response) => response.setHeader("content-type", "application/json").end(welcome));
  stranger.listen(0, "127.0.0.1");
  await once(stranger, "listening");
  t.after(() => stranger.close());
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const { keyid, root } = await brain.enrol("h1");
  const host = await signedHost(t, keyid, root);
  const { ended } = await host.join(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}`);
  const why = (await ended) as { readonly code?: string; readonly message?: string };
  assert.equal(why.code, "BRAIN_UNREACHABLE");
  assert.match(why.message ?? "", /not signed by the brain/);
});

async function appears(path: string): Promise<void> {
  const watcher = watch(join(path, ".."));
  try {
    while (!existsSync(path)) await once(watcher, "change");
  } finally {
    watcher.close();
  }
}
