import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { Event } from "../event.ts";
import type { Action, Outcome, ProcessOutcome } from "../tool.ts";
import { UNASKED_ANSWER } from "./answer-words.ts";
import { printable } from "./printable.ts";
import { eventSentence, liveSentence, outcomeWords } from "./sentences.ts";

const action: Action = { id: "act_1", callId: "c1", tool: "command", input: { command: "cat", args: ["a b"] } };
const usage = { inputTokens: 1, outputTokens: 1 };
const replied = { type: "model.replied", model: "m", text: "I look.", usage } as const;
const output = (bytes: number) => ({ text: "", bytes, truncated: false, sha256: "" });
const ended: ProcessOutcome = {
  kind: "process",
  exitCode: 0,
  signal: null,
  timedOut: false,
  durationMs: 1500,
  stdout: output(900),
  stderr: output(600),
};

describe("an event as a sentence", () => {
  it("of a reply says what the model wants before what it says", () => {
    assert.equal(eventSentence({ ...replied, action, answer: "x" }), "The model wants: cat 'a b'");
    const question = { text: "which?", options: [] };
    assert.equal(eventSentence({ ...replied, question }), "The model wants to know something.");
    assert.equal(eventSentence({ ...replied, answer: null }), "The model has the answer.");
    assert.equal(eventSentence(replied), "The model says: I look.");
  });

  it("of a call of the model counts the tries from the second on, and tells a summary from a step", () => {
    const called = { type: "model.called", step: 3, attempt: 1 } as const;
    assert.equal(eventSentence(called), "Step 3: the model thinks.");
    assert.equal(eventSentence({ ...called, attempt: 2 }), "Step 3: the model thinks (try 2).");
    assert.equal(eventSentence({ ...called, summary: true }), "The model sums up the conversation.");
  });

  it("of an answer tells who answered, a question that expired, and a client without a person", () => {
    const answered = { type: "question.answered", id: "q7", answer: "yes", by: "ana" } as const;
    assert.equal(eventSentence(answered), "Answered by ana: yes");
    assert.equal(eventSentence({ ...answered, answer: "" }), "Answered by ana: nothing");
    assert.equal(eventSentence({ type: "question.answered", id: "q7", answer: "" }), "No answer in time.");
    assert.equal(
      eventSentence({ ...answered, answer: UNASKED_ANSWER }),
      "No person could be asked, so it is not approved.",
    );
    assert.equal(
      eventSentence({ ...answered, answer: "yes, always", rule: "mine-1" }),
      "Answered by ana: yes, always (added rule mine-1; undo: vidro policy remove mine-1)",
    );
  });

  it("of a long conversation says how many turns went, who summed them up and how many stayed", () => {
    const compacted = { type: "context.compacted", dropped: 1, digest: "" } as const;
    assert.equal(eventSentence(compacted), "The conversation grew long: 1 old turn summed up.");
    assert.equal(
      eventSentence({ ...compacted, dropped: 12, kept: 1, summarisedBy: "gemma" }),
      "The conversation grew long: 12 old turns summed up by gemma, 1 turn kept.",
    );
  });

  it("of a verdict names the decision, the rule, the class and the exact plan", () => {
    const verdict = { decision: "deny", rule: "no-rm", class: "destructive", reason: "" } as const;
    const plan = {
      kind: "process",
      program: "/bin/rm",
      argv: ["rm", "-rf", "/ "],
      cwd: "/",
      env: {},
      timeoutMs: 1,
      digests: {},
    } as const;
    assert.equal(
      eventSentence({ type: "policy.judged", action: "act_1", plan, hash: "", policy: "", verdict }),
      "Policy says deny (rule no-rm, destructive): rm -rf '/ '",
    );
  });

  it("of a proposed tool shows the command that it stands for", () => {
    const tool = { name: "count", description: "", parameters: {}, idempotent: true, argv: ["wc", "-l", "{file}"] };
    assert.equal(eventSentence({ type: "tool.proposed", tool }), "The model proposes the tool count: wc -l '{file}'");
  });

  it("of every kind is one printable line of a bounded length, whatever words are in it", () => {
    const words = fc.string({
      unit: fc.constantFrom("a", "\n", "\u001b[2J", "\u202e", "\ud83d", "🐰", " ", "x".repeat(300)),
      maxLength: 6,
    });
    fc.assert(
      fc.property(words, (text) => {
        for (const event of eventsWith(text)) {
          const sentence = eventSentence(event);
          assert.doesNotMatch(sentence, /\n/, event.type);
          assert.equal(printable(sentence), sentence, event.type);
          assert.ok(Array.from(sentence).length <= 200, event.type);
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** Events of the kinds whose sentence has words of a model, a person or a host. */
function eventsWith(text: string): readonly Event[] {
  const fault = { code: "MODEL_CUT", message: text } as const;
  return [
    { ...replied, text },
    { ...replied, action: { ...action, tool: text, input: { [text]: text } } },
    { type: "intent.analyzed", originalIntent: text, detectedIssue: text, decision: text },
    { type: "model.failed", attempt: 1, fault },
    { type: "plan.made", steps: [text, text] },
    { type: "note.observed", note: text },
    { type: "knowledge.committed", title: text, tags: [], snippet: text, status: text },
    { type: "question.asked", id: "q1", about: { kind: "ask" }, text, options: [], expiresAt: 1 },
    { type: "question.answered", id: "q1", answer: text, by: text },
    { type: "remark.made", id: "r", text, by: text },
    { type: "action.started", action: { ...action, input: { command: text } }, hand: text },
    { type: "action.failed", action: "act_1", fault },
    { type: "action.unknown", action: "act_1", fault, partial: text },
    { type: "action.finished", action: "act_1", outcome: { ...ended, signal: text } },
    { type: "heal.tried", healing: text, description: text, severity: "low", attempt: 1, delayMs: 1, metadata: {} },
    { type: "run.failed", fault },
    { type: "run.aborted", reason: text },
    { type: "run.finished", result: text },
  ];
}

describe("how an action ended, in words", () => {
  it("has its exit code or signal, all of its output and its time", () => {
    const rows: readonly (readonly [Outcome, string])[] = [
      [ended, "exit 0 · 1.5 kB · 1.5 s"],
      [{ ...ended, exitCode: 127 }, "exit 127 · 1.5 kB · 1.5 s"],
      [{ ...ended, exitCode: null, signal: "SIGKILL" }, "ended by SIGKILL · 1.5 kB · 1.5 s"],
      [{ ...ended, exitCode: null, signal: "SIGTERM", timedOut: true }, "timed out · 1.5 kB · 1.5 s"],
    ];
    for (const [outcome, words] of rows) assert.equal(outcomeWords(outcome), words);
  });

  it("counts the bytes of a value and not its characters", () => {
    assert.equal(outcomeWords({ kind: "value", text: "é€🐰" }), "9 B");
    assert.equal(outcomeWords({ kind: "value", text: "" }), "0 B");
  });

  it("shows no more of a strange signal than a signal's name has", () => {
    const words = outcomeWords({ ...ended, signal: `SIG\u001b[31m${"X".repeat(500)}` });
    assert.match(words, /^ended by SIGX{5,28}… · /);
  });
});

describe("a live event as a line", () => {
  it("is the piece of text that it adds, on one line", () => {
    assert.equal(liveSentence({ type: "model.delta", text: "a\nb", from: 0 }), "a b");
    assert.equal(liveSentence({ type: "model.thinking", text: "hm", from: 2 }), "hm");
    const chunk = "\u001b[32mok\u001b[0m\r\n";
    assert.equal(liveSentence({ type: "action.output", action: "act_1", stream: "stderr", chunk }), "ok");
  });
});
