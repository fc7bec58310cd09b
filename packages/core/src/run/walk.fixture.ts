import fc from "fast-check";
import { decide } from "./decide.ts";
import type { Decision } from "./decide.ts";
import type { Entry, Event, RunStarted } from "../event.ts";
import type { ModelReply } from "../ports.ts";
import { replyEvents } from "./reply.ts";
import { reduce } from "./run.ts";
import type { RunState } from "./run.ts";
import type { Outcome, ToolSpec, Verdict } from "../tool.ts";

/** A tool for runs that exist only in a test. */
export const ECHO: ToolSpec = {
  name: "echo",
  description: "Says it again.",
  parameters: { type: "object" },
  idempotent: false,
};

/** A tool with which a run may run commands, and so propose tools of its own. */
export const COMMAND: ToolSpec = { ...ECHO, name: "command", description: "Runs a program." };

/** The first event of a run that exists only in a test. */
export function started(more: Partial<RunStarted> = {}): RunStarted {
  return {
    type: "run.started",
    task: "say it",
    system: "You are a test.",
    agent: "bunny",
    model: "scripted",
    hand: "local",
    workspace: "/w",
    tools: [ECHO, COMMAND],
    budget: { steps: 20, actions: 20, tokens: 1e6, wallMs: 1e9 },
    thread: "thread_1",
    history: [],
    ...more,
  };
}

/** A reply of a model. */
export function said(text: string, ...calls: ModelReply["calls"]): ModelReply {
  return { model: "scripted", text, calls, usage: { inputTokens: 1, outputTokens: 1 } };
}

/** The entries of these events, from the first of a run on. */
export function entriesOf(events: readonly Event[], at = 1000): Entry[] {
  return events.map((event, index) => ({ seq: index + 1, at: at + index, event }));
}

/** The state after a run's first event and some more. */
export function stateOf(...events: readonly Event[]): RunState {
  let state: RunState | undefined;
  for (const entry of entriesOf([started(), ...events])) state = reduce(state, entry);
  return state!;
}

/** What the world does at each turn of a run: random, but every choice is one that a real world could make. */
export interface Luck {
  readonly reply: ModelReply | "fails" | "is refused";
  readonly verdict: Verdict["decision"];
  readonly end: "finished" | "failed" | "unknown";
  readonly answer: string;
  readonly gapMs: number;
}

const OUTCOME: Outcome = { kind: "value", text: "done" };

/** The events with which the world answers a decision; none when the run is over. */
export function worldAnswers(state: RunState, decision: Decision, luck: Luck): readonly Event[] {
  switch (decision.do) {
    case "record":
      return [decision.event];
    case "call_model": {
      const { reply } = luck;
      if (typeof reply !== "string") return replyEvents(reply, state, () => `act_${state.seq}`);
      const code = reply === "fails" ? "MODEL_CUT" : "MODEL_REFUSED";
      return [{ type: "model.failed", attempt: state.attempt, fault: { code, message: reply } }];
    }
    case "judge": {
      const verdict: Verdict = { decision: luck.verdict, rule: "test", class: "read", reason: "because" };
      const plan = { kind: "facts", facts: "test" } as const;
      return [{ type: "policy.judged", action: decision.action.id, plan, hash: "h", policy: "p", verdict }];
    }
    case "act":
      if (luck.end === "finished") return [{ type: "action.finished", action: decision.action.id, outcome: OUTCOME }];
      return [
        {
          type: `action.${luck.end}`,
          action: decision.action.id,
          fault: { code: luck.end === "failed" ? "TOOL_FAILED" : "OUTCOME_UNKNOWN", message: "no" },
        },
      ];
    case "wait":
      if (decision.question === undefined) return [];
      return [{ type: "question.answered", id: decision.question.id, answer: luck.answer, by: "test" }];
    case "stop":
      return [];
  }
}

/** Plays a run in a random world until it is over or the luck runs out. */
export function play(
  lucks: readonly Luck[],
  first: RunStarted = started(),
): { entries: Entry[]; decisions: Decision[] } {
  let now = 1000;
  const entries: Entry[] = [{ seq: 1, at: now, event: first }];
  let state = reduce(undefined, entries[0]!);
  const decisions: Decision[] = [];
  for (const luck of lucks) {
    now += luck.gapMs;
    const decision = decide(state, { run: "run_1", now, chance: 0.5 });
    decisions.push(decision);
    if (decision.do === "stop") break;
    if (decision.do === "wait" && decision.question === undefined) now = decision.until;
    for (const event of worldAnswers(state, decision, luck)) {
      const entry = { seq: state.seq + 1, at: now, event };
      state = reduce(state, entry);
      entries.push(entry);
    }
  }
  return { entries, decisions };
}

const call = fc.record({
  id: fc.constantFrom("c1", "c2"),
  tool: fc.constantFrom("echo", "ask", "plan", "observe", "commit_kb", "tool_spec", "done", "nothing"),
  input: fc.oneof(
    fc.constantFrom("{broken"),
    fc.dictionary(fc.constantFrom("text", "question", "steps", "name", "command"), fc.string(), {
      noNullPrototype: true,
    }),
  ),
});
const line = fc.constantFrom(
  "Let me see.",
  '{"type":"plan","steps":["a","b"]}',
  '{"type":"use_tool","name":"echo","args":{"text":"x"}}',
  '{"type":"shell","command":"ls"}',
  '{"action":"ask","question":"really?","options":["yes","no"]}',
  '{"type":"done","result":{"ok":true}}',
  '{"type":"tool_spec","name":"disk","description":"d","command":"df","args":["{path}"]}',
  '{"type":"observe","summary":"it is small"}',
  "{not json}",
  "",
);
const reply = fc
  .tuple(fc.array(line, { maxLength: 4 }), fc.array(call, { maxLength: 3 }))
  .map(([lines, calls]) => said(lines.join("\n"), ...calls));

/** What the world may do at one turn. */
export const anyLuck: fc.Arbitrary<Luck> = fc.record({
  reply: fc.oneof({ arbitrary: reply, weight: 6 }, fc.constantFrom("fails" as const, "is refused" as const)),
  verdict: fc.constantFrom("allow", "ask", "deny"),
  end: fc.constantFrom("finished", "failed", "unknown"),
  answer: fc.constantFrom("yes", "no", "continue", "stop", "use another way", ""),
  gapMs: fc.nat({ max: 5000 }),
});
