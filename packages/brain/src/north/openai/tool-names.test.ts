import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { CHAT_LIMITS, Fault } from "@vidro/core";
import { allowedTools, toolSpecs } from "./caller-tools.ts";
import { chatFault, faultBody } from "./fault-body.ts";
import { callerName, toolName } from "./tool-names.ts";

const TAKEN = /^[a-zA-Z0-9_-]{1,64}$/;

test("a name that model servers take stays as it is", () => {
  for (const name of ["a", "get_weather", "A-1", "x".repeat(64)]) assert.equal(toolName(name), name);
  assert.equal(toolName("open", "files"), "files__open");
});

test("any other name becomes one that they take, and the same one each time", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.option(fc.string(), { nil: undefined }), (name, namespace) => {
      const given = toolName(name, namespace);
      assert.match(given, TAKEN);
      assert.equal(toolName(name, namespace), given);
    }),
  );
});

test("names that differ only in what servers do not take stay apart", () => {
  const names = [
    "a.b",
    "a b",
    "a/b",
    "a:b",
    "ação",
    "açao",
    "",
    " ",
    "💧",
    "💦",
    `${"x".repeat(64)}1`,
    `${"x".repeat(64)}2`,
  ];
  assert.equal(new Set(names.map((name) => toolName(name))).size, names.length);
});

test("the client's own name comes back with the call, whatever the model saw", () => {
  const specs = toolSpecs([
    { name: "plain", path: "/tools/0" },
    { name: "ler.ficheiro", path: "/tools/1" },
    { name: "open", namespace: "files", path: "/tools/2" },
    { name: "note", custom: true, path: "/tools/3" },
  ]);
  for (const { name } of specs) assert.match(name, TAKEN);
  assert.deepEqual(
    specs.map(({ name }) => callerName(specs, name)),
    [{ name: "plain" }, { name: "ler.ficheiro" }, { name: "open", namespace: "files" }, { name: "note", custom: true }],
  );
  assert.deepEqual(callerName(specs, "unknown"), { name: "unknown" });
});

test("two tools of one name are refused at the second, also where only their new names are the same", () => {
  const refused = (path: string) => (thrown: unknown) =>
    thrown instanceof Fault && thrown.code === "BAD_ARGUMENTS" && JSON.stringify(thrown.detail).includes(path);
  assert.throws(
    () =>
      toolSpecs([
        { name: "a", path: "/tools/0" },
        { name: "b", path: "/tools/1" },
        { name: "a", path: "/tools/2" },
      ]),
    refused("/tools/2"),
  );
  assert.throws(
    () =>
      toolSpecs([
        { name: "x__y", path: "/tools/0" },
        { name: "y", namespace: "x", path: "/tools/1" },
      ]),
    refused("/tools/1"),
  );
});

test("the schema of a tool is held at its bound, and a tool without one takes an object", () => {
  const empty = JSON.stringify({ description: "" }).length;
  const schema = (chars: number) => ({ description: "s".repeat(chars - empty) });
  assert.equal(toolSpecs([{ name: "a", parameters: schema(CHAT_LIMITS.schemaChars), path: "" }]).length, 1);
  assert.throws(() => toolSpecs([{ name: "a", parameters: schema(CHAT_LIMITS.schemaChars + 1), path: "/tools/0" }]), {
    code: "PAYLOAD_TOO_LARGE",
  });
  const [none, text] = toolSpecs([
    { name: "a", parameters: null, description: null, path: "" },
    { name: "b", parameters: { type: "array" }, custom: true, path: "" },
  ]);
  assert.deepEqual(none?.parameters, { type: "object", properties: {} });
  assert.deepEqual(text?.parameters["required"], ["input"], "a tool that takes text has no schema of its client");
});

test("of allowed tools only those are offered, and one that there is not is refused", () => {
  const specs = toolSpecs(["a", "b", "c"].map((name) => ({ name, path: "" })));
  const offer = allowedTools(specs, { mode: "required", names: ["c", "a", "a"] });
  assert.deepEqual([offer.callerTools.map(({ name }) => name), offer.choice], [["a", "c"], "required"]);
  assert.equal(allowedTools(specs, { mode: "auto", names: [] }).choice, undefined);
  assert.throws(() => allowedTools(specs, { mode: "auto", names: ["a", "d"] }), {
    code: "BAD_ARGUMENTS",
    message: /d/,
  });
});

test("a fault is told in the vendor's form: its type by its status, its field with dots", () => {
  const table: readonly (readonly [Fault, type: string, param: string | null])[] = [
    [
      new Fault("BAD_ARGUMENTS", "x", { detail: { path: "/messages/0/content" } }),
      "invalid_request_error",
      "messages.0.content",
    ],
    [new Fault("BAD_ARGUMENTS", "x", { detail: { path: "" } }), "invalid_request_error", null],
    [new Fault("BAD_ARGUMENTS", "x", { detail: { path: 7 } }), "invalid_request_error", null],
    [new Fault("INVALID_TOKEN"), "authentication_error", null],
    [new Fault("FORBIDDEN"), "permission_error", null],
    [new Fault("RATE_LIMITED"), "rate_limit_error", null],
    [new Fault("NOT_FOUND"), "invalid_request_error", null],
    [new Fault("MODEL_REFUSED"), "server_error", null],
    [new Fault("INTERNAL_ERROR"), "server_error", null],
  ];
  for (const [fault, type, param] of table) {
    const { error } = chatFault(fault) as { error: { type: string; param: unknown; code: string } };
    assert.deepEqual([error.type, error.param, error.code], [type, param, fault.code], fault.code);
  }
  assert.deepEqual(faultBody({ code: "NOT_FOUND", message: "gone" }), {
    error: { message: "gone", type: "invalid_request_error", param: null, code: "NOT_FOUND" },
  });
});
