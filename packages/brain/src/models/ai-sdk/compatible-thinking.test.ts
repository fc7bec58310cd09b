import assert from "node:assert/strict";
import { test } from "node:test";
import { thinkingExtractor, thinkingFieldsOf, thinkingOptions } from "./compatible-thinking.ts";

function fieldsOf(...deltas: readonly object[]) {
  const extractor = thinkingExtractor.createStreamExtractor();
  for (const delta of deltas) extractor.processChunk({ choices: [{ delta }] });
  return thinkingFieldsOf(extractor.buildMetadata());
}

test("the thinking goes back in the field in which it came, also when it was empty", () => {
  for (const field of ["reasoning_content", "reasoning"]) {
    const opaque = fieldsOf({ [field]: "" }, { content: "x" });
    assert.ok(opaque !== undefined);
    assert.deepEqual(thinkingOptions({ from: "m", items: [], opaque }), { openaiCompatible: { [field]: "" } });
    const items = [{ kind: "thinking", text: "so " } as const, { kind: "thinking", text: "it is" } as const];
    assert.deepEqual(thinkingOptions({ from: "m", items, opaque }), { openaiCompatible: { [field]: "so it is" } });
  }
});

test("a server without such a field gets none", () => {
  assert.equal(fieldsOf({ content: "x" }, { reasoning_content: null }), undefined);
  assert.equal(thinkingOptions({ from: "m", items: [] }), undefined);
});

test("blocks of thinking are joined piece by piece, the signature with the last one, and go back as a list", () => {
  const opaque = fieldsOf(
    { reasoning_details: [{ type: "reasoning.text", index: 0, text: "a", signature: null }] },
    { reasoning_details: [{ type: "reasoning.text", index: 0, text: "b" }] },
    { reasoning_details: [{ type: "reasoning.text", index: 0, signature: "sig" }] },
    { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "xyz" }] },
  );
  assert.ok(opaque !== undefined);
  assert.deepEqual(thinkingOptions({ from: "m", items: [], opaque }), {
    openaiCompatible: {
      reasoning_details: [
        { type: "reasoning.text", index: 0, text: "ab", signature: "sig" },
        { type: "reasoning.encrypted", index: 1, data: "xyz" },
      ],
    },
  });
});

test("rubbish in a stream is no thinking", () => {
  const extractor = thinkingExtractor.createStreamExtractor();
  for (const chunk of [undefined, null, 1, {}, { choices: 1 }, { choices: [null] }, { choices: [{ delta: [] }] }])
    extractor.processChunk(chunk);
  assert.equal(extractor.buildMetadata(), undefined);
});
