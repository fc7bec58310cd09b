import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { REGISTER_LIMITS, textIn } from "@vidro/core";
import type { Hand, JsonObject } from "@vidro/core";
import { bytesOf, CAPABILITIES } from "@vidro/core/wire/agent-ws";
import { openReceiptSigner } from "../enrol/receipt-signer.ts";
import type { LocalHandOptions } from "../hand-options.ts";
import { handIn, policyOf, scratch } from "../scratch.fixture.ts";
import { MessageHandler } from "./message-handler.ts";

const POLICY = { timeouts: { exec: 60_000 }, max_payload: REGISTER_LIMITS.messageBytes };

interface Stage {
  readonly hand: Hand;
  readonly handler: MessageHandler;
  /** What the hand sent, while it was connected. */
  readonly sent: JsonObject[];
  isConnected: boolean;
  /** Resolves with the first message sent from now on that the test looks for. */
  readonly next: (isIt: (message: JsonObject) => boolean) => Promise<JsonObject>;
}

/** A handler before a real hand, whose messages the test reads. */
async function stage(t: TestContext, more: Partial<LocalHandOptions> = {}): Promise<Stage> {
  const hand = await handIn(t, scratch(t), more);
  const sent: JsonObject[] = [];
  const waiting = new Set<(message: JsonObject) => void>();
  const send = (message: JsonObject): boolean => {
    if (!it.isConnected) return false;
    sent.push(message);
    for (const wake of waiting) wake(message);
    return true;
  };
  const handler = new MessageHandler({ hand, capabilities: CAPABILITIES, send });
  const it: Stage = {
    hand,
    handler,
    sent,
    isConnected: true,
    next: (isIt) =>
      new Promise((resolve) => {
        const look = (message: JsonObject): void => {
          if (!isIt(message)) return;
          waiting.delete(look);
          resolve(message);
        };
        waiting.add(look);
      }),
  };
  handler.startSession({ policy: POLICY, session_epoch: 1 }, undefined);
  return it;
}

function shell(id: string, command: string, more: JsonObject = {}): JsonObject {
  return {
    id: `q-${id}`,
    method: "tool.run",
    action_id: id,
    tool: "shell",
    input: { command },
    session_epoch: 1,
    ...more,
  };
}

const isOutput = (message: JsonObject): boolean => message["method"] === "exec.output";

test("output is numbered in order, and the reply comes last with the ids of its request", async (t) => {
  const { handler, sent } = await stage(t);
  await handler.receive(shell("a1", "for n in 1 2 3; do echo $n; done"));
  const reply = sent.at(-1);
  assert.deepEqual([reply?.["id"], reply?.["action_id"], reply?.["ok"], reply?.["exit_code"]], ["q-a1", "a1", true, 0]);
  const parts = sent.slice(0, -1);
  assert.ok(parts.length > 0 && parts.every(isOutput));
  assert.deepEqual(
    parts.map(({ seq }) => seq),
    parts.map((_, index) => index),
  );
  assert.equal(parts.map(({ chunk }) => chunk as string).join(""), "1\n2\n3\n");
});

test("every failure is a reply with a code, whatever the message is", async (t) => {
  const { handler, sent } = await stage(t);
  const broken: readonly (readonly [JsonObject, string])[] = [
    [{}, "BAD_REQUEST"],
    [{ method: 5 }, "BAD_REQUEST"],
    [{ method: "tool.run", id: "x".repeat(10_000), action_id: "a" }, "BAD_REQUEST"],
    [{ method: "nonsense" }, "FORBIDDEN"],
    [{ method: "__proto__" }, "FORBIDDEN"],
    [{ method: "tool.run" }, "BAD_REQUEST"],
    [{ method: "tool.run", action_id: "a", tool: "shell", input: "ls" }, "BAD_REQUEST"],
    [{ method: "tool.run", action_id: "a", tool: "none", input: {} }, "UNKNOWN_TOOL"],
    [{ method: "command.exec", action_id: "a", command: 5 }, "BAD_REQUEST"],
    [shell("a2", "ls", { ttl_ms: "soon" }), "BAD_REQUEST"],
  ];
  for (const [message, code] of broken) {
    await handler.receive(message);
    const reply = sent.pop();
    assert.deepEqual([reply?.["ok"], reply?.["code"]], [false, code], JSON.stringify(message).slice(0, 100));
    assert.equal(typeof reply?.["error"], "string");
  }
});

test("a hand that offers few methods refuses the others, and names what it does", async (t) => {
  const { hand, sent } = await stage(t);
  const send = (message: JsonObject): boolean => sent.push(message) > 0;
  const handler = new MessageHandler({ hand, capabilities: ["file.diff"], send });
  handler.startSession({ policy: POLICY }, undefined);
  await handler.receive(shell("a1", "touch forbidden"));
  assert.deepEqual([sent[0]?.["code"], /file\.diff/.test(textIn(sent[0], "error") ?? "")], ["FORBIDDEN", true]);
  assert.ok(!existsSync(join(hand.workspace, "forbidden")));
});

