import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import { definitionOf, ToolPins } from "./pins.ts";

const TOOL = {
  name: "read",
  description: "Reads a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  annotations: { readOnlyHint: true },
};

describe("the definition of a tool", () => {
  it("is the same for the same words in another order of fields", () => {
    const turned = {
      annotations: { readOnlyHint: true },
      inputSchema: { properties: { path: { type: "string" } }, type: "object" },
      description: "Reads a file.",
      name: "read",
    };
    assert.equal(definitionOf(turned), definitionOf(TOOL));
    assert.match(definitionOf(TOOL), /^[0-9a-f]{64}$/);
  });

  it("is another one as soon as anything that the server says is another", () => {
    const others = [
      { ...TOOL, name: "read2" },
      { ...TOOL, description: "Reads a file. " },
      { ...TOOL, inputSchema: { type: "object", properties: { path: { type: "number" } } } },
      { ...TOOL, annotations: {} },
      { ...TOOL, annotations: { readOnlyHint: false } },
    ];
    const hashes = new Set([TOOL, ...others].map((tool) => definitionOf(tool)));
    assert.equal(hashes.size, others.length + 1);
  });
});

describe("pinned definitions", () => {
  it("are found by the name of the tool, also by another process that reads the file", (t) => {
    const file = join(scratch(t), "pins.json");
    const pins = new ToolPins(file);
    assert.equal(pins.find("a"), undefined);
    pins.pin({ a: "1" });
    pins.pin({ b: "2" });
    const again = new ToolPins(file);
    assert.deepEqual([again.find("a"), again.find("b"), again.find("c")], ["1", "2", undefined]);
    again.pin({ a: "3" });
    assert.equal(pins.find("a"), "3");
  });

  it("are kept in a file that only its user reads, and nothing else is left beside it", (t) => {
    const file = join(scratch(t), "pins.json");
    new ToolPins(file).pin({ a: "1" });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { a: "1" });
  });

  it("of a damaged file are not taken for missing ones: it is named, with what to do", (t) => {
    const file = join(scratch(t), "pins.json");
    for (const damage of ["", "{", "[]", '"a"', "null"]) {
      writeFileSync(file, damage);
      assert.throws(
        () => new ToolPins(file).find("a"),
        (thrown: { code: string; message: string }) =>
          thrown.code === "BAD_REQUEST" && thrown.message.includes(file) && thrown.message.includes("Delete it"),
        JSON.stringify(damage),
      );
      assert.throws(() => new ToolPins(file).pin({ a: "1" }), { code: "BAD_REQUEST" });
      assert.equal(readFileSync(file, "utf8"), damage);
    }
  });

  it("that are no text count as never seen", (t) => {
    const file = join(scratch(t), "pins.json");
    writeFileSync(file, JSON.stringify({ a: 1, b: null, c: "x" }));
    const pins = new ToolPins(file);
    assert.deepEqual([pins.find("a"), pins.find("b"), pins.find("c")], [undefined, undefined, "x"]);
  });

  it("have no definition for names of an object's own methods", (t) => {
    const pins = new ToolPins(join(scratch(t), "pins.json"));
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"])
      assert.equal(pins.find(name), undefined, name);
  });
});
