import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decide } from "./decide.ts";
import type { Moment } from "./decide.ts";
import type { Budget, Event, ModelReplied, RunStarted } from "../event.ts";
import { MODEL_LIMITS, RUN_LIMITS } from "../limits.ts";
import { fold, reduce } from "./run.ts";
import { anyLuck, entriesOf, play, said, started, stateOf } from "./walk.fixture.ts";
import type { Luck } from "./walk.fixture.ts";

const MOMENT = { run: "run_1", now: 2000, chance: 0.5 };
const action = { id: "act_1", tool: "echo", input: { text: "x" }, callId: "c1" };
const replied = (more: Partial<ModelReplied>): Event => ({
  type: "model.replied",
  model: "m",
  text: "",
  usage: { inputTokens: 1, outputTokens: 1 },
  ...more,
});
const called: Event = { type: "model.called", step: 1, attempt: 1 };
const judged = (decision: "allow" | "ask" | "deny"): Event => ({
  type: "policy.judged",
  action: "act_1",
  plan: { kind: "facts", facts: "x" },
  hash: "h",
  policy: "p",
  verdict: { decision, rule: "r", class: "read", reason: "why" },
});
const LUCK: Luck = {
  reply: said("", { id: "c1", tool: "echo", input: { text: "x" } }),
  verdict: "allow",
  end: "finished",
  answer: "yes",
  gapMs: 1,
};

test("deciding twice in the same state gives the same one decision", () => {
  fc.assert(
    fc.property(fc.array(anyLuck, { minLength: 1, maxLength: 60 }), (luck) => {
      const state = fold(play(luck).entries)!;
      const once = decide(state, MOMENT);
      assert.deepEqual(decide(state, MOMENT), once);
      assert.equal(typeof once.do, "string");
    }),
  );
});

test("invariant 3: an effect is only decided in a state whose last entry is its intent", () => {
  fc.assert(
    fc.property(fc.array(anyLuck, { minLength: 1, maxLength: 120 }), (luck) => {
      const { entries } = play(luck);
      for (let cut = 1; cut <= entries.length; cut++) {
        const decision = decide(fold(entries.slice(0, cut))!, MOMENT);
        const last = entries[cut - 1]!.event.type;
        if (decision.do === "act") assert.equal(last, "action.started");
        if (decision.do === "call_model") assert.equal(last, "model.called");
      }
    }),
  );
});

test("a new run calls the model, and the intent comes first", () => {
  assert.deepEqual(decide(stateOf(), MOMENT), { do: "record", event: called });
  assert.deepEqual(decide(stateOf(called), MOMENT), { do: "call_model" });
});

test("an action is judged, then started, then carried out", () => {
  const chosen = stateOf(called, replied({ action }));
  assert.deepEqual(decide(chosen, MOMENT), { do: "judge", action });
  const allowed = stateOf(called, replied({ action }), judged("allow"));
  assert.deepEqual(decide(allowed, MOMENT), { do: "record", event: { type: "action.started", action, hand: "local" } });
  const acting = stateOf(called, replied({ action }), judged("allow"), {
    type: "action.started",
    action,
    hand: "local",
  });
  assert.deepEqual(decide(acting, MOMENT), { do: "act", action });
});

test("a verdict to ask becomes a question that is bound to the plan's hash, and only a yes clears it", () => {
  const events = [called, replied({ action }), judged("ask")];
  const decision = decide(stateOf(...events), MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "question.asked");
  const asked = decision.event;
  assert.deepEqual(asked.about, {
    kind: "approval",
    action: "act_1",
    hash: "h",
    policy: "p",
    plan: { kind: "facts", facts: "x" },
    hand: "local",
    class: "read",
    rule: "r",
  });
  const answered = (more: { answer: string; by?: string }) =>
    stateOf(...events, asked, { type: "question.answered", id: asked.id, ...more });
  const answer = (text: string) => answered({ answer: text, by: "me" });
  assert.deepEqual(answer("yes").phase, { name: "approved", action, approved: "h" });
  const refusals = [answer("no"), answer("YES"), answer(""), answered({ answer: "" })].map((state) =>
    decide(state, MOMENT),
  );
  for (const refusal of refusals) assert.ok(refusal.do === "record" && refusal.event.type === "action.failed");
  const words = answer("rather use ls").phase;
  assert.ok(words.name === "refused" && words.fault.message.includes("rather use ls"));
});

