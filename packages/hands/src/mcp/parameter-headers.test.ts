import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@vidro/core";
import { hasSoundMarks, parameterHeaders } from "./parameter-headers.ts";

/** A schema whose property `region` is marked with a header. */
function marked(header: string, type = "string"): JsonObject {
  return { type: "object", properties: { region: { type, "x-mcp-header": header } } };
}

describe("parameters in headers", () => {
  it("are those that the schema marks, under the name that it gives", () => {
    assert.deepEqual(parameterHeaders(marked("Region"), { region: "eu", other: "x" }), {
      "mcp-param-region": "eu",
    });
  });

  it("are left out where the input has no value for them", () => {
    for (const input of [{}, { region: null }, { region: { a: 1 } }, { region: ["eu"] }])
      assert.deepEqual(parameterHeaders(marked("Region"), input), {});
  });

  it("carry numbers and truth values as words", () => {
    assert.deepEqual(parameterHeaders(marked("N", "integer"), { region: 5 }), { "mcp-param-n": "5" });
    assert.deepEqual(parameterHeaders(marked("B", "boolean"), { region: false }), { "mcp-param-b": "false" });
  });

  it("are found in nested objects", () => {
    const schema = {
      type: "object",
      properties: { place: { type: "object", properties: { zone: { type: "string", "x-mcp-header": "Zone" } } } },
    };
    assert.deepEqual(parameterHeaders(schema, { place: { zone: "a" } }), { "mcp-param-zone": "a" });
    assert.deepEqual(parameterHeaders(schema, { place: "a" }), {});
    assert.deepEqual(parameterHeaders(schema, {}), {});
  });

  it("cannot end a header and begin another one", () => {
    const headers = parameterHeaders(marked("Region"), { region: "eu\r\nauthorization: x" });
    for (const value of Object.values(headers)) assert.doesNotMatch(value, /[\r\n]/);
  });

  it("of letters beyond ASCII arrive as a header can carry them", () => {
    const { "mcp-param-region": value = "" } = parameterHeaders(marked("Region"), { region: "São Paulo" });
    assert.doesNotThrow(() => new Headers({ value }));
  });
});

describe("the marks of a schema", () => {
  it("are sound when there is none, or each names a header of its own for a plain value", () => {
    assert.equal(hasSoundMarks({}), true);
    assert.equal(hasSoundMarks({ type: "object", properties: { a: { type: "string" } } }), true);
    assert.equal(hasSoundMarks(marked("Region")), true);
  });

  it("are not sound when the name is no header, or the value is none of the plain kinds", () => {
    for (const header of ["", "a b", "a:b", "a\r\nb", "é"]) assert.equal(hasSoundMarks(marked(header)), false, header);
    for (const type of ["number", "object", "array", "null"])
      assert.equal(hasSoundMarks(marked("Region", type)), false, type);
  });

  it("are not sound when two name one header, in whatever case", () => {
    const property = (header: string): JsonObject => ({ type: "string", "x-mcp-header": header });
    const schema = (a: string, b: string): JsonObject => ({ properties: { a: property(a), b: property(b) } });
    assert.equal(hasSoundMarks(schema("One", "Two")), true);
    assert.equal(hasSoundMarks(schema("One", "one")), false);
  });

  it("are not sound where the protocol allows none: in lists, alternatives and definitions", () => {
    const property = { type: "string", "x-mcp-header": "A" };
    const places: readonly JsonObject[] = [
      { properties: { list: { type: "array", items: property } } },
      { anyOf: [{ properties: { a: property } }] },
      { $defs: { a: property } },
      property,
    ];
    for (const schema of places) assert.equal(hasSoundMarks(schema), false, JSON.stringify(schema));
  });

  it("that are not sound put nothing into headers", () => {
    assert.deepEqual(parameterHeaders(marked("a b"), { region: "eu" }), {});
  });
});
