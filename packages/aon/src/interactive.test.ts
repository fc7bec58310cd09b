import assert from "node:assert/strict";
import { test } from "node:test";
import type { AonEvent } from "./event.ts";
import { healingQuestions } from "./interactive.ts";
import type { HealingQuestions } from "./interactive.ts";
import { QUESTION_LIMITS } from "./limits.ts";
import { readAon } from "./read.ts";
import { stage, typesOf } from "./stage.fixture.ts";

/** A server whose one operation fails, perhaps after its effect, until it is told to try again. */
function paying(questions: HealingQuestions, effects: number[]) {
  return stage(
    async (aon, request, response) => {
      if (request.method === "POST") {
        const [id = "", answer = ""] = (request.url ?? "").slice(1).split("/");
        response.statusCode = questions.answer(id, answer) ? 200 : 404;
        return response.json?.({});
      }
      const paid = await aon.heal({
        name: "pay",
        run({ attempt }) {
          effects.push(attempt);
          if (attempt === 1) throw Object.assign(new Error("The line went dead."), { code: "ECONNRESET" });
          return { paid: true };
        },
      });
      response.json?.(paid);
    },
    { questions },
  );
}

const INTERACTIVE = { Accept: "application/x-ndjson", "X-Crystal-Mode": "interactive" };

test("001-31: in interactive mode a stuck healing asks a person and goes on as the answer says", async () => {
  for (const [answer, last] of [
    ["retry", "result"],
    ["escalate", "error"],
  ] as const) {
    const effects: number[] = [];
    await using server = await paying(healingQuestions(), effects);
    const events: AonEvent[] = [];
    for await (const event of readAon(await fetch(server.url, { headers: INTERACTIVE }))) {
      events.push(event);
      if (event.type !== "interactive_healing_request") continue;
      assert.deepEqual([event.options, event.timeout_ms], [["retry", "escalate"], 30_000]);
      assert.match(event.description, /may already have had its effect/);
      assert.equal((await fetch(`${server.url}${event.healing_id}/nonsense`, { method: "POST" })).status, 404);
      assert.equal((await fetch(`${server.url}heal_unknown/retry`, { method: "POST" })).status, 404);
      assert.equal((await fetch(`${server.url}${event.healing_id}/${answer}`, { method: "POST" })).status, 200);
    }
    assert.equal(typesOf(events).at(-1), last);
    assert.deepEqual(effects, answer === "retry" ? [1, 2] : [1]);
  }
});

test("001-31: no answer in time is an escalation", async () => {
  const effects: number[] = [];
  await using server = await paying(healingQuestions(30), effects);
  const events = await Array.fromAsync(readAon(await fetch(server.url, { headers: INTERACTIVE })));
  assert.ok(typesOf(events).includes("interactive_healing_request"));
  assert.equal(typesOf(events).at(-1), "error");
  assert.deepEqual(effects, [1]);
  assert.equal(QUESTION_LIMITS.answerMs, 30_000);
});

test("001-31: without the header, or in a black box, no question is asked", async () => {
  await using server = await paying(healingQuestions(), []);
  const events = await Array.fromAsync(
    readAon(await fetch(server.url, { headers: { Accept: "application/x-ndjson" } })),
  );
  assert.ok(!typesOf(events).includes("interactive_healing_request"));
  const black = await fetch(server.url, { headers: { "X-Crystal-Mode": "interactive" } });
  assert.equal(black.status, 503);
});

test("questions are bounded and end when no client waits for the answer any more", async () => {
  const questions = healingQuestions(60_000);
  const control = new AbortController();
  const ask = (): Promise<string> =>
    questions.ask({ description: "d", options: ["retry"] }, () => undefined, control.signal);
  const open = Array.from({ length: QUESTION_LIMITS.open }, ask);
  assert.equal(await ask(), "escalate");
  control.abort();
  assert.deepEqual([...new Set(await Promise.all(open))], ["escalate"]);
});
