import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { headerText, mirroredHeaders, readHeaderText, readRpcMessage } from "./mcp.ts";

test("any text goes through a header and comes back, in visible ASCII", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const header = headerText(text);
      assert.match(header, /^[\x20-\x7e\t]*$/);
      assert.equal(readHeaderText(header), text);
    }),
  );
  assert.equal(headerText("us-west1"), "us-west1");
  assert.equal(headerText("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
  assert.deepEqual(mirroredHeaders("tools/call", { name: "Olá" }), {
    "mcp-method": "tools/call",
    "mcp-name": "=?base64?T2zDoQ==?=",
  });
  for (const bad of ["=?base64?/w==?=", "a\u0000b", " padded "]) assert.equal(readHeaderText(bad), undefined);
});

test("a message is a request, a notification, a result or an error, and anything else is none", () => {
  const kind = (value: object): string | undefined => readRpcMessage({ jsonrpc: "2.0", ...value })?.kind;
  assert.equal(kind({ id: 1, method: "ping" }), "request");
  assert.equal(kind({ method: "notifications/initialized" }), "notification");
  assert.equal(kind({ id: "a", result: {} }), "result");
  assert.equal(kind({ id: null, error: { code: -32_700, message: "no" } }), "error");
  for (const none of [
    {},
    { id: null, method: "ping" },
    { id: 1.5, method: "ping" },
    { id: 1, method: "x", params: [] },
  ])
    assert.equal(kind(none), undefined, JSON.stringify(none));
  assert.equal(readRpcMessage([]), undefined);
  assert.equal(readRpcMessage({ id: 1, method: "ping" }), undefined);
});

test("a text with a byte order mark, blanks at its ends or the marks of an encoding comes back as it is", () => {
  for (const text of ["\ufeffa", "\ufeff", " a", "a ", "\t", "a\r\nb", "=?base64?YQ==?=", "=?base64??=", "\0"]) {
    const header = headerText(text);
    assert.equal(header, header.trim());
    assert.equal(readHeaderText(header), text, JSON.stringify(text));
  }
});

test("a header that is no encoding of a text has none", () => {
  for (const value of [" a", "a ", "a\n", "é", "=?base64?A?=", "=?base64?/w==?=", "=?base64?gICA?="])
    assert.equal(readHeaderText(value), undefined, JSON.stringify(value));
});
