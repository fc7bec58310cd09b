import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Hand, JsonObject } from "@vidro/core";
import { handIn, policyOf, scratch } from "../../scratch.fixture.ts";
import type { CommandCall, TcpSession } from "./command.ts";
import { ackCommand, cancelCommand, judgeCommand, runToolCommand } from "./orders.ts";

/** The calls of one connection to a hand, with the session of a token. */
function connection(hand: Hand, tokenId = "tok", scopes: readonly string[] = ["hand", "approve"]) {
  const revoked = new AbortController();
  const session: TcpSession = {
    tokenId,
    scopes: new Set(scopes),
    expiresAt: null,
    revoked: revoked.signal,
    sessionId: "S-1",
  };
  const output: JsonObject[] = [];
  const call: CommandCall = {
    context: { hand, name: "h", version: "1" } as CommandCall["context"],
    session,
    gone: new AbortController().signal,
    orders: new Map(),
    maxBytes: 256 * 1024,
    verifyToken: () => Promise.reject(new Error("unused")),
    startSession: () => undefined,
    sendOutput: (data) => void output.push(data),
    waitForOthers: () => Promise.resolve(),
  };
  return { call, output, revoke: () => revoked.abort() };
}

const shell = (actionId: string, command: string, more: JsonObject = {}) =>
  ({
    actionId,
    tool: "shell",
    input: { command },
    run: "run_1",
    epoch: 1,
    ttlMs: 60_000,
    live: true,
    ...more,
  }) as never;

const endOf = (answer: JsonObject): JsonObject => answer["ended"] as JsonObject;
const codeOf = (answer: JsonObject): unknown => (endOf(answer)["fault"] as JsonObject | undefined)?.["code"];