test("cancelling stops the action, and the reply is its end", async (t) => {
  const { handler, next } = await stage(t);
  const begun = next(isOutput);
  const done = handler.receive(shell("a1", "echo begun; sleep 60"));
  await begun;
  const ended = next((message) => message["action_id"] === "a1" && "ok" in message);
  await handler.receive({ method: "action.cancel", action_id: "a1" });
  assert.notEqual((await ended)["exit_code"], 0);
  await done;
});

test("cancelling still reaches an action after a repeated order for it was refused", async (t) => {
  const { handler, next } = await stage(t);
  const begun = next(isOutput);
  const done = handler.receive(shell("a1", "echo begun; sleep 60"));
  await begun;
  // An order that reuses the id for something else ends at once; the action goes on.
  const refused = next((message) => message["id"] === "other");
  await handler.receive(shell("a1", "echo another", { id: "other" }));
  assert.equal((await refused)["ok"], false);
  const ended = next((message) => message["id"] === "q-a1");
  await handler.receive({ method: "action.cancel", action_id: "a1" });
  await ended;
  await done;
});

test("closing stops what runs for the brain", async (t) => {
  const { handler, next } = await stage(t);
  const begun = next(isOutput);
  const done = handler.receive(shell("a1", "echo begun; sleep 60"));
  await begun;
  handler.close();
  await done;
});

test("cancelling or acknowledging what the hand does not know is no failure, and has no reply", async (t) => {
  const { handler, sent } = await stage(t);
  for (const method of ["action.cancel", "action.ack"]) await handler.receive({ method, action_id: "none" });
  assert.deepEqual(sent, []);
});

test("a repeated order gets the first one's outcome, and nothing is done twice", async (t) => {
  const { hand, handler, sent } = await stage(t);
  await Promise.all([1, 2, 3].map((n) => handler.receive(shell("a1", "echo x >> count", { id: `q${n}` }))));
  await handler.receive(shell("a1", "echo x >> count", { id: "q4" }));
  const replies = sent.filter((message) => "ok" in message);
  assert.deepEqual(
    replies.map(({ id, exit_code }) => `${id as string} ${Number(exit_code)}`).toSorted(),
    [1, 2, 3, 4].map((n) => `q${n} 0`),
  );
  assert.equal(await readFile(join(hand.workspace, "count"), "utf8"), "x\n");
});

test("replies that found no connection are sent with the next session, once", async (t) => {
  const it = await stage(t);
  it.isConnected = false;
  await it.handler.receive(shell("a1", "echo one"));
  await it.handler.receive(shell("a2", "echo two"));
  it.isConnected = true;
  it.handler.startSession({ policy: POLICY, session_epoch: 2 }, undefined);
  assert.deepEqual(
    it.sent.map(({ action_id }) => action_id),
    ["a1", "a2"],
  );
  it.handler.startSession({ policy: POLICY, session_epoch: 3 }, undefined);
  assert.equal(it.sent.length, 2);
});

test("a waiting reply is dropped when the brain acknowledges the action by another way", async (t) => {
  const it = await stage(t);
  it.isConnected = false;
  await it.handler.receive(shell("a1", "echo one"));
  await it.handler.receive({ method: "action.ack", action_id: "a1" });
  it.isConnected = true;
  it.handler.startSession({ policy: POLICY, session_epoch: 2 }, undefined);
  assert.deepEqual(it.sent, []);
});

test("a session that cannot send keeps the replies for the next one", async (t) => {
  const it = await stage(t);
  it.isConnected = false;
  await it.handler.receive(shell("a1", "echo one"));
  it.handler.startSession({ policy: POLICY, session_epoch: 2 }, undefined);
  it.isConnected = true;
  it.handler.startSession({ policy: POLICY, session_epoch: 3 }, undefined);
  assert.equal(it.sent.length, 1);
});

test("an order of an older session is refused and does nothing; a session of an older brain is too", async (t) => {
  const { hand, handler, sent } = await stage(t);
  handler.startSession({ policy: POLICY, session_epoch: 7 }, undefined);
  await handler.receive(shell("a1", "touch late", { session_epoch: 6 }));
  assert.equal(sent.at(-1)?.["code"], "STALE_EPOCH");
  assert.ok(!existsSync(join(hand.workspace, "late")));
  assert.throws(() => handler.startSession({ policy: POLICY, session_epoch: 6 }, undefined), { code: "STALE_EPOCH" });
  handler.startSession({ policy: POLICY }, undefined);
  await handler.receive(shell("a2", "touch late", { session_epoch: 6 }));
  assert.equal(sent.at(-1)?.["code"], "STALE_EPOCH", "a brain without epochs does not reset them");
});

test("a command may run no longer than the brain's policy says, whatever the order asks", async (t) => {
  const { handler, sent } = await stage(t);
  handler.startSession({ policy: { ...POLICY, timeouts: { exec: 50 } }, session_epoch: 1 }, undefined);
  await handler.receive({
    method: "command.exec",
    action_id: "a1",
    command: "sleep",
    args: ["30"],
    cwd: ".",
    timeout: 60_000,
  });
  assert.equal(sent.at(-1)?.["timed_out"], true);
});

