import { randomUUIDv7 } from "node:crypto";
import { addUsage, MODEL_LIMITS, usageIn } from "@vidro/core";
import type { Action, Entry, Event, FaultReport, Hand, Judgement, ToolSpec, Usage } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import type { Config } from "./config.ts";
import { chooseModel } from "./models/choose.ts";
import { liveBus } from "./run/live-bus.ts";
import { Runs } from "./run/runs.ts";
import { thisHolder } from "./stores/lease-holder.ts";
import { openStore } from "./stores/stores.ts";

/*
 * A test of a model: a small run in memory, whose only tool gives a word that the model cannot know. What comes of it
 * shows that the model is reached, calls a tool, takes the result with its own thinking, and answers.
 */

/** What a test of a model has shown. */
export interface ModelTrial {
  /** The model that answered last. */
  readonly model: string;
  /** It called the tool and gave the word of its result. */
  readonly isRight: boolean;
  /** How it calls tools; undefined when it called none. */
  readonly calls?: "natively" | "in text";
  /** Its replies hold thinking. */
  readonly thinks: boolean;
  /** Time of each call of the model. */
  readonly tookMs: readonly number[];
  readonly usage: Usage;
  /** What was healed on the way. */
  readonly healed: readonly string[];
  /** Tokens of its window, where the run knew or learnt it. */
  readonly window?: number;
  readonly answer: string;
  /** Why it failed. */
  readonly fault?: FaultReport;
}

const WORD_TOOL: ToolSpec = {
  name: "word_of_the_day",
  description: "Gives the word of the day.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  idempotent: true,
  effect: "read",
};
const TASK = "Call word_of_the_day once, then answer with the word that it gives and nothing else.";
const AGENT = { name: "test", prompt: "You are a test of a connection. Be brief.", description: "" } as const;

/** Tests the model of that name, or the one that would be chosen; a Fault when there is no such model. */
export async function tryModel(config: Config, name?: string, signal?: AbortSignal): Promise<ModelTrial> {
  const model = await chooseModel(config, name);
  const { journal } = await openStore("memory", "");
  const word = `kestrel-${randomUUIDv7().slice(-4)}`;
  const runs = new Runs({
    journal,
    model: async () => model,
    hand: async () => wordHand(word),
    live: liveBus(),
    redactor: redactor(config.secrets()),
    now: Date.now,
    chance: Math.random,
    holder: thisHolder(),
    newId: (prefix) => `${prefix}_${randomUUIDv7()}`,
    newActionId: () => `act_${randomUUIDv7()}`,
    report: () => undefined,
  });
  try {
    const budget = { steps: MODEL_LIMITS.testSteps };
    const { run } = await runs.start({ task: TASK, workspace: ".", agent: AGENT, budget });
    const entries: Entry[] = [];
    for await (const item of runs.follow(run.id, 0, signal)) if ("entry" in item) entries.push(item.entry);
    return trialOf(entries, word, model.name);
  } finally {
    await runs.close();
    await journal.close();
  }
}

function trialOf(entries: readonly Entry[], word: string, name: string): ModelTrial {
  const events = entries.map(({ event }) => event);
  const replies = events.filter((event) => event.type === "model.replied");
  const end = events.at(-1);
  const answer = end?.type === "run.finished" && typeof end.result === "string" ? end.result : "";
  const called = replies.find(({ action }) => action?.tool === WORD_TOOL.name);
  const window = replies.flatMap((reply) => reply.window ?? [])[0] ?? windowAtStart(events);
  return {
    model: replies.at(-1)?.model ?? name,
    isRight: called !== undefined && answer.includes(word),
    ...(called === undefined ? {} : { calls: called.native === true ? "natively" : "in text" }),
    thinks: replies.some(({ parts }) => parts?.items.some(({ kind }) => kind === "thinking") === true),
    tookMs: callTimes(entries),
    usage: events.flatMap((event) => usageIn(event) ?? []).reduce(addUsage, { inputTokens: 0, outputTokens: 0 }),
    healed: events.flatMap((event) => (event.type === "heal.tried" ? [event.description] : [])),
    ...(window === undefined ? {} : { window }),
    answer,
    ...(end?.type === "run.failed" ? { fault: end.fault } : {}),
  };
}

function windowAtStart([first]: readonly Event[]): number | undefined {
  return first?.type === "run.started" ? first.window : undefined;
}

/** From each call of the model to its reply. */
function callTimes(entries: readonly Entry[]): readonly number[] {
  return entries.flatMap(({ at, event }, index) => {
    const before = entries.slice(0, index).findLast((entry) => entry.event.type === "model.called");
    return event.type === "model.replied" && before !== undefined ? [at - before.at] : [];
  });
}

/** A hand that gives one word and does nothing else. */
function wordHand(word: string): Hand {
  return {
    id: "test",
    workspace: ".",
    tools: [WORD_TOOL],
    judge: (action: Action): Promise<Judgement> =>
      Promise.resolve({
        plan: { kind: "order", tool: action.tool, input: action.input },
        verdict: { decision: "allow", rule: "test", class: "read", reason: "It is a test." },
        policy: "test",
        hash: "test",
      }),
    async *perform() {
      yield { type: "finished", outcome: { kind: "value", text: word } };
    },
    acknowledge: async () => undefined,
    close: async () => undefined,
  };
}