test("a person named time is a person like any other, and only a timeout is silence", () => {
  const events = [called, replied({ action }), judged("ask")];
  const decision = decide(stateOf(...events), MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "question.asked");
  const { id } = decision.event;
  const code = (by: { by?: string }) => {
    const { phase } = stateOf(...events, decision.event, { type: "question.answered", id, answer: "no", ...by });
    return phase.name === "refused" && phase.fault.code;
  };
  assert.equal(code({ by: "time" }), "APPROVAL_DENIED");
  assert.equal(code({}), "APPROVAL_EXPIRED");
});

test("001-31 a healing that is stuck waits half a minute for a person, and silence is an escalation", () => {
  const fault = { code: "MODEL_REFUSED", message: "It will not." } as const;
  const events = [called, { type: "model.failed", attempt: 1, fault }] as const;
  const after = (...more: Event[]) => fold(entriesOf([started({ interactive: true }), ...events, ...more]))!;
  const decision = decide(after(), MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "question.asked");
  const asked = decision.event;
  assert.deepEqual([asked.about, asked.expiresAt - MOMENT.now], [{ kind: "healing", fault }, 30_000]);
  const silence = decide(after(asked), { ...MOMENT, now: asked.expiresAt });
  assert.ok(silence.do === "record");
  assert.deepEqual(decide(after(asked, silence.event), MOMENT), { do: "record", event: { type: "run.failed", fault } });
  const again = decide(after(asked, { type: "question.answered", id: asked.id, answer: "retry", by: "me" }), MOMENT);
  assert.deepEqual(again, { do: "record", event: { type: "model.called", step: 2, attempt: 1 } });
});

test("silence turns into the answer when the question expires", () => {
  const asked = {
    type: "question.asked",
    id: "q2",
    about: { kind: "ask" },
    text: "?",
    options: [],
    expiresAt: 5000,
  } as const;
  const state = stateOf(asked);
  assert.deepEqual(decide(state, MOMENT), { do: "wait", until: 5000, question: asked });
  const expired = decide(state, { ...MOMENT, now: 5000 });
  assert.deepEqual(expired, { do: "record", event: { type: "question.answered", id: "q2", answer: "" } });
});

test("a denied action is never started", () => {
  const decision = decide(stateOf(called, replied({ action }), judged("deny")), MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "action.failed");
  assert.equal(decision.event.fault.code, "POLICY_DENIED");
});

test("an unknown outcome is asked about, and goes on only when a person says so", () => {
  const events: Event[] = [
    called,
    replied({ action }),
    judged("allow"),
    { type: "action.started", action, hand: "local" },
    { type: "action.unknown", action: "act_1", fault: { code: "OUTCOME_UNKNOWN", message: "?" } },
  ];
  const decision = decide(stateOf(...events), MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "question.asked");
  const answered = (answer: string) =>
    decide(stateOf(...events, decision.event, { type: "question.answered", id: "q7", answer, by: "me" }), MOMENT);
  const on = answered("continue");
  assert.ok(on.do === "record" && on.event.type === "model.called");
  const off = answered("stop");
  assert.ok(off.do === "record" && off.event.type === "run.failed" && off.event.fault.code === "OUTCOME_UNKNOWN");
});

test("004-26 the fourth identical call in a row is not made: the run stops and says why", () => {
  const { entries } = play(Array.from({ length: 60 }, () => LUCK));
  const starts = entries.filter((entry) => entry.event.type === "action.started");
  assert.equal(starts.length, RUN_LIMITS.identicalCalls - 1);
  const last = entries.at(-1)!.event;
  assert.ok(last.type === "run.failed" && last.fault.code === "LOOP_DETECTED");
});