/** A hand with a file that its commands wait for; what still waits ends with the folder of the test. */
async function stage(t: TestContext, more: Parameters<typeof handIn>[2] = {}) {
  const folder = scratch(t);
  const hand = await handIn(t, folder, more);
  const go = join(folder, "go");
  const begun = join(folder, "begun");
  const waiting = `touch ${begun}; while [ -e ${begun} ] && [ ! -e ${go} ]; do sleep 0.02; done; echo done`;
  const untilBegun = async (): Promise<void> => {
    while (!existsSync(begun)) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return { hand, waiting, untilBegun, release: () => writeFileSync(go, "") };
}

test("an order that is refused does not take away how the one that runs is cancelled", async (t) => {
  const { hand, waiting, untilBegun } = await stage(t);
  const { call } = connection(hand);
  const running = runToolCommand.run(shell("act_1", waiting, { epoch: 2 }), call);
  await untilBegun();
  const other = await runToolCommand.run(shell("act_1", "echo another", { epoch: 2 }), call);
  assert.equal(codeOf(other), "ACTION_ID_REUSED");
  assert.deepEqual(await cancelCommand.run({ actionId: "act_1" }, call), { cancelled: true });
  const ended = endOf(await running);
  assert.notEqual(JSON.stringify(ended).includes("done"), true);
  assert.deepEqual(await cancelCommand.run({ actionId: "act_1" }, call), { cancelled: false });
  assert.equal(call.orders.size, 0);
});

test("a repeated order waits for the same end, and one cancel ends both", async (t) => {
  const { hand, waiting, untilBegun } = await stage(t);
  const { call } = connection(hand);
  const both = [1, 2].map(async () => runToolCommand.run(shell("act_1", waiting), call));
  await untilBegun();
  assert.deepEqual(await cancelCommand.run({ actionId: "act_1" }, call), { cancelled: true });
  const [one, other] = (await Promise.all(both)).map(endOf);
  assert.deepEqual(one, other);
  assert.equal(call.orders.size, 0);
});

test("an order is cancelled only by the token that gave it, on its own connection", async (t) => {
  const { hand, waiting, untilBegun, release } = await stage(t);
  const [own, other] = [connection(hand, "tok"), connection(hand, "other")];
  const running = runToolCommand.run(shell("act_1", waiting), own.call);
  await untilBegun();
  assert.deepEqual(await cancelCommand.run({ actionId: "act_1" }, other.call), { cancelled: false });
  assert.deepEqual(await cancelCommand.run({ actionId: "act_2" }, own.call), { cancelled: false });
  assert.deepEqual(await cancelCommand.run({ actionId: "constructor" }, own.call), { cancelled: false });
  release();
  assert.equal(endOf(await running)["type"], "finished");
});

test("the outcome of an action belongs to the token that ordered it, and is acknowledged by that one", async (t) => {
  const { hand } = await stage(t);
  const [own, other] = [connection(hand, "tok"), connection(hand, "other")];
  const first = await runToolCommand.run(shell("act_1", "echo once >> $HOME_FILE; echo out"), own.call);
  assert.equal(endOf(first)["type"], "finished");
  const again = await runToolCommand.run(shell("act_1", "echo once >> $HOME_FILE; echo out"), own.call);
  assert.deepEqual(endOf(again)["outcome"], endOf(first)["outcome"]);
  assert.equal(
    codeOf(await runToolCommand.run(shell("act_1", "echo once >> $HOME_FILE; echo out"), other.call)),
    "OUTCOME_UNKNOWN",
  );
  assert.deepEqual(await ackCommand.run({ actionId: "act_1" }, own.call), { acknowledged: true });
});

test("a token that is revoked while its action runs ends the action", async (t) => {
  const { hand, waiting, untilBegun } = await stage(t);
  const { call, revoke } = connection(hand);
  const running = runToolCommand.run(shell("act_1", waiting), call);
  await untilBegun();
  revoke();
  assert.ok(!JSON.stringify(endOf(await running)).includes("done"));
});

test("live output comes with its action and only to an order that asks for it", async (t) => {
  const { hand } = await stage(t);
  const { call, output } = connection(hand);
  await runToolCommand.run(shell("act_1", "printf one; printf two >&2"), call);
  const heard = output.map(({ actionId, stream, chunk }) => JSON.stringify([actionId, stream, chunk]));
  assert.deepEqual(new Set(heard), new Set(['["act_1","stderr","two"]', '["act_1","stdout","one"]']));
  await runToolCommand.run(shell("act_2", "echo quiet", { live: false }), call);
  assert.equal(output.length, 2);
});

test("an approval counts only from a token that may approve", async (t) => {
  const { hand } = await stage(t, { policy: policyOf("ask") });
  const able = connection(hand, "able").call;
  const unable = connection(hand, "unable", ["hand"]).call;
  const judged = await judgeCommand.run({ actionId: "act_1", tool: "shell", input: { command: "echo 1" } }, able);
  const { hash, ledger } = judged["judgement"] as JsonObject;
  const order = (id: string) => shell(id, "echo 1", { approved: hash as string, ledger: ledger as string });
  assert.equal(codeOf(await runToolCommand.run(order("act_2"), unable)), "APPROVAL_INVALID");
  assert.equal(endOf(await runToolCommand.run(order("act_3"), able))["type"], "finished");
  assert.equal(codeOf(await runToolCommand.run(shell("act_4", "echo 1"), able)), "APPROVAL_DENIED");
  assert.equal(
    codeOf(await runToolCommand.run(shell("act_5", "echo 2", { approved: hash as string }), able)),
    "PLAN_CHANGED",
  );
});

test("a judgement names the fault of an action that cannot be planned", async (t) => {
  const { hand } = await stage(t);
  const { call } = connection(hand);
  for (const [tool, input, code] of [
    ["nonsense", {}, "UNKNOWN_TOOL"],
    ["__proto__", {}, "UNKNOWN_TOOL"],
    ["constructor", {}, "UNKNOWN_TOOL"],
    ["shell", {}, "BAD_ARGUMENTS"],
    ["shell", { command: 5 }, "BAD_ARGUMENTS"],
    ["shell", { command: "a\0b" }, "BAD_ARGUMENTS"],
  ] as const) {
    const judged = await judgeCommand.run({ actionId: "act_1", tool, input }, call);
    assert.equal((judged["fault"] as JsonObject | undefined)?.["code"], code, `${tool} ${JSON.stringify(input)}`);
  }
});