test("no message is over the brain's bound, and a shortened reply says so", async (t) => {
  const { handler, sent } = await stage(t);
  handler.startSession({ policy: { ...POLICY, max_payload: 600 }, session_epoch: 1 }, undefined);
  await handler.receive(shell("a1", "seq 1 2000"));
  for (const message of sent) assert.ok(bytesOf(message) <= 600, JSON.stringify(message).slice(0, 80));
  assert.equal(sent.at(-1)?.["truncated"], true);
  assert.equal(
    sent
      .filter(isOutput)
      .map(({ chunk }) => chunk as string)
      .join(""),
    Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`).join(""),
  );
});

test("a brain that allows messages of a few bytes gets an end that cannot be read, and the hand lives", async (t) => {
  const { handler, sent } = await stage(t);
  handler.startSession({ policy: { ...POLICY, max_payload: 1 }, session_epoch: 1 }, undefined);
  await handler.receive(shell("a1", "printf '😀😀'"));
  assert.equal(sent.at(-1)?.["code"], "OUTCOME_UNKNOWN");
});

test("an action is judged without effect, and an approval without a known brain is not believed", async (t) => {
  const { hand, handler, sent } = await stage(t, { policy: policyOf("ask") });
  await handler.receive({
    id: "j",
    method: "action.judge",
    action_id: "a1",
    tool: "shell",
    input: { command: "touch f" },
  });
  assert.equal(sent.at(-1)?.["ok"], true);
  const judgement = sent.at(-1)?.["judgement"] as JsonObject;
  assert.equal((judgement["verdict"] as JsonObject)["decision"], "ask");
  await handler.receive(
    shell("a1", "touch f", {
      approved: textIn(judgement, "hash") ?? "",
      ledger: textIn(judgement, "ledger") ?? "",
    }),
  );
  assert.equal(sent.at(-1)?.["code"], "APPROVAL_INVALID");
  assert.ok(!existsSync(join(hand.workspace, "f")));
});

test("a judgement that found no connection is not kept: the brain asks again", async (t) => {
  const it = await stage(t);
  it.isConnected = false;
  await it.handler.receive({ method: "action.judge", action_id: "a1", tool: "shell", input: { command: "ls" } });
  it.isConnected = true;
  it.handler.startSession({ policy: POLICY, session_epoch: 2 }, undefined);
  assert.deepEqual(it.sent, []);
});

test("an acknowledged action is told to the hand, which may forget it after its time", async (t) => {
  const { hand, handler } = await stage(t);
  const acknowledged: string[] = [];
  hand.acknowledge = async (action) => void acknowledged.push(action);
  await handler.receive({ method: "action.ack", action_id: "a1" });
  assert.deepEqual(acknowledged, ["a1"]);
});

test("receipts go only to a brain that stores them", async (t) => {
  const { handler, sent } = await stage(t, { receipts: openReceiptSigner(scratch(t)) });
  await handler.receive(shell("a1", "echo one"));
  assert.equal(sent.at(-1)?.["receipt"], undefined);
  handler.startSession({ policy: POLICY, session_epoch: 2, receipts: true }, undefined);
  await handler.receive(shell("a2", "echo two", { session_epoch: 2 }));
  assert.equal((sent.at(-1)?.["receipt"] as JsonObject | undefined)?.["action"], "a2");
});

test("the whole of an output that was cut is read in pieces, and of no action that this brain did not order", async (t) => {
  const { handler, sent, hand } = await stage(t);
  await handler.receive(shell("a1", "seq 1 100000"));
  const whole = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join("");
  let read = "";
  for (let bytes = 1; read.length < bytes;) {
    await handler.receive({ method: "spool.read", id: "s", action_id: "a1", offset: read.length });
    const { ok, data, bytes: size } = sent.at(-1) ?? {};
    assert.equal(ok, true);
    bytes = Number(size);
    read += Buffer.from(typeof data === "string" ? data : "", "base64").toString();
  }
  assert.equal(read, whole);
  const other = { id: "a2", tool: "shell", input: { command: "seq 1 100000" }, callId: "" };
  const order = { action: other, run: "r", epoch: 1, ttlMs: 60_000, by: "another client" };
  for await (const event of hand.perform(order, new AbortController().signal)) if (event.type !== "output") break;
  for (const action of ["a2", "a3", "../ledger.db"]) {
    await handler.receive({ method: "spool.read", id: "s", action_id: action, offset: 0 });
    assert.deepEqual([sent.at(-1)?.["ok"], sent.at(-1)?.["code"]], [false, "NOT_FOUND"], action);
  }
  await handler.receive({ method: "spool.read", id: "s", action_id: "a1", offset: -1 });
  assert.equal(sent.at(-1)?.["code"], "BAD_REQUEST");
});
