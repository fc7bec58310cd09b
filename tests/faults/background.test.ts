import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Entry, Hand, Model, ModelCall, ModelEvent, ModelRequest } from "@vidro/core";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { ACTION_TAG_VARIABLE } from "../../packages/hands/src/exec/orphans.ts";
import { listPids, readProcessVariable } from "../../packages/hands/src/exec/proc.ts";
import { TOOLS } from "../../packages/hands/src/tools/tools.ts";
import { IN_PROCESS_LINKS } from "../support/in-process-links.ts";
import { startSwitchableProxy } from "../support/switchable-proxy.ts";
import type { SwitchableProxy } from "../support/switchable-proxy.ts";
import { finishRun, openHand, openRuns, temporaryFolder } from "../support/local-runs.ts";
import { ALLOW_ALL } from "../support/tcp-hand.ts";

/* Processes in the background end with their run, whatever ends it and wherever the hand is: nothing is left. */

type Step = readonly [tool: string, input: ModelCall["input"]];

/** A model that calls these tools one after the other, then says that it is done, or never does. */
function modelOf(steps: readonly Step[], isEndless = false): Model {
  return {
    name: "scripted",
    async *call({ turns }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      const done = turns.filter(({ role }) => role === "tool").length;
      const [tool, input] = steps[done] ?? ["done", { result: "over" }];
      if (tool === "done" && isEndless)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      const usage = { inputTokens: 1, outputTokens: 1 };
      const calls = [{ id: `call_${done}`, tool, input }];
      yield signal.aborted
        ? { type: "failed", fault: { code: "MODEL_CUT", message: "stopped" } }
        : { type: "replied", reply: { model: "scripted", text: "", calls, usage } };
    },
  };
}

/** The living processes of all actions of a run. */
function survivors(entries: readonly Entry[]): number[] {
  const actions = entries.flatMap(({ event }) => (event.type === "action.started" ? [event.action.id] : []));
  assert.ok(actions.length > 0);
  return listPids().filter((pid) => {
    const tag = readProcessVariable(pid, ACTION_TAG_VARIABLE);
    return actions.some((action) => tag?.endsWith(`/${action}`) === true);
  });
}

async function untilGone(entries: readonly Entry[]): Promise<void> {
  while (survivors(entries).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** What forks away, ignores SIGTERM and says that it is there. */
const SERVER = "(setsid sh -c \"trap '' TERM; sleep 1000\" &); echo listening; sleep 1000";

function texts(entries: readonly Entry[]): string {
  return entries
    .flatMap(({ event }) =>
      event.type === "action.finished" && event.outcome.kind === "value" ? [event.outcome.text] : [],
    )
    .join("\n");
}

async function localHandIn(t: TestContext): Promise<Hand> {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const hand = await openHand(folder, workspace, { policy: ALLOW_ALL });
  t.after(() => hand.close());
  return hand;
}

const STEPS: readonly Step[] = [
  ["start_process", { line: SERVER, name: "srv" }],
  ["read_output", { process: "srv", cursor: 0, wait_ms: 10_000 }],
];

for (const [name, connect] of Object.entries(IN_PROCESS_LINKS))
  test(`a process in the background ends with its run over ${name}`, async (t) => {
    const { hand } = await connect(t, async ({ port }) => port, TOOLS);
    const runs = openRuns({ journal: memoryStore().journal, model: modelOf(STEPS), hand });
    const { run } = await runs.start({ task: "serve", owner: "ana", workspace: hand.workspace });
    const entries = await finishRun(runs, run.id, []);
    assert.match(texts(entries), /listening/);
    assert.equal(entries.at(-1)?.event.type, "run.finished");
    assert.deepEqual(survivors(entries), []);
  });

test("a process in the background ends before an aborted run does", async (t) => {
  const hand = await localHandIn(t);
  const runs = openRuns({ journal: memoryStore().journal, model: modelOf(STEPS, true), hand });
  const { run } = await runs.start({ task: "serve", owner: "ana", workspace: hand.workspace });
  const entries: Entry[] = [];
  for await (const followed of runs.follow(run.id)) {
    if (!("entry" in followed)) continue;
    entries.push(followed.entry);
    if (followed.entry.event.type === "model.called" && followed.entry.event.step === 3) {
      assert.ok(survivors(entries).length > 0);
      await runs.abort(run.id, "enough");
    }
  }
  assert.equal(entries.at(-1)?.event.type, "run.aborted");
  // What ignores SIGTERM is killed after its grace time, which an abort does not wait for.
  await untilGone(entries);
});

test("a process in the background on a hand that is away when its run ends is ended when the hand is back", async (t) => {
  const ways: SwitchableProxy[] = [];
  const { hand } = await IN_PROCESS_LINKS["agent-ws"](
    t,
    async ({ port }) => {
      const way = await startSwitchableProxy(`http://127.0.0.1:${port}`);
      t.after(() => way[Symbol.asyncDispose]());
      ways.push(way);
      return Number(new URL(way.url).port);
    },
    TOOLS,
  );
  const model = modelOf([["start_process", { command: "sleep", args: ["1000"] }]], true);
  const runs = openRuns({ journal: memoryStore().journal, model, hand });
  const { run } = await runs.start({ task: "serve", owner: "ana", workspace: hand.workspace });
  const entries: Entry[] = [];
  for await (const followed of runs.follow(run.id)) {
    if (!("entry" in followed)) continue;
    entries.push(followed.entry);
    if (followed.entry.event.type !== "model.called" || followed.entry.event.step !== 2) continue;
    ways[0]?.shut();
    await runs.abort(run.id, "enough");
  }
  assert.equal(entries.at(-1)?.event.type, "run.aborted");
  assert.ok(survivors(entries).length > 0, "the hand has not heard of the end");
  ways[0]?.open();
  await untilGone(entries);
});
