import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Action, ActionEnd, Hand, JsonObject } from "@vidro/core";
import { ForeignAgent, helloOf, JoinedHand, openRefused, SouthboundHarness } from "../support/southbound-harness.ts";

/* The southbound contract over WebSockets with certificates at both ends [000 §3]. */

const WSCAT = fileURLToPath(new URL("../node_modules/.bin/wscat", import.meta.url));
const LOCAL = { owner: "local", admin: false };

let last = 0;

function action(tool: string, input: JsonObject): Action {
  last += 1;
  return { id: `act_ws_${last}`, tool, input, callId: "c" };
}

/** Has a hand carry out an action, and gives its end and what was heard before. */
async function done(hand: Hand, what: Action): Promise<{ ended: ActionEnd; heard: string }> {
  let heard = "";
  const order = { action: what, run: "run_1", epoch: 1, ttlMs: 60_000 };
  for await (const event of hand.perform(order, new AbortController().signal)) {
    if (event.type === "output") heard += event.chunk;
    else return { ended: event, heard };
  }
  throw new Error("It did not end.");
}

/** Names of the hands that work; who was invited and never came is known too, and is down. */
const connected = (south: SouthboundHarness): readonly string[] =>
  south.hands.list(LOCAL).flatMap(({ name, state }) => (state === "down" ? [] : [name]));

test("000-40, 000-42, 000-43: a hello is answered with the policy, and who the hand is comes from the record", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled("web-1");
  const client = await ForeignAgent.open(identity);
  const boast = { ...helloOf(identity), name: "root", tags: ["everything"], scopes: ["*"], id: "h" };
  const { policy, ...welcome } = await client.ask(boast);
  assert.deepEqual(policy, { timeouts: { exec: 3_600_000 }, max_payload: 1_048_576 });
  assert.deepEqual(welcome, { id: "h", ok: true, session_epoch: 1, server_version: "1.2.3" });
  const [row] = south.hands.list(LOCAL);
  assert.deepEqual(
    [row?.id, row?.name, row?.tags, row?.gateway, row?.version, row?.state],
    [identity.agentId, "web-1", ["web"], "agent-ws", "9.9", "ok"],
  );
  assert.deepEqual(row?.tools.map(({ name }) => name).sort(), ["command", "file_apply", "file_diff"]);
});

test("000-44: a hand gets only the tools that it declares", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity, ["file.diff"]));
  assert.deepEqual(
    south.hands.list(LOCAL).flatMap(({ tools }) => tools.map(({ name }) => name)),
    ["file_diff"],
  );
});

test("000-45, 000-46, 000-50: a hand that knows only the contract is ordered in its words and answers in them", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity));
  const hand = await south.hands.at(identity.agentId);
  const work = action("command", { command: "uname", args: ["-a"], cwd: "/", timeout_ms: 5000 });
  const running = done(hand, work);
  const { method, action_id, command, args, timeout, cwd } = await client.next();
  assert.deepEqual(
    { method, action_id, command, args, timeout, cwd },
    { method: "command.exec", action_id: work.id, command: "uname", args: ["-a"], timeout: 5000, cwd: "/" },
  );
  client.say({ method: "exec.output", action_id: work.id, stream: "stdout", seq: 0, chunk: "Linux" });
  client.say({ ok: true, exit_code: 0, stdout: "Linux\n", stderr: "" });
  const { ended, heard } = await running;
  assert.equal(heard, "Linux");
  assert.ok(ended.type === "finished" && ended.outcome.kind === "process" && ended.outcome.stdout.text === "Linux\n");
});

test("000-45 to 000-51: our hand carries out each kind of action over the wire, and none of them twice", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { identity, workspace } = await JoinedHand.join(t, south);
  const hand = await south.hands.at(identity.agentId);
  assert.equal(hand.workspace, workspace);
  const mark = action("command", { command: "sh", args: ["-c", "echo once >> marks; cat marks; exit 3"] });
  const first = await done(hand, mark);
  assert.ok(first.ended.type === "finished" && first.ended.outcome.kind === "process");
  assert.deepEqual([first.ended.outcome.exitCode, first.ended.outcome.stdout.text], [3, "once\n"]);
  assert.deepEqual((await done(hand, mark)).ended, first.ended);
  const other = await done(hand, { ...mark, input: { command: "true" } });
  assert.ok(other.ended.type === "failed" && other.ended.fault.code === "ACTION_ID_REUSED");
  const path = join(workspace, "marks");
  const { ended: diff } = await done(hand, action("file_diff", { path, want: "twice\n" }));
  assert.ok(diff.type === "finished" && diff.outcome.kind === "value");
  const { patch, base_sha256 } = diff.outcome.data as { patch: string; base_sha256: string };
  assert.match(patch, /^-once\n\+twice$/m);
  const { ended: applied } = await done(hand, action("file_apply", { path, patch, base_sha256 }));
  assert.ok(applied.type === "finished" && applied.outcome.kind === "value");
  assert.equal((applied.outcome.data as { applied?: boolean }).applied, true);
  assert.equal(readFileSync(path, "utf8"), "twice\n");
});

test("000-47, 000-51, 000-65, 000-66: telemetry is taken in every form of message, acknowledged, and counted once by its id", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  const { method, ...hello } = helloOf(identity);
  assert.equal((await client.ask({ type: method ?? "", ...hello }))["ok"], true);
  const told = { action_id: "t1", payload: { cpu: 0.1 }, ts: "2026-01-01T00:00:00.000Z" };
  assert.deepEqual(await client.ask({ method: "telemetry.push", ...told }), { action_id: "t1", ok: true });
  assert.deepEqual(await client.ask({ type: "telemetry.push", ...told }), { action_id: "t1", ok: true });
  const envelope = { id: "7", method: "telemetry.push", params: told, timestamp: "2026-01-01T00:00:00Z" };
  assert.deepEqual(await client.ask(envelope), { id: "7", action_id: "t1", ok: true });
  const sample = { hand: identity.agentId, payload: { cpu: 0.1 }, at: Date.parse(told.ts) };
  assert.deepEqual(south.samples, [sample]);
  const other = await client.ask({ method: "telemetry.push", ...told, payload: { cpu: 0.2 } });
  assert.deepEqual([other["ok"], other["code"]], [false, "ACTION_ID_REUSED"]);
});

