import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContextCompacted, Event } from "../event.ts";
import { MODEL_LIMITS } from "../limits.ts";
import { asksForSummary, compactBySummary, compactConversation, DIGEST_TITLE, summaryPrompt } from "./compaction.ts";
import { decide } from "./decide.ts";
import { buildPrompt } from "./prompt.ts";
import { fold, reduce } from "./run.ts";
import type { RunState } from "./run.ts";
import { pushTurn, turnsOf } from "./turns.ts";
import { entriesOf, said, started } from "./walk.fixture.ts";

const MOMENT = { run: "run_1", now: 1, chance: 0.5 };

/** A run whose conversation is longer than its bound. */
function longRun(more: Parameters<typeof started>[0] = { summarises: true }): RunState {
  let state = fold(entriesOf([started({ window: 8000, ...more })]))!;
  let { turns } = state;
  for (let index = 0; index < 60; index++) {
    const callId = `c${index}`;
    const action = { id: `act_${index}`, tool: "echo", input: { text: String(index) }, callId };
    turns = pushTurn(turns, { role: "assistant", text: `step ${index}`, action });
    turns = pushTurn(turns, { role: "tool", callId, tool: "echo", text: "o".repeat(390), failed: false });
  }
  state = { ...state, turns };
  return state;
}

const after = (state: RunState, event: Event): RunState => reduce(state, { seq: state.seq + 1, at: 1, event });

function recorded(state: RunState): Event {
  const decision = decide(state, MOMENT);
  assert.equal(decision.do, "record");
  return (decision as { readonly event: Event }).event;
}

test("a long conversation is summed up by its model: the intent first, then one event with what was kept and why", () => {
  const long = longRun();
  const intent = recorded(long);
  assert.deepEqual(intent, { type: "model.called", step: 0, attempt: 0, summary: true });
  const calling = after(long, intent);
  assert.deepEqual(decide(calling, MOMENT), { do: "call_model" }, "also after a crash");
  assert.equal(calling.used.steps, 0, "a summary is no step of the task");
  const usage = { inputTokens: 9000, outputTokens: 300, costUsd: 0.5 };
  const event = compactBySummary(calling, { ...said("Task: say it.\nDone: sixty steps."), usage });
  assert.equal(event.digest, `${DIGEST_TITLE}\nTask: say it.\nDone: sixty steps.`);
  assert.deepEqual([event.why, event.summarisedBy, event.usage], ["length", "scripted", usage]);
  assert.equal(event.kept! + event.dropped, long.turns.length);
  const shortened = after(calling, event);
  assert.equal(shortened.used.costUsd, 0.5);
  assert.equal(recorded(shortened).type, "model.called");
  assert.match(buildPrompt(shortened).turns[0]!.text, /^say it\n\n\[What happened earlier[^]*Done: sixty steps\.$/);
  assert.deepEqual(
    turnsOf(shortened.turns).slice(-MODEL_LIMITS.freshTurns),
    turnsOf(long.turns).slice(-MODEL_LIMITS.freshTurns),
  );
});

test("the request for a summary begins with the prompt of the last step, and asks for words", () => {
  const long = longRun({
    summarises: true,
    choice: "required",
    sampling: { temperature: 0, stop: ["END"], format: {} },
  });
  const [before, asked] = [buildPrompt(long), summaryPrompt(long)];
  assert.deepEqual([asked.system, asked.tools], [before.system, before.tools]);
  assert.deepEqual(asked.turns.slice(0, -1), before.turns);
  assert.match(asked.turns.at(-1)!.text, /Do not call a tool/);
  assert.deepEqual([asked.choice, asked.sampling, asked.isSummary], [undefined, { temperature: 0 }, true]);
});

for (const [what, reply] of [
  ["calls a tool", said("", { id: "c", tool: "echo", input: {} })],
  ["says nothing", said(" ")],
  ["does not finish", { ...said("Task: sa"), cutShort: true as const }],
] as const) {
  test(`a model that ${what} instead of a summary leads to the lines of a digest, and its tokens count`, () => {
    const long = longRun();
    const event: ContextCompacted = compactBySummary(long, reply);
    const { digest, dropped } = compactConversation(long);
    assert.deepEqual([event.digest, event.dropped], [digest, dropped]);
    assert.deepEqual([event.fault?.code, event.summarisedBy, event.usage], ["MODEL_RUBBISH", undefined, reply.usage]);
  });
}

test("a model that failed, one without summaries and a prompt that was just refused lead to a digest", () => {
  const long = longRun();
  const fault = { code: "MODEL_TIMEOUT", message: "silence" } as const;
  assert.deepEqual(compactConversation(long, fault).fault, fault);
  assert.equal(recorded(longRun({})).type, "context.compacted");
  const refused = { ...long, context: { ...long.context, squeezes: 1, isDue: true } };
  assert.equal(asksForSummary(refused), false);
  assert.equal((recorded(refused) as ContextCompacted).why, "refused");
});

test("a summary that is too long keeps its beginning and its end within the bound of a digest", () => {
  const long = longRun();
  const { digest } = compactBySummary(long, said(`first ${"-".repeat(100_000)} last`));
  assert.ok(digest.length < long.context.mostChars / 3);
  assert.match(digest, /first [^]* last$/);
});
