import assert from "node:assert/strict";
import { test } from "node:test";
import { FOLLOW_LIMITS } from "@vidro/core";
import type { Entry, Event, JsonObject } from "@vidro/core";
import { isAnswered } from "./repeated-answer.ts";

const ACTION = { id: "act_1", callId: "c1", tool: "command", input: { command: "rm", args: ["-r", "build"] } };

const replied = (input: JsonObject = ACTION.input): Event => ({
  type: "model.replied",
  model: "m",
  text: "",
  usage: { inputTokens: 1, outputTokens: 1 },
  action: { ...ACTION, input },
});
const asked = (id = "q_1"): Event => ({
  type: "question.asked",
  id,
  text: "May it run?",
  options: ["yes", "no", "yes, changed"],
  about: { kind: "approval", hash: "h", hand: "local" } as never,
  expiresAt: 9,
});
const answered = (answer: string, more: { id?: string; by?: string; input?: JsonObject } = {}): Event => ({
  type: "question.answered",
  id: "q_1",
  answer,
  by: "ana",
  ...more,
});

/** A journal with these events. */
function journalOf(...events: readonly Event[]): Parameters<typeof isAnswered>[0] {
  const entries = events.map((event, index): Entry => ({ seq: index + 1, at: 1, event }));
  return { read: async (_, after, limit) => entries.slice(after, after + (limit ?? entries.length)) };
}

const GIVEN = { question: "q_1", text: "yes" };

test("the same answer to the same question was given, another one was not", async () => {
  const journal = journalOf(replied(), asked(), answered("yes"));
  assert.equal(await isAnswered(journal, "r", GIVEN), true);
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, text: " YES " }), true);
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, text: "no" }), false);
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, text: "perhaps" }), false);
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, question: "q_2" }), false);
});

test("a question that is open, or that no person answered, was not answered", async () => {
  assert.equal(await isAnswered(journalOf(replied(), asked()), "r", GIVEN), false);
  assert.equal(await isAnswered(journalOf(), "r", GIVEN), false);
  const { by: _, ...byNobody } = answered("yes") as Extract<Event, { type: "question.answered" }>;
  assert.equal(await isAnswered(journalOf(replied(), asked(), byNobody as Event), "r", GIVEN), false);
});

test("a yes with the same change was given, one with another change was not", async () => {
  const changed = { command: "rm", args: ["-r", "dist"] };
  const journal = journalOf(replied(), asked(), answered("yes, changed", { input: changed }));
  const given = (input: JsonObject) => isAnswered(journal, "r", { ...GIVEN, input });
  assert.equal(await given({ args: ["-r", "dist"] }), true);
  assert.equal(await given(changed), true);
  assert.equal(await given({ args: ["-r", "/"] }), false);
  assert.equal(await given({ args: null }), false);
  assert.equal(await isAnswered(journal, "r", GIVEN), false, "a plain yes is another answer");
});

test("a change that changes nothing is the plain yes that is on record", async () => {
  const journal = journalOf(replied(), asked(), answered("yes"));
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, input: { args: ["-r", "build"] } }), true);
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, input: { args: ["-r", "dist"] } }), false);
});

test("each of several questions has its own answer, however far in the journal it is", async () => {
  const notes = Array.from({ length: FOLLOW_LIMITS.batch }, (): Event => ({ type: "note.observed", note: "n" }));
  const journal = journalOf(
    replied(),
    asked("q_1"),
    answered("no"),
    ...notes,
    replied({ command: "ls" }),
    asked("q_2"),
    answered("yes, changed", { id: "q_2", input: { command: "pwd" } }),
  );
  assert.equal(await isAnswered(journal, "r", GIVEN), false);
  assert.equal(await isAnswered(journal, "r", { ...GIVEN, text: "no" }), true);
  assert.equal(await isAnswered(journal, "r", { question: "q_2", text: "yes", input: { command: "pwd" } }), true);
  assert.equal(await isAnswered(journal, "r", { question: "q_2", text: "yes", input: { command: "id" } }), false);
});

test("a journal that ends with a full batch is read to its end", async () => {
  const notes = Array.from({ length: FOLLOW_LIMITS.batch - 1 }, (): Event => ({ type: "note.observed", note: "n" }));
  assert.equal(await isAnswered(journalOf(replied(), ...notes), "r", GIVEN), false);
  assert.equal(await isAnswered(journalOf(...notes.slice(2), replied(), asked(), answered("yes")), "r", GIVEN), true);
});
