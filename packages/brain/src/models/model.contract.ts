import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Model, ModelEvent, ModelRequest } from "@vidro/core";

/** A small request that every model can take. */
export const REQUEST: ModelRequest = {
  system: "You are brief.",
  turns: [{ role: "user", text: "list the files" }],
  tools: [
    {
      name: "read_folder",
      description: "Lists a folder.",
      parameters: { type: "object", properties: { dir_path: { type: "string" } } },
      idempotent: true,
    },
  ],
};

/** Everything that a call gives, in order. */
export async function eventsOf(
  model: Model,
  request: ModelRequest = REQUEST,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.call(request, signal)) events.push(event);
  return events;
}

/** The last event of a call, which has to be its only terminal one. */
export function terminalOf(events: readonly ModelEvent[]): ModelEvent {
  const terminal = events.filter((event) => event.type === "replied" || event.type === "failed");
  assert.equal(terminal.length, 1, `one terminal event, not ${JSON.stringify(events.map((event) => event.type))}`);
  const last = events.at(-1);
  assert.ok(last);
  assert.equal(last, terminal[0], "the terminal event is the last one");
  return last;
}

/** A model that answers, and a way to clean up after it. */
export interface Opened {
  readonly model: Model;
  readonly close: () => Promise<void>;
}

/** What every Model promises; `open` gives a fresh one for each test. */
export function modelContract(title: string, open: () => Promise<Opened>): void {
  const having = async (work: (model: Model) => Promise<void>): Promise<void> => {
    const { model, close } = await open();
    try {
      await work(model);
    } finally {
      await close();
    }
  };

  suite(`${title} keeps the contract of a Model`, () => {
    test("it has a name", () => having(async (model) => assert.notEqual(model.name, "")));

    test("a call ends with one reply that names the model and counts its tokens", () =>
      having(async (model) => {
        const last = terminalOf(await eventsOf(model));
        assert.equal(last.type, "replied");
        assert.ok(last.reply.text !== "" || last.reply.calls.length > 0);
        assert.ok(model.name.split(",").includes(last.reply.model));
        assert.ok(last.reply.usage.inputTokens >= 0 && last.reply.usage.outputTokens >= 0);
      }));

    test("the deltas add up to the words of the reply", () =>
      having(async (model) => {
        const events = await eventsOf(model);
        const last = terminalOf(events);
        const words = events.map((event) => (event.type === "delta" ? event.text : "")).join("");
        if (words !== "") assert.equal(last.type === "replied" && last.reply.text, words);
      }));

    test("invariant 5: a call that was aborted before it began ends with one failure", () =>
      having(async (model) => {
        const last = terminalOf(await eventsOf(model, REQUEST, AbortSignal.abort()));
        assert.equal(last.type, "failed");
      }));

    test("invariant 5: a call that is aborted at its first event ends with one terminal event", () =>
      having(async (model) => {
        const controller = new AbortController();
        const events: ModelEvent[] = [];
        for await (const event of model.call(REQUEST, controller.signal)) {
          events.push(event);
          controller.abort();
        }
        terminalOf(events);
      }));

    test("a conversation with calls, results and empty turns is taken", () =>
      having(async (model) => {
        const action = { id: "act_1", tool: "read_folder", input: { dir_path: "." }, callId: "call_1" };
        const turns = [
          ...REQUEST.turns,
          { role: "assistant", text: "", action },
          { role: "tool", callId: "call_1", tool: "read_folder", text: "a.txt", failed: false },
          { role: "assistant", text: "" },
          { role: "user", text: "list the files" },
        ] as const;
        terminalOf(await eventsOf(model, { system: "", turns, tools: REQUEST.tools }));
      }));

    test("calls at the same time do not disturb each other", () =>
      having(async (model) => {
        const all = await Promise.all([eventsOf(model), eventsOf(model), eventsOf(model)]);
        for (const events of all) assert.equal(terminalOf(events).type, "replied");
      }));

    test("a reader that stops reading ends the call", () =>
      having(async (model) => {
        for await (const event of model.call(REQUEST, new AbortController().signal)) {
          assert.ok(event);
          break;
        }
      }));
  });
}