test("004-26 steps, actions, tokens, time and money have budgets, and each ends the run by name", () => {
  const varied = Array.from({ length: 400 }, (_, index) => ({
    ...LUCK,
    reply: said("", { id: "c1", tool: "echo", input: { text: String(index) } }),
    gapMs: 10,
  }));
  const budget = { steps: 100, actions: 100, tokens: 1e6, wallMs: 1e9 };
  const end = (less: Partial<Budget>) => {
    const last = play(varied, started({ budget: { ...budget, ...less } })).entries.at(-1)!.event;
    return last.type === "run.failed" ? last.fault.code : last.type;
  };
  assert.equal(end({ steps: 5 }), "STEP_LIMIT");
  assert.equal(end({ actions: 5 }), "ACTION_LIMIT");
  assert.equal(end({ tokens: 9 }), "TOKEN_LIMIT");
  assert.equal(end({ wallMs: 300 }), "TIME_LIMIT");
  const costly = varied.map((luck) => ({
    ...luck,
    reply: { ...luck.reply, usage: { ...luck.reply.usage, costUsd: 0.2 } },
  }));
  const { entries } = play(costly, started({ budget: { ...budget, costUsd: 0.5 } }));
  assert.equal(
    entries.filter(({ event }) => event.type === "model.replied").length,
    3,
    "ends behind the call that reaches it",
  );
  const last = entries.at(-1)!.event;
  assert.equal(last.type === "run.failed" && last.fault.code, "COST_LIMIT");
});

test("a thread or a day that cost as much as it may ends the run by name, or asks where a person follows it", () => {
  const decided = (shared: Moment["shared"], more: Partial<RunStarted> = {}) => {
    const state = reduce(undefined, { seq: 1, at: 0, event: started(more) });
    const decision = decide(state, { run: "r", now: 0, chance: 0, ...(shared === undefined ? {} : { shared }) });
    assert.equal(decision.do, "record");
    return decision.event;
  };
  const cost = (of: "thread" | "day", costUsd: number) => ({ of, costUsd, limitUsd: 2 });
  assert.equal(decided([cost("thread", 1.99), cost("day", 0)]).type, "model.called");
  const thread = decided([cost("thread", 2), cost("day", 9)]);
  assert.deepEqual(thread, {
    type: "run.failed",
    fault: { code: "THREAD_COST_LIMIT", message: "The runs of this conversation cost $2.00 of at most $2.00." },
  });
  const day = decided([cost("thread", 1), cost("day", 2.5)]);
  assert.ok(day.type === "run.failed" && day.fault.code === "DAY_COST_LIMIT");
  const asked = decided([cost("day", 2.5)], { interactive: true });
  assert.ok(asked.type === "question.asked" && asked.about.kind === "healing");
  assert.match(asked.text, /today \(UTC\) cost \$2\.50 of at most \$2\.00\. Shall the model be asked again\?/);
});

test("a model that fails is tried again with a growing rest, and fails by name in the end", () => {
  const { entries } = play(Array.from({ length: 60 }, () => ({ ...LUCK, reply: "fails" as const, gapMs: 0 })));
  const rests = entries.flatMap(({ event }) => (event.type === "heal.tried" ? [event.delayMs] : []));
  assert.deepEqual(rests, [750, 1500, 3000]);
  assert.equal(entries.filter(({ event }) => event.type === "model.called").length, MODEL_LIMITS.attempts);
  const last = entries.at(-1)!.event;
  assert.ok(last.type === "run.failed" && last.fault.code === "MODEL_CUT");
});

test("a model that refuses is not asked again", () => {
  const { entries } = play([LUCK, { ...LUCK, reply: "is refused" }, LUCK, LUCK]);
  assert.deepEqual(
    entries.map(({ event }) => event.type),
    ["run.started", "model.called", "model.failed", "run.failed"],
  );
});

