import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ToolInput } from "./tool.ts";
import { processesTool } from "./processes.ts";
import { shellTool } from "./shell.ts";
import { TOOLS } from "./tools.ts";

/** Compiles a schema as strictly as AJV can: the hand itself takes the schemas as they are, to begin at once. */
function compile(schema: object) {
  return new Ajv2020({
    strict: true,
    strictTypes: true,
    strictTuples: true,
    strictRequired: true,
    allErrors: true,
  }).compile(schema);
}

describe("the schemas of the tools", () => {
  for (const { name, parameters } of TOOLS) {
    it(`of ${name} is sound, plain JSON, and takes no field that it does not name`, () => {
      const validate = compile(parameters);
      assert.deepEqual(JSON.parse(JSON.stringify(parameters)), parameters);
      assert.equal(validate({ no_such_field: 1 }), false);
      assert.ok(validate.errors?.some(({ keyword }) => keyword === "additionalProperties"));
      for (const [field, schema] of Object.entries(parameters.properties)) {
        assert.ok(typeof schema["description"] === "string", `${field} is described`);
      }
    });
  }

  it("give their inputs the types that they say", () => {
    // What is optional, an enum, an integer or an array is checked by the compiler, in both directions.
    const least: ToolInput<typeof shellTool.parameters> = { command: "ls" };
    const most: Required<ToolInput<typeof shellTool.parameters>> = {
      command: "ls",
      dir_path: ".",
      timeout_ms: 1,
      access: "read" satisfies "read" | "workspace" | "host",
    };
    // @ts-expect-error No such order.
    const wrong: ToolInput<typeof processesTool.parameters> = { sort_by: "colour" };
    assert.equal(compile(shellTool.parameters)(least), true);
    assert.equal(compile(shellTool.parameters)(most), true);
    assert.equal(compile(processesTool.parameters)(wrong), false);
  });
});
