import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CHAT_PARAMETERS,
  effortOf,
  formatOf,
  refuseParameters,
  RESPONSE_PARAMETERS,
  vendorFields,
  verbosityOf,
} from "./parameters.ts";
import { allowedTools, toolSpecs } from "./caller-tools.ts";
import { callerName, toolName } from "./tool-names.ts";
import fc from "fast-check";

test("a parameter is passed on, acted on or refused by its name; an unknown one is refused", () => {
  for (const table of [CHAT_PARAMETERS, RESPONSE_PARAMETERS]) {
    for (const [name, treatment] of Object.entries(table)) {
      if (typeof treatment === "string") refuseParameters({ [name]: "x" }, table);
      else
        assert.throws(() => refuseParameters({ [name]: "x" }, table), {
          code: "BAD_ARGUMENTS",
          message: new RegExp(`^${name}: `),
          detail: { path: `/${name}` },
        });
    }
    for (const name of ["tempature", "__proto__x", "toString", "constructor", ""])
      assert.throws(() => refuseParameters({ [name]: 1 }, table), { code: "BAD_ARGUMENTS" }, name);
  }
});

test("a refused parameter that asks for nothing is let through: clients send their defaults", () => {
  for (const unset of [null, false, 0]) refuseParameters({ logprobs: unset, top_logprobs: unset }, CHAT_PARAMETERS);
  assert.throws(() => refuseParameters({ stream_options: { include_obfuscation: true } }, CHAT_PARAMETERS), {
    detail: { path: "/stream_options/include_obfuscation" },
  });
});

test("only the vendor's own fields are passed on, and only those that are set", () => {
  assert.deepEqual(vendorFields({ user: "ana", service_tier: null, model: "m", metadata: { a: "b" } }), {
    vendor: { user: "ana", metadata: { a: "b" } },
  });
  assert.deepEqual(vendorFields({ model: "m" }), {});
});

test("effort and verbosity are one of their words", () => {
  assert.deepEqual(effortOf("low", "/reasoning_effort"), { reasoning: "low" });
  assert.deepEqual(effortOf(null, "/reasoning_effort"), {});
  assert.deepEqual(verbosityOf("high", "/verbosity"), { verbosity: "high" });
  for (const wrong of ["loud", 7, {}, true]) {
    assert.throws(() => effortOf(wrong, "/reasoning_effort"), { code: "BAD_ARGUMENTS" });
    assert.throws(() => verbosityOf(wrong, "/verbosity"), { code: "BAD_ARGUMENTS" });
  }
});

test("the form of an answer is read from both wires", () => {
  const schema = { type: "object" };
  assert.deepEqual(formatOf({ type: "json_schema", json_schema: { name: "a", schema } }, "/response_format"), {
    format: { schema, name: "a" },
  });
  assert.deepEqual(formatOf({ type: "json_schema", name: "a", schema, description: "d" }, "/text/format"), {
    format: { schema, name: "a", description: "d" },
  });
  assert.deepEqual(formatOf({ type: "json_object" }, "/x"), { format: {} });
  for (const none of [undefined, null, { type: "text" }]) assert.deepEqual(formatOf(none, "/x"), {});
  for (const wrong of ["json", { type: "json_schema" }, { type: "xml" }, [], { type: "json_schema", schema: "x" }])
    assert.throws(() => formatOf(wrong, "/x"), { code: "BAD_ARGUMENTS", detail: { path: "/x" } });
});

test("every name of a client becomes one that servers take, always the same and never that of another", () => {
  const name = fc.string({ minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(name, name, (one, other) => {
      const [first, second] = [toolName(one), toolName(other)];
      assert.match(first, /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(first, toolName(one));
      if (one !== other) assert.notEqual(first, second);
    }),
  );
  assert.equal(toolName("get_weather"), "get_weather");
  assert.equal(toolName("search", "docs"), "docs__search");
});

test("the tools of a caller are tools of a run under names that lead back to the caller's", () => {
  const specs = toolSpecs([
    { name: "get_weather", description: null, path: "/tools/0" },
    { name: "files.read", strict: true, path: "/tools/1" },
  ]);
  const [plain, dotted] = specs;
  assert.deepEqual([plain?.name, plain?.called, plain?.caller], ["get_weather", undefined, true]);
  assert.equal(dotted?.strict, true);
  assert.deepEqual(callerName(specs, dotted?.name ?? ""), { name: "files.read" });
  assert.deepEqual(callerName([], "unknown"), { name: "unknown" });
});

test("two tools of one name are refused where the second is; a schema has a bound", () => {
  const twice = [
    { name: "a", path: "/tools/0" },
    { name: "b", path: "/tools/1" },
    { name: "a", path: "/tools/2" },
  ];
  assert.throws(() => toolSpecs(twice), { code: "BAD_ARGUMENTS", detail: { path: "/tools/2" } });
  assert.throws(() => toolSpecs([{ name: "a", path: "/x", parameters: { description: "x".repeat(1e7) } }]), {
    code: "PAYLOAD_TOO_LARGE",
  });
});

test("a choice of some tools leaves the others out and knows each of them", () => {
  const tools = toolSpecs([
    { name: "a", path: "" },
    { name: "b", path: "" },
  ]);
  const offer = allowedTools(tools, { mode: "required", names: ["b"] });
  assert.deepEqual([offer.callerTools.map(({ name }) => name), offer.choice], [["b"], "required"]);
  assert.equal(allowedTools(tools, { mode: "auto", names: ["a", "b"] }).choice, undefined);
  assert.throws(() => allowedTools(tools, { mode: "auto", names: ["c"] }), { code: "BAD_ARGUMENTS" });
});
