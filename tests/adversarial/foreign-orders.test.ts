import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { localHand } from "../../packages/hands/src/hand.ts";
import { ALLOW_ALL, startTcpHand, scratch } from "../support/tcp-hand.ts";
import type { Caller, Message } from "../support/tcp-hand.ts";

/* What one token ordered of a hand that listens is nothing to another token, whatever its scopes. */

interface Ended {
  readonly type: string;
  readonly outcome?: { readonly stdout: { readonly text: string } };
  readonly fault?: { readonly code: string };
}

const line = (actionId: string, command: string, more: JsonObject = {}): JsonObject => ({
  actionId,
  tool: "shell",
  input: { command },
  run: "run_1",
  epoch: 1,
  ttlMs: 60_000,
  ...more,
});

const endIn = ({ t, code, data }: Message): Ended => {
  assert.equal(t, "res", String(code));
  return data["ended"] as Ended;
};

async function order(caller: Caller, data: JsonObject): Promise<Ended> {
  return endIn(await caller.ask("RUN_TOOL", data));
}

test("the outcome of an order is told to the token that ordered; to another it is unknown, and nothing is begun again", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const [mine, foreign] = [await hand.session("hand"), await hand.session("hand")];
  const secret = line("act_1", "echo mine");
  assert.equal((await order(mine, secret)).outcome?.stdout.text, "mine\n");
  for (const asked of [secret, { ...secret, ttlMs: 0 }, line("act_1", "echo other")]) {
    const { type, fault, outcome } = await order(foreign, asked);
    assert.deepEqual([type, fault?.code, outcome], ["unknown", "OUTCOME_UNKNOWN", undefined]);
  }
  await foreign.ask("ACK", { actionId: "act_1" });
  assert.equal((await order(mine, { ...secret, ttlMs: 0 })).outcome?.stdout.text, "mine\n");
});

test("a token cannot shut out another one's run with a high epoch", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const [mine, foreign] = [await hand.session("hand"), await hand.session("hand")];
  assert.equal((await order(mine, line("act_1", "true", { epoch: 2 }))).type, "finished");
  assert.equal((await order(foreign, line("act_f", "true", { epoch: 9_000_000 }))).type, "finished");
  assert.equal((await order(mine, line("act_2", "true", { epoch: 2 }))).type, "finished");
  assert.equal((await order(mine, line("act_3", "true", { epoch: 1 }))).fault?.code, "STALE_EPOCH");
});

test("a connection that shows another token cannot stop or join what it began under the first", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const mine = await hand.session("hand");
  const done = join(hand.workspace, "done");
  mine.send(
    "RUN_TOOL",
    line("act_1", `echo begun; while [ ! -e go ]; do sleep 0.05; done; touch ${done}`, LIVE),
    "mine",
  );
  assert.equal((await mine.hears()).t, "out");
  assert.equal((await mine.ask("AUTH", { token: await hand.token("hand") })).t, "res");
  assert.deepEqual((await mine.ask("CANCEL", { actionId: "act_1" })).data, { cancelled: false });
  assert.equal((await order(mine, line("act_1", "true"))).type, "unknown");
  mine.send("RUN_TOOL", line("act_2", "touch go"), "go");
  const answers = await mine.hearsMany(2);
  const ended = endIn(answers.find(({ id }) => id === "mine")!);
  assert.equal(ended.type, "finished");
  assert.ok(existsSync(done));
});

const LIVE = { live: true };

test("what a hand began before it kept whose orders are, or for its own brain, is neither told nor begun again", async (t) => {
  const folder = scratch(t);
  const first = await startTcpHand(t, { policy: ALLOW_ALL, folder });
  const log = join(first.workspace, "log");
  const { state, workspace } = { state: join(folder, "state"), workspace: first.workspace };
  const own = await localHand({ id: "local", workspace, state, policy: ALLOW_ALL });
  t.after(() => own.close());
  const action = { id: "act_1", tool: "shell", input: { command: `echo secret | tee -a ${log}` }, callId: "c" };
  const events = own.perform({ action, run: "run_1", epoch: 5, ttlMs: 60_000 }, new AbortController().signal);
  assert.equal((await Array.fromAsync(events)).at(-1)?.type, "finished");
  const foreign = await first.session("hand");
  const { type, fault, outcome } = await order(foreign, line("act_1", action.input.command));
  assert.deepEqual([type, fault?.code, outcome], ["unknown", "OUTCOME_UNKNOWN", undefined]);
  assert.equal((await order(foreign, line("act_2", `wc -l < ${log}`, { epoch: 5 }))).outcome?.stdout.text, "1\n");
  assert.equal((await order(foreign, line("act_3", "true", { epoch: 4 }))).fault?.code, "STALE_EPOCH");
});
