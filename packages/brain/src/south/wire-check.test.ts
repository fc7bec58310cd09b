import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { JsonObject, ToolSpec } from "@vidro/core";
import { HISTORY_LINE } from "@vidro/core/run";
import { describeTcpHand } from "./agent-tcp/hand-description.ts";
import { checkAgentMessage, telemetryPush } from "./agent-ws/message-checks.ts";
import { fallbackJudgement } from "./fallback-policy.ts";
import { lenientReader, schemaChecks } from "./wire-check.ts";

const SCHEMA: JsonObject = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string" },
    size: { type: "integer", minimum: 1 },
    note: { type: ["string", "null"] },
    any: {},
  },
};

test("a value that does not fit is explained by its field, and one that fits is not", () => {
  const check = schemaChecks({ thing: SCHEMA })("thing");
  assert.equal(check?.({ name: "a", size: 1, note: null }), undefined);
  assert.match(check?.({}) ?? "", /name/);
  assert.match(check?.({ name: 7 }) ?? "", /name.*string/);
  assert.match(check?.({ name: "a", more: 1 }) ?? "", /more/);
  assert.equal(check?.({ name: "a" }), undefined, "an earlier failure leaves nothing behind");
});

test("names of JavaScript's own objects have no schema", () => {
  const checks = schemaChecks({ thing: SCHEMA });
  for (const name of ["", "constructor", "__proto__", "toString", "thing "])
    assert.equal(checks(name), undefined, name);
});

test("a lenient reader drops unknown fields, optional ones that do not fit, and nulls that are not allowed", () => {
  const read = lenientReader(SCHEMA, ["size"]);
  assert.deepEqual(read({ name: "a", size: 2, more: 1 }), { name: "a", size: 2 });
  assert.deepEqual(read({ name: "a", size: 0 }), { name: "a" });
  assert.deepEqual(read({ name: "a", size: "2" }), { name: "a" });
  assert.deepEqual(read({ name: null, note: null, any: null, size: null }), { note: null, any: null });
  assert.deepEqual(read({ name: 7 }), { name: 7 }, "a field that is needed is left for the check to refuse");
  assert.deepEqual(read(JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1}') as JsonObject), {});
});

test("whatever a peer sends, what is left are fields of the schema, and reading again changes nothing", () => {
  const read = lenientReader(SCHEMA, ["size", "note"]);
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.constantFrom("name", "size", "note", "any"), fc.string()), fc.jsonValue()),
      (sent) => {
        const left = read(sent);
        for (const field of Object.keys(left)) assert.ok(["name", "size", "note", "any"].includes(field));
        assert.deepEqual(read(left), left);
      },
    ),
  );
});

test("a method that there is not is refused by name, also one that every object has", () => {
  for (const method of ["", "hello!", "__proto__", "constructor", "enrolment", "renewal"])
    assert.throws(() => checkAgentMessage(method, {}), { code: "BAD_REQUEST", message: /There is no method/ }, method);
  assert.throws(() => checkAgentMessage("hello", {}), { code: "BAD_REQUEST", message: /^hello: / });
});

test("a sample without a readable time has the time at which it came", () => {
  const push = (ts: unknown) => telemetryPush({ action_id: "a1", payload: { load: 1 }, ts } as JsonObject, 777).at;
  assert.equal(push("2026-11-18T10:00:00Z"), Date.UTC(2026, 10, 18, 10));
  for (const ts of ["", "soon", 5, null, undefined, "2026-13-45"]) assert.equal(push(ts), 777, String(ts));
});

const tool = (name: string, effect: ToolSpec["effect"]): ToolSpec =>
  ({ name, description: "", parameters: {}, idempotent: true, effect }) as ToolSpec;
const judged = (name: string, input: JsonObject, tools: readonly ToolSpec[]) =>
  fallbackJudgement({ id: "act_1", callId: "c", tool: name, input }, tools);

test("on a hand without a policy only what reads is allowed, and a person is asked about all else", () => {
  const tools = [tool("read_file", "read"), tool("shell", "execute"), tool("odd", undefined), tool("net", "network")];
  const decision = (name: string, input: JsonObject = {}) => judged(name, input, tools).verdict.decision;
  assert.equal(decision("read_file"), "allow");
  for (const name of ["shell", "odd", "net", "unknown", "__proto__"]) assert.equal(decision(name), "ask", name);
  assert.equal(decision("shell", { command: HISTORY_LINE }), "allow");
  for (const command of [`${HISTORY_LINE}; id`, ` ${HISTORY_LINE}`, HISTORY_LINE.toUpperCase(), [HISTORY_LINE]])
    assert.equal(decision("shell", { command }), "ask", String(command));
  assert.equal(decision("read_file", { command: HISTORY_LINE }), "allow");
});

test("the hash of a plan is that of the tool and its input alone, whatever the order of the fields", () => {
  const hash = (name: string, input: JsonObject) => judged(name, input, []).hash;
  assert.equal(hash("shell", { a: 1, b: { c: 2, d: 3 } }), hash("shell", { b: { d: 3, c: 2 }, a: 1 }));
  const others = [hash("shell", {}), hash("shell", { a: 1 }), hash("shell", { a: "1" }), hash("edit", { a: 1 })];
  assert.equal(new Set(others).size, others.length);
  assert.match(hash("shell", {}), /^[0-9a-f]{64}$/);
});

const STANDARD = ["command", "os_info", "processes", "shell"].map((name) => tool(name, "read"));

test("a server that does not describe itself has the tools of the protocol", () => {
  for (const said of [undefined, null, 7, "x", []])
    assert.deepEqual(
      describeTcpHand(said, "h", STANDARD).tools.map(({ name }) => name),
      ["command", "os_info", "processes"],
    );
});

test("fields of a description that are not as they should be are left out, and names are cut", () => {
  const said = describeTcpHand(
    {
      name: "",
      version: "v".repeat(10_000),
      workspace: 7,
      receiptKey: "XYZ",
      tools: [null, 7, { name: "x" }, { name: "shell", description: "mine", parameters: {} }],
    },
    "h",
    STANDARD,
  );
  assert.equal("name" in said, false);
  assert.ok((said.version ?? "").length < 1000);
  assert.deepEqual([said.workspace, said.receiptKey], ["", undefined]);
  assert.deepEqual(
    said.tools.map(({ name, description }) => [name, description]),
    [["shell", ""]],
  );
  assert.equal(describeTcpHand({ receiptKey: "ab".repeat(32) }, "h", STANDARD).receiptKey, "ab".repeat(32));
});
