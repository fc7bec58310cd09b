import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelRequest, ReplyParts, Turn } from "@vidro/core";
import { callOptions, COMPATIBLE } from "./prompt.ts";

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: "Be brief.",
  turns: [],
  tools: [],
  ...more,
});
const TOOL = { name: "echo", description: "Says it.", parameters: { type: "object" }, idempotent: true } as const;
const action = { id: "act_1", tool: "echo", input: { words: "a" }, callId: "c1" };
const result = (callId: string, failed = false): Turn => ({ role: "tool", callId, tool: "echo", text: "out", failed });
const optionsOf = (more: Partial<ModelRequest>, model: Partial<Parameters<typeof callOptions>[1]> = {}) =>
  callOptions(request(more), { name: "v/m", ...model });
const turnsIn = (turns: readonly Turn[]) => optionsOf({ turns }).prompt.slice(1) as unknown as readonly object[];

test("only what is there is sent: no empty system text, no empty list of tools, no setting that was not made", () => {
  const { prompt, ...rest } = callOptions(request({ system: "" }), { name: "m" });
  assert.deepEqual(prompt, []);
  assert.deepEqual(rest, { providerOptions: { openai: {}, [COMPATIBLE]: {} } });
});

test("each setting of sampling has its name at the SDK", () => {
  const {
    prompt: _,
    providerOptions,
    ...rest
  } = optionsOf({
    sampling: {
      temperature: 0,
      topP: 0.5,
      maxTokens: 10,
      stop: ["x"],
      frequencyPenalty: 0,
      presencePenalty: 1,
      seed: 0,
      reasoning: "low",
      verbosity: "high",
      repeatPenalty: 1.1,
      format: { schema: { type: "object" }, name: "shape" },
      vendor: { user: "ana", prompt_cache_key: "k", unheard_of: "x" },
    },
  });
  assert.deepEqual(rest, {
    temperature: 0,
    topP: 0.5,
    maxOutputTokens: 10,
    stopSequences: ["x"],
    frequencyPenalty: 0,
    presencePenalty: 1,
    seed: 0,
    reasoning: "low",
    responseFormat: { type: "json", schema: { type: "object" }, name: "shape" },
  });
  assert.deepEqual(providerOptions, {
    openai: { textVerbosity: "high", user: "ana", promptCacheKey: "k" },
    [COMPATIBLE]: { textVerbosity: "high", repeat_penalty: 1.1 },
  });
});

test("settings of a vendor stay beside those of the request", () => {
  const own = { anthropic: { cacheControl: { type: "ephemeral" } }, openai: { store: false } };
  const { providerOptions } = optionsOf({ sampling: { verbosity: "low" } }, { providerOptions: own });
  assert.deepEqual(providerOptions?.["anthropic"], own.anthropic);
  assert.deepEqual(providerOptions?.["openai"], { store: false, textVerbosity: "low" });
});

test("a forced call is asked for in words only where the vendor refuses it; none stays none", () => {
  const tools = [TOOL];
  assert.deepEqual(optionsOf({ tools, choice: "required" }).toolChoice, { type: "required" });
  assert.deepEqual(optionsOf({ tools, choice: { tool: "echo" } }).toolChoice, { type: "tool", toolName: "echo" });
  assert.equal(optionsOf({ tools, choice: "required" }, { refusesForcedTools: true }).toolChoice, undefined);
  assert.deepEqual(optionsOf({ tools, choice: "none" }, { refusesForcedTools: true }).toolChoice, { type: "none" });
  assert.equal(optionsOf({ tools: [], choice: "required" }).toolChoice, undefined, "without tools there is no choice");
});

test("all results of a reply's calls are in one message", () => {
  const all = turnsIn([
    { role: "user", text: "hi" },
    { role: "assistant", text: "I look.", action },
    result("c1"),
    result("c2", true),
    { role: "assistant", text: "Done." },
  ]);
  assert.deepEqual(
    all.map((message) => (message as { role: string }).role),
    ["user", "assistant", "tool", "assistant"],
  );
  const { content } = all[2] as { content: readonly { toolCallId: string; output: { type: string } }[] };
  assert.deepEqual(
    content.map(({ toolCallId, output }) => [toolCallId, output.type]),
    [
      ["c1", "text"],
      ["c2", "error-text"],
    ],
  );
});

test("an assistant that said and did nothing has no message", () => {
  assert.deepEqual(turnsIn([{ role: "assistant", text: "" }]), []);
  assert.deepEqual(turnsIn([{ role: "assistant", text: "", parts: { from: "v/m", items: [] } }]), []);
});

const parts = (from: string): ReplyParts => ({
  from,
  items: [
    { kind: "thinking", text: "hm", opaque: { v: { signature: "s" } } },
    { kind: "text", text: "I look." },
    { kind: "call", callId: "c1", tool: "echo", opaque: { v: { id: 1 } } },
  ],
});

test("the model that made a reply gets its parts as they came, with the input of its action", () => {
  const [message] = turnsIn([{ role: "assistant", text: "I look.", action, parts: parts("v/m") }]);
  assert.deepEqual((message as { content: unknown }).content, [
    { type: "reasoning", text: "hm", providerOptions: { v: { signature: "s" } } },
    { type: "text", text: "I look." },
    {
      type: "tool-call",
      toolCallId: "c1",
      toolName: "echo",
      input: { words: "a" },
      providerOptions: { v: { id: 1 } },
    },
  ]);
});

test("another model gets the words and calls, and nothing that only their maker can read", () => {
  const [message] = turnsIn([{ role: "assistant", text: "I look.", action, parts: parts("w/other") }]);
  assert.deepEqual((message as { content: unknown }).content, [
    { type: "text", text: "I look." },
    { type: "tool-call", toolCallId: "c1", toolName: "echo", input: { words: "a" } },
  ]);
});

test("thinking that was written between tags goes back between them", () => {
  const written: ReplyParts = {
    from: "v/m",
    items: [
      { kind: "thinking", text: "hm", opaque: { written: { tag: "think" } } },
      { kind: "text", text: "Yes." },
    ],
  };
  const [message] = turnsIn([{ role: "assistant", text: "Yes.", parts: written }]);
  assert.deepEqual((message as { content: unknown }).content, [
    { type: "text", text: "<think>hm</think>\n" },
    { type: "text", text: "Yes." },
  ]);
});
