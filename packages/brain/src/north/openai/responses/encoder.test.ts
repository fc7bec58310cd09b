import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Event, JsonObject, LiveEvent } from "@vidro/core";
import { AnswerText } from "../answer.ts";
import { ResponseEncoder } from "./encoder.ts";
import { outputItems } from "./shape.ts";

const ANSWERING = {
  run: "run_1",
  after: 0,
  tools: [],
  model: "bunny",
  at: 1_700_000_000_000,
  echo: { reasoning: { effort: null, summary: "auto" } },
} as const;

type Live = Extract<LiveEvent, { readonly type: "model.thinking" | "model.delta" }>;
const thinks = (text: string, from = 0): Live => ({ type: "model.thinking", text, from });
const says = (text: string): Live => ({ type: "model.delta", text, from: 0 });
const replied = (thought: string, text: string): Event => ({
  type: "model.replied",
  model: "m",
  text,
  parts: { from: "m", items: [{ kind: "thinking", text: thought }] },
  usage: { inputTokens: 2, outputTokens: 1 },
});

/** The events of a stream that is given entries and live events. */
function streamed(what: readonly (Event | Live)[]): readonly JsonObject[] {
  const encoder = new ResponseEncoder(ANSWERING);
  let pieces = encoder.begin();
  for (const [index, event] of what.entries()) {
    const isLive = event.type === "model.thinking" || event.type === "model.delta";
    pieces += (isLive ? encoder.live(event) : encoder.entry(entryOf(index, event))) ?? "";
  }
  return pieces
    .split("\n\n")
    .flatMap((piece) => /^data: (.*)$/m.exec(piece)?.[1] ?? [])
    .map((data) => JSON.parse(data) as JsonObject);
}

const entryOf = (index: number, event: Event): Entry => ({ seq: index + 1, at: 0, event });

/** The output of the response that ends a stream. */
function lastOutput(events: readonly JsonObject[]): readonly JsonObject[] {
  const { response } = events.at(-1) as { readonly response: { readonly output: readonly JsonObject[] } };
  return response.output;
}

/** The items as a stream tells them one by one, each held to have been opened at its place when none other was open. */
function toldItems(events: readonly JsonObject[]): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let open: unknown;
  for (const { type, item, output_index: index } of events) {
    if (type !== "response.output_item.added" && type !== "response.output_item.done") continue;
    const { id } = item as JsonObject;
    assert.deepEqual([index, open], [items.length, type === "response.output_item.added" ? undefined : id]);
    open = type === "response.output_item.added" ? id : undefined;
    if (open === undefined) items.push(item as JsonObject);
  }
  return items;
}

const texts = (items: readonly JsonObject[]): readonly unknown[] =>
  items.map(({ type, summary, content }) => [type, ((summary ?? content) as { text: string }[])[0]?.text]);

const STEPS: readonly Event[] = [
  replied("I look.", ""),
  replied("I see.", "Red."),
  replied("I doubt.", "Or blue."),
  { type: "run.finished", result: "Or blue." },
];
const ITEMS = [
  ["reasoning", "I look."],
  ["reasoning", "I see."],
  ["message", "Red.\n\nOr blue."],
  ["reasoning", "I doubt."],
];

test("thinking is one item for each reply, the same in a stream, in a stream from the journal, and whole", () => {
  const live = [
    thinks("I "),
    thinks("look.", 2),
    STEPS[0]!,
    thinks("I see."),
    says("Red."),
    STEPS[1]!,
    thinks("I dou"),
    says("Or blue."),
    ...STEPS.slice(2),
  ];
  const words = new AnswerText();
  for (const event of STEPS) words.add({ event });
  const whole = outputItems(ANSWERING, { ending: { finish: "stop", text: "Or blue." }, words });
  assert.deepEqual(texts(whole), ITEMS);
  for (const events of [streamed(live), streamed(STEPS)]) {
    assert.deepEqual(lastOutput(events), whole);
    assert.deepEqual(toldItems(events), whole);
  }
});

test("thinking of a reply that broke off is closed before that of the next one", () => {
  const cut: Event = { type: "model.failed", attempt: 1, fault: { code: "MODEL_CUT", message: "cut" } };
  const events = streamed([thinks("Hm"), cut, thinks("Well."), replied("Well.", "Yes."), STEPS[3]!]);
  const items = texts(toldItems(events));
  assert.deepEqual(items.slice(0, 2), [
    ["reasoning", "Hm"],
    ["reasoning", "Well."],
  ]);
  assert.deepEqual(texts(lastOutput(events)), items);
});

test("who asks for no summary sees no thinking", () => {
  const words = new AnswerText();
  for (const event of STEPS) words.add({ event });
  const whole = { ending: { finish: "stop", text: "Or blue." }, words } as const;
  assert.deepEqual(texts(outputItems({ ...ANSWERING, echo: {} }, whole)), [["message", "Red.\n\nOr blue."]]);
});
