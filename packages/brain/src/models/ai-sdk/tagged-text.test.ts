import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelEvent, ModelReply, ModelRequest } from "@vidro/core";
import { callsAfter, fakeOpenAi, text } from "../../../../../tests/support/fake-openai.ts";
import type { FakeReply } from "../../../../../tests/support/fake-openai.ts";
import { aiSdkModel } from "../ai-sdk.ts";
import { REQUEST } from "../model.contract.ts";
import { openCompatible } from "../open-model.ts";

/* Thinking and calls that a model writes into its text; each text comes whole, by characters and in odd pieces. */

/** What a reply comes to. */
interface Reading {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly (readonly [tool: string, input: unknown])[];
}

const CALL = '{"name": "read_folder", "arguments": {"dir_path": "src"}}';
const CALLED: Reading["calls"] = [["read_folder", { dir_path: "src" }]];

const ROWS: { readonly [what: string]: readonly [written: string, reading: Partial<Reading>] } = {
  "thinking before words": ["<think>\nhm, < 3\n</think>\n\nYes.", { thought: "\nhm, < 3\n", text: "Yes." }],
  "thinking by its long tag": ["<thinking>hm</thinking>Yes.", { thought: "hm", text: "Yes." }],
  "thinking that the prompt has opened": [
    "hm, let me\nsee\n</think>\nYes.",
    { thought: "hm, let me\nsee\n", text: "Yes." },
  ],
  "a call": [`<tool_call>\n${CALL}\n</tool_call>`, { calls: CALLED }],
  "thinking, words and a call": [
    `<think>look</think>I look.\n<tool_call>${CALL}</tool_call>`,
    { thought: "look", text: "I look.", calls: CALLED },
  ],
  "a call in the middle of a line": [`I look: <tool_call>${CALL}</tool_call>`, { text: "I look:", calls: CALLED }],
  "a call without an end": [`<tool_call>\n${CALL}`, { calls: CALLED }],
  "a call in a fence": [
    `Look:\n\`\`\`xml\n<tool_call>\n${CALL}\n</tool_call>\n\`\`\`\n`,
    { text: "Look:", calls: CALLED },
  ],
  "a fence in a call": [`<tool_call>\n\`\`\`json\n${CALL}\n\`\`\`\n</tool_call>`, { calls: CALLED }],
  "the closing tag in an argument": [
    '<tool_call>{"name":"read_folder","arguments":{"dir_path":"</tool_call>"}}</tool_call>',
    { calls: [["read_folder", { dir_path: "</tool_call>" }]] },
  ],
  "two calls": [`<tool_call>${CALL}</tool_call>\n<tool_call>${CALL}</tool_call>`, { calls: [...CALLED, ...CALLED] }],
  "a second call without an end of the first": [
    `<tool_call>${CALL}\n<tool_call>${CALL}`,
    { calls: [...CALLED, ...CALLED] },
  ],
  "a call by parameters in tags": [
    "<tool_call>\n<function=read_folder>\n<parameter=dir_path>\nsrc\n</parameter>\n</function>\n</tool_call>",
    { calls: CALLED },
  ],
  "a call by keys and values": [
    "<tool_call>read_folder\n<arg_key>dir_path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>",
    { calls: CALLED },
  ],
  "a call in thinking without an end": [
    `<think>I look.\n<tool_call>${CALL}</tool_call>`,
    { thought: `I look.\n<tool_call>${CALL}</tool_call>`, calls: CALLED },
  ],
  "arguments that are no JSON": [
    '<tool_call>{"name": "read_folder", "arguments": {"dir_path": src}}</tool_call>',
    { calls: [["read_folder", '{"dir_path": src}}']] },
  ],
  "a call of a tool that is not there": [
    '<tool_call>{"name": "other", "arguments": {}}</tool_call> is how.',
    { text: '<tool_call>{"name": "other", "arguments": {}}</tool_call> is how.' },
  ],
  "tags that are spoken of": [
    "Use `<tool_call>` and the <think> tag, a < b.",
    { text: "Use `<tool_call>` and the <think> tag, a < b." },
  ],
};

const piecesOf = (written: string, size: number): readonly string[] =>
  written.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];

async function readingOf(
  reply: FakeReply,
  request: ModelRequest = REQUEST,
): Promise<Reading & { events: ModelEvent[] }> {
  const fake = await fakeOpenAi(reply);
  const model = aiSdkModel({ name: "local", load: () => openCompatible("local", { url: fake.url }) });
  const events = await Array.fromAsync(model.call(request, new AbortController().signal));
  await fake.close();
  const last = events.at(-1);
  assert.equal(last?.type, "replied", JSON.stringify(last));
  const { text: words, calls: made, parts } = (last as { readonly reply: ModelReply }).reply;
  const thoughts = parts?.items.flatMap((part) => (part.kind === "thinking" ? [part.text] : [])) ?? [];
  return {
    text: words.trim(),
    thought: thoughts.join(""),
    calls: made.map(({ tool, input }) => [tool, input]),
    events,
  };
}

for (const [what, [written, expected]] of Object.entries(ROWS)) {
  test(`a model that writes what it thinks and calls: ${what}`, async () => {
    for (const size of [written.length, 7, 1]) {
      const { events, ...reading } = await readingOf(text(...piecesOf(written, size)));
      assert.deepEqual(reading, { text: "", thought: "", calls: [], ...expected }, `in pieces of ${size}`);
      if (what.includes("the prompt has opened")) continue;
      const streamed = events.flatMap((event) => (event.type === "delta" ? [event.text] : [])).join("");
      assert.equal(streamed.trim(), reading.text, "the words join to the reply");
    }
  });
}

test("the text of a model that calls natively is prose: in the same reply, and later in the run", async () => {
  const example = `<tool_call>${CALL}</tool_call>`;
  const later = await readingOf(text(example), { ...REQUEST, native: true });
  assert.deepEqual([later.text, later.calls], [example, []]);
  const call = { id: "c1", name: "read_folder", input: "{}" };
  const { calls: made, text: words } = await readingOf(callsAfter([example], call));
  assert.deepEqual([words, made], [example, [["read_folder", {}]]]);
});

test("thinking between tags goes back between its tags, and a written call as a call", async () => {
  const fake = await fakeOpenAi(text("Done."));
  const model = aiSdkModel({ name: "local", load: () => openCompatible("local", { url: fake.url }) });
  const action = { id: "act_1", tool: "read_folder", input: { dir_path: "src" }, callId: "call_1" };
  const items = [
    { kind: "thinking", text: "hm", opaque: { written: { tag: "think" } } },
    { kind: "call", callId: "call_1", tool: "read_folder" },
  ] as const;
  const turns: ModelRequest["turns"] = [
    { role: "user", text: "look" },
    { role: "assistant", text: "", action, parts: { from: "local", items } },
    { role: "tool", callId: "call_1", tool: "read_folder", text: "a.ts", failed: false },
  ];
  await Array.fromAsync(model.call({ ...REQUEST, turns }, new AbortController().signal));
  const [request] = fake.requests;
  await fake.close();
  const sent = JSON.stringify(request?.body["messages"]);
  assert.ok(sent.includes("<think>hm</think>") && sent.includes('"tool_calls"'), sent);
  assert.ok(!sent.includes("reasoning_content"), sent);
});
