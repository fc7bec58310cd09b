import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import { CODEC_LIMITS } from "@vidro/core";
import type { ModelReply } from "@vidro/core";
import { ReplyBuilder } from "./reply-builder.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

const USAGE: Finish["usage"] = {
  inputTokens: { total: 7, noCache: 4, cacheRead: 3, cacheWrite: 0 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};
const end = (unified: Finish["finishReason"]["unified"], raw?: string): Finish => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: USAGE,
});
const text = (delta: string, id = "0"): LanguageModelV4StreamPart => ({ type: "text-delta", id, delta });
const thought = (delta: string, id = "t"): LanguageModelV4StreamPart => ({ type: "reasoning-delta", id, delta });
const call = (input: string, id = "c1"): LanguageModelV4StreamPart => ({
  type: "tool-call",
  toolCallId: id,
  toolName: "shell",
  input,
});

function replyOf(parts: readonly LanguageModelV4StreamPart[], finish = end("stop"), most = 1000): ModelReply {
  const builder = new ReplyBuilder("m/1", most);
  for (const part of parts) builder.take(part);
  return builder.finish(finish);
}

test("a reply joins its text, counts its tokens and leaves out what the server did not count", () => {
  const reply = replyOf([text("The "), text("disk.")]);
  assert.deepEqual(
    [reply.model, reply.text, reply.calls, reply.usage],
    ["m/1", "The disk.", [], { inputTokens: 7, outputTokens: 5, cachedTokens: 3, thinkingTokens: 2 }],
  );
  const uncounted = { inputTokens: { total: undefined }, outputTokens: { total: undefined } } as Finish["usage"];
  assert.deepEqual(replyOf([text("x")], { ...end("stop"), usage: uncounted }).usage, {
    inputTokens: 0,
    outputTokens: 0,
  });
});

test("only text is shown while it comes; thinking and input are not", () => {
  const builder = new ReplyBuilder("m", 1000);
  assert.equal(builder.take(text("a")), "a");
  assert.equal(builder.take(thought("hm")), undefined);
  assert.equal(builder.take({ type: "tool-input-delta", id: "c1", delta: "{}" }), undefined);
  assert.equal(builder.take(call("{}")), undefined);
});

test("each way in which a server ends an answer early has its name", () => {
  const ways: readonly (readonly [Finish, string])[] = [
    [end("interrupted"), "MODEL_CUT"],
    [end("other", "pause_turn"), "MODEL_CUT"],
    [end("content-filter", "SAFETY"), "MODEL_WITHHELD"],
    [end("length", "model_context_window_exceeded"), "MODEL_CONTEXT_FULL"],
    [end("error"), "MODEL_RUBBISH"],
  ];
  for (const [finish, code] of ways) assert.throws(() => replyOf([text("half")], finish), { code });
  assert.equal(replyOf([text("half")], end("length")).cutShort, true);
  assert.equal(replyOf([text("whole")]).cutShort, undefined);
});

test("a reply without words and calls is rubbish, also when the model only thought", () => {
  for (const parts of [[], [text("  \n")], [thought("hm")]])
    assert.throws(() => replyOf(parts), { code: "MODEL_RUBBISH" });
});

test("the input of a call is an object, or the text that is none", () => {
  const inputs: readonly (readonly [string, unknown])[] = [
    ['{"a":1}', { a: 1 }],
    ["", {}],
    ["  ", {}],
    ["{broken", "{broken"],
    ["[1]", "[1]"],
    ["null", "null"],
    ['"text"', '"text"'],
  ];
  for (const [input, read] of inputs) assert.deepEqual(replyOf([call(input)]).calls[0]?.input, read, input);
});

test("an input that is nested too deeply stays text, so that no recursive code meets it", () => {
  const nested = (depth: number): string => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  const deep = nested(CODEC_LIMITS.jsonDepth + 10);
  assert.equal(replyOf([call(deep)], end("stop"), 1e6).calls[0]?.input, deep);
  assert.equal(typeof replyOf([call(nested(10))]).calls[0]?.input, "object");
  const hostile = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  assert.equal(replyOf([call(hostile)], end("stop"), 1e6).calls[0]?.input, hostile);
});

test("a call that the vendor carried out itself is none of ours", () => {
  const own = { ...call("{}"), providerExecuted: true } as LanguageModelV4StreamPart;
  assert.throws(() => replyOf([own]), { code: "MODEL_RUBBISH" });
});

test("whatever a model streams, its reply is bounded", () => {
  const most = 100;
  const floods: readonly LanguageModelV4StreamPart[] = [
    text("x".repeat(60)),
    thought("x".repeat(60)),
    { type: "tool-input-delta", id: "c", delta: "x".repeat(60) },
    { type: "reasoning-end", id: "t", providerMetadata: { v: { signature: "x".repeat(60) } } },
    { ...call("{}"), toolName: "x".repeat(60) } as LanguageModelV4StreamPart,
  ];
  for (const flood of floods)
    assert.throws(() => replyOf([flood, flood], end("stop"), most), { code: "MODEL_RUBBISH" });
  assert.throws(() => replyOf([call(JSON.stringify({ a: "x".repeat(200) }))], end("stop"), most), {
    code: "MODEL_RUBBISH",
  });
});

test("the vendor's data of a part is one object of its start, its pieces and its end", () => {
  const { parts } = replyOf([
    { type: "reasoning-start", id: "t", providerMetadata: { v: { id: "r1" } } },
    thought("let me "),
    thought("see"),
    { type: "reasoning-end", id: "t", providerMetadata: { v: { signature: "s" }, w: { x: 1 } } },
    text("Yes."),
  ]);
  assert.deepEqual(parts?.items, [
    { kind: "thinking", text: "let me see", opaque: { v: { id: "r1", signature: "s" }, w: { x: 1 } } },
    { kind: "text", text: "Yes." },
  ]);
});

test("parts stay in the order in which they came, also when two grow in turn", () => {
  const { parts } = replyOf([thought("a"), text("1", "x"), thought("b"), text("2", "y"), text("3", "x"), call("{}")]);
  assert.deepEqual(
    parts?.items.map((part) => (part.kind === "call" ? part.callId : part.text)),
    ["ab", "13", "2", "c1"],
  );
});

test("the text of a reply is what was shown of it, in any pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.string({ maxLength: 5 })), { maxLength: 30 }), (pieces) => {
      const builder = new ReplyBuilder("m", 1000);
      const shown = pieces.map(([isText, words]) => builder.take(isText ? text(words) : thought(words)) ?? "").join("");
      builder.take(call("{}"));
      assert.equal(builder.finish(end("tool-calls")).text, shown);
    }),
  );
});
