import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOUNT_LIMITS } from "@vidro/core";
import type { JsonObject, Json } from "@vidro/core";
import { outcomeOfResult } from "./tool-outcome.ts";

/** The text of a result with these parts. */
function textOf(...content: Json[]): string {
  const outcome = outcomeOfResult({ content });
  assert.equal(outcome.kind, "value");
  return outcome.kind === "value" ? outcome.text : "";
}

describe("the outcome of a call at an MCP server", () => {
  it("is the text of its parts, a line each", () => {
    assert.equal(textOf({ type: "text", text: "one" }, { type: "text", text: "two" }), "one\ntwo");
    assert.equal(textOf(), "");
  });

  it("names parts that are no text, with their size", () => {
    const data = Buffer.from("12345").toString("base64");
    assert.equal(textOf({ type: "image", mimeType: "image/png", data }), "[image image/png, 5 bytes]");
    assert.equal(textOf({ type: "audio", mimeType: "audio/wav", data }), "[audio audio/wav, 5 bytes]");
    assert.equal(textOf({ type: "image" }), "[image unnamed]");
    assert.equal(textOf({ type: "resource_link", uri: "file:///a" }), "[resource file:///a]");
    assert.equal(textOf({ type: "resource", resource: { uri: "file:///a", blob: data } }), "[resource file:///a]");
    assert.equal(textOf({ type: "resource", resource: { uri: "file:///a", text: "inside" } }), "inside");
  });

  it("takes no harm from parts that are nothing", () => {
    assert.equal(textOf(null, 1, "x", [], {}), "\n\n\n\n[unnamed unnamed]");
    for (const content of [null, "x", 5, {}])
      assert.deepEqual(outcomeOfResult({ content }), { kind: "value", text: "" });
  });

  it("bounds the words that name a part", () => {
    const text = textOf({ type: "resource_link", uri: "u".repeat(100_000) });
    assert.ok(text.length < 1000);
  });

  it("carries structured content as data, and as text when there is no other", () => {
    const structuredContent = { free: 5 };
    assert.deepEqual(outcomeOfResult({ content: [{ type: "text", text: "5" }], structuredContent }), {
      kind: "value",
      text: "5",
      data: { free: 5 },
    });
    assert.deepEqual(outcomeOfResult({ structuredContent }), { kind: "value", text: '{"free":5}', data: { free: 5 } });
  });

  it("leaves out structured content over the bound, and says how much text was cut", () => {
    const large = "x".repeat(MOUNT_LIMITS.resultChars + 7);
    const outcome = outcomeOfResult({ content: [{ type: "text", text: large }], structuredContent: { large } });
    assert.equal(outcome.kind, "value");
    if (outcome.kind !== "value") return;
    assert.equal("data" in outcome, false);
    assert.match(outcome.text.slice(-60), /x\n\[7 more characters were cut\]$/);
    assert.equal(outcome.text.indexOf("\n"), MOUNT_LIMITS.resultChars);
  });

  it("of a call that failed is a fault with the server's words", () => {
    const failed = (content: Json): JsonObject => ({ isError: true, content });
    assert.throws(() => outcomeOfResult(failed([{ type: "text", text: "no such file" }])), {
      code: "TOOL_FAILED",
      message: "no such file",
    });
    assert.throws(() => outcomeOfResult(failed([])), { message: "The server says that it failed." });
    assert.throws(
      () => outcomeOfResult(failed([{ type: "text", text: "x".repeat(100_000) }])),
      ({ message }: Error) => message.length <= 8000,
    );
  });

  it("is no failure when the server says anything but true", () => {
    for (const isError of [false, null, "true", 1])
      assert.equal(outcomeOfResult({ isError, content: [] }).kind, "value");
  });
});