test("000-47: each sample that was acknowledged is kept, however soon the next one comes", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity));
  const sent = Array.from({ length: 50 }, (_, n) => ({ n }));
  for (const payload of sent)
    client.say({ method: "telemetry.push", action_id: `s${payload.n}`, payload, ts: "2026-01-01T00:00:00Z" });
  for (const _ of sent) assert.equal((await client.next())["ok"], true);
  assert.deepEqual(
    south.samples.map(({ payload }) => payload),
    sent,
  );
});

test("000-47: our hand tells how its host is doing as soon as it is connected", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { identity } = await JoinedHand.join(t, south);
  while (south.samples.length === 0) await new Promise(setImmediate);
  assert.deepEqual([south.samples[0]?.["hand"], south.samples[0]?.["payload"]], [identity.agentId, { cpu: 0.5 }]);
});

test("000-67: what makes no sense is refused by name and the connection stays; too much of it ends it", async (t) => {
  const south = await SouthboundHarness.up(t, { rubbish: 8 });
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity));
  const push = { method: "telemetry.push", action_id: "t" };
  const rubbish: readonly (JsonObject | string)[] = [
    "{",
    "[]",
    { method: "format.disk", action_id: "x" },
    { ...push, payload: "text" },
    { ...push, payload: {}, extra: 1 },
    { method: "telemetry.push", payload: {} },
    `{"method":"telemetry.push","action_id":"a","payload":${"[".repeat(70)}${"]".repeat(70)}}`,
  ];
  for (const message of rubbish) {
    const reply = await client.ask(message);
    assert.deepEqual([reply["ok"], reply["code"]], [false, "BAD_REQUEST"], JSON.stringify(message));
    assert.equal(typeof reply["error"], "string");
  }
  assert.equal((await client.ask({ ...push, payload: {} }))["ok"], true);
  client.say("once too often");
  assert.equal(await client.closed(), "RATE_LIMITED");
});

test("000-67: a hello that does not come is not waited for", async (t) => {
  const south = await SouthboundHarness.up(t, { helloMs: 100 });
  const silent = await ForeignAgent.open(await south.enrolled());
  assert.equal(await silent.closed(), "CONNECTION_LOST");
  assert.deepEqual(connected(south), []);
});

test("000-67: a hello that is wrong or another's is refused and hung up on", async (t) => {
  const south = await SouthboundHarness.up(t);
  const [identity, other] = [await south.enrolled("one"), await south.enrolled("two")];
  const { capabilities: _, ...lacking } = helloOf(identity);
  const wrong = {
    BAD_REQUEST: [
      lacking,
      { ...helloOf(identity), capabilities: "all" },
      { method: "telemetry.push", action_id: "t", payload: {} },
    ],
    FORBIDDEN: [helloOf(other)],
  };
  for (const [code, messages] of Object.entries(wrong))
    for (const message of messages) {
      const client = await ForeignAgent.open(identity);
      const closed = client.closed();
      assert.deepEqual([(await client.ask(message as JsonObject))["code"], await closed], [code, code]);
    }
  assert.deepEqual(connected(south), [], "none of them is connected");
});

test("000-40, 000-52: wscat, a client of others, says hello and is welcome", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const { ca, key, certificate } = identity;
  const files = Object.entries({ ca, key, cert: certificate }).flatMap(([name, text]) => {
    const path = join(south.folder, `${name}.pem`);
    writeFileSync(path, text);
    return [`--${name}`, path];
  });
  const said = JSON.stringify(helloOf(identity));
  const call = ["--no-color", ...files, "-c", south.url, "-x", said, "-w", "1"];
  const { stdout } = await promisify(execFile)(process.execPath, [WSCAT, ...call]);
  const line = stdout.split("\n").find((one) => one.includes('"ok"'));
  const reply = JSON.parse(line?.slice(line.indexOf("{")) ?? "null") as JsonObject;
  assert.deepEqual([reply["ok"], typeof reply["policy"]], [true, "object"]);
});

test("000-40: a page in a browser is refused, and so is every other path", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { ca, key, certificate: cert } = await south.enrolled();
  const page = await openRefused(south.url, { ca, key, cert, origin: "https://evil.example" });
  assert.deepEqual([page.status, page.body["code"]], [403, "FORBIDDEN"]);
  const elsewhere = await openRefused(`${south.url}/other`, { ca, key, cert });
  assert.equal(elsewhere.status, 404);
});

test("000-58: a hand that does not take what it is sent is given up, and its order can be given again", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity, ["command.exec", "tool.run"]));
  client.socket.pause();
  const hand = await south.hands.at(identity.agentId);
  const orders = Array.from({ length: 12 }, () =>
    done(hand, action("write_file", { path: "big", content: "x".repeat(900_000) })),
  );
  const codes = (await Promise.all(orders)).map(({ ended }) =>
    ended.type === "failed" ? ended.fault.code : ended.type,
  );
  assert.deepEqual([...new Set(codes)], ["HAND_UNAVAILABLE"]);
  client.socket.resume();
  if (client.socket.readyState !== client.socket.CLOSED) await once(client.socket, "close");
  assert.equal(south.hands.list(LOCAL)[0]?.state, "down");
});
