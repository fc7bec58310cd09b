import { setTimeout as sleep } from "node:timers/promises";
import type { Hand, Journal, Model, ModelReply } from "@vidro/core";
import type { AgentProfile } from "../../packages/brain/src/catalog/agent.ts";
import { HelperRuns } from "../../packages/brain/src/run/helper-runs.ts";
import type { Runs } from "../../packages/brain/src/run/runs.ts";
import { delegateTool } from "../../packages/brain/src/tools/delegate.ts";
import { equippedHand } from "../../packages/brain/src/tools/equipped-hand.ts";
import { finishRun, openRuns } from "./local-runs.ts";

/** Agents that helpers may be, beside that of their parent. */
const AGENTS: readonly AgentProfile[] = [
  { name: "reader", description: "", prompt: "You read.", tools: ["read_file", "shell"] },
];

/** Runs whose hand has the tool `delegate`, as a brain puts them together. */
export function delegatingRuns(deps: { journal: Journal; model: Model; hand: Hand }): Runs {
  const { journal, model } = deps;
  const agent = async (name: string): Promise<AgentProfile> => {
    const found = AGENTS.find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no agent ${name}.`);
    return found;
  };
  const tool = delegateTool((delegation) => helpers.delegate(delegation));
  const hand = equippedHand(deps.hand, [tool], async (run) => (await journal.head(run))?.owner);
  const runs = openRuns({ journal, model, hand });
  const helpers = new HelperRuns({ runs, journal, agent });
  return runs;
}

/** A model with a script for each task: which reply is next is read off the conversation. */
export function modelOfTasks(scripts: { readonly [task: string]: readonly Partial<ModelReply>[] }): Model {
  return {
    name: "scripted",
    async *call({ turns }, signal) {
      const task = turns.find(({ role }) => role === "user")?.text ?? "";
      const [, script = []] = Object.entries(scripts).find(([name]) => task.includes(name)) ?? [];
      const reply = script[turns.filter(({ role }) => role === "assistant").length];
      if (reply === undefined) {
        // A task without a script is thought about until it is stopped.
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        yield { type: "failed", fault: { code: "MODEL_REFUSED", message: "stopped" } };
      } else
        yield {
          type: "replied",
          reply: { model: "scripted", text: "", calls: [], usage: { inputTokens: 10, outputTokens: 5 }, ...reply },
        };
    },
  };
}

/** A reply that calls one tool. */
export function calls(tool: string, input: NonNullable<ModelReply["calls"][number]["input"]>): Partial<ModelReply> {
  return { calls: [{ id: `call_${tool}`, tool, input }] };
}

/** Answers yes to every question of a run, from when it exists on. */
export async function approveAll(runs: Runs, run: string): Promise<void> {
  for (;;) {
    const found = await runs.find(run).catch(() => undefined);
    if (found !== undefined) break;
    await sleep(5);
  }
  await finishRun(runs, run, ["yes", "yes", "yes"]);
}