test("a conversation that grows too long is compacted before the model is called", () => {
  const long = "x".repeat(MODEL_LIMITS.turnChars);
  let state = stateOf(called);
  for (let index = 0; state.turns.chars <= MODEL_LIMITS.contextChars; index++) {
    const many: Event[] = [
      replied({ action: { ...action, id: `act_${index}`, input: { text: String(index) } } }),
      { type: "action.failed", action: `act_${index}`, fault: { code: "TOOL_FAILED", message: long } },
    ];
    for (const event of many) state = reduce(state, { seq: state.seq + 1, at: 2000, event });
  }
  const decision = decide(state, MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "context.compacted");
  const compacted = reduce(state, { seq: state.seq + 1, at: 2000, event: decision.event });
  assert.ok(compacted.turns.chars <= MODEL_LIMITS.contextChars);
  const next = decide(compacted, MOMENT);
  assert.ok(next.do === "record" && next.event.type === "model.called");
});

test("003-11 a tool that only the caller knows is handed to the caller, and its answer goes on in the same run", () => {
  const tools = [{ name: "echo", description: "", parameters: {}, idempotent: false, caller: true as const }];
  const first = { seq: 1, at: 1000, event: started({ tools }) };
  const state = fold([first, { seq: 2, at: 1001, event: called }, { seq: 3, at: 1002, event: replied({ action }) }])!;
  const decision = decide(state, MOMENT);
  assert.ok(decision.do === "record" && decision.event.type === "question.asked");
  assert.deepEqual(decision.event.about, { kind: "call", call: action });
  const asked = reduce(state, { seq: 4, at: 1003, event: decision.event });
  const answer: Event = { type: "question.answered", id: decision.event.id, answer: "42", by: "caller" };
  const answered = reduce(asked, { seq: 5, at: 1004, event: answer });
  assert.deepEqual(answered.turns.items.at(-1), {
    role: "tool",
    callId: "c1",
    tool: "echo",
    text: "42",
    failed: false,
  });
  assert.deepEqual(decide(answered, MOMENT), { do: "record", event: { type: "model.called", step: 2, attempt: 1 } });
});

test("F33 a run that a store of a later generation has is asked about before anything else, and goes on where it stood", () => {
  const later = { ...MOMENT, generation: 2 };
  const acting = [
    called,
    replied({ action }),
    judged("allow"),
    { type: "action.started", action, hand: "local" },
  ] as const;
  const asking = decide(stateOf(...acting), later);
  assert.ok(asking.do === "record" && asking.event.type === "question.asked");
  assert.deepEqual(
    [asking.event.about, asking.event.options],
    [{ kind: "restored", generation: 2 }, ["continue", "stop"]],
  );
  const answered = (answer: string, by?: string) =>
    stateOf(...acting, asking.event, {
      type: "question.answered",
      id: "q6",
      answer,
      ...(by === undefined ? {} : { by }),
    });
  assert.deepEqual(decide(answered("continue", "me"), later), { do: "act", action });
  assert.equal(decide(answered("continue", "me"), { ...MOMENT, generation: 3 }).do, "record", "a restore later");
  for (const state of [answered("stop", "me"), answered("")]) {
    const end = decide(state, later);
    assert.ok(end.do === "record" && end.event.type === "run.failed");
    assert.equal(end.event.fault.code, "STORE_RESTORED");
  }
});

test("F33 a run that already asks, or that needs only its end, is not asked about the store", () => {
  const later = { ...MOMENT, generation: 2 };
  const approval = decide(stateOf(called, replied({ action }), judged("ask")), MOMENT);
  assert.ok(approval.do === "record");
  const asking = stateOf(called, replied({ action }), judged("ask"), approval.event);
  assert.equal(decide(asking, later).do, "wait");
  const answered = decide(stateOf(called, replied({ answer: "42" })), later);
  assert.deepEqual(answered, { do: "record", event: { type: "run.finished", result: "42" } });
});
