import assert from "node:assert/strict";
import test from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { asFault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import * as tcpSchemas from "@vidro/core/wire/agent-tcp-schemas";
import { HAND_MESSAGE_SCHEMAS, REPLY_SCHEMA, REQUEST_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import { BRAIN_MESSAGE_SCHEMAS, EXECUTOR_MESSAGE_SCHEMAS } from "@vidro/core/wire/executor-ws-schemas";
import { SCHEMA_OPTIONS } from "@vidro/core/wire/schema-check";
import { schemaChecks } from "../packages/brain/src/south/wire-check.ts";
import { checkMessage } from "../packages/hands/src/links/message-check.ts";
import { checkArguments } from "../packages/hands/src/tools/check-arguments.ts";
import { TOOLS } from "../packages/hands/src/tools/tools.ts";

/** Messages to a hand: good ones, and one for each kind of mistake. */
const MESSAGES: readonly (readonly [method: string, fields: JsonObject])[] = [
  ["action.ack", { action_id: "act_1" }],
  ["action.ack", {}],
  ["action.ack", { action_id: 7 }],
  ["action.ack", { action_id: "" }],
  ["action.ack", { action_id: "act_1", colour: "red" }],
  ["action.cancel", { action_id: ["act_1"] }],
  ["action.judge", { action_id: "act_1", tool: "shell", input: { command: "ls" }, call_id: "c" }],
  ["action.judge", { action_id: "act_1", tool: "shell", input: "ls" }],
];

test("hand and brain give the same verdict on a message, in the same words", async () => {
  const brain = schemaChecks(REQUEST_SCHEMAS);
  const verdicts = await Promise.all(
    MESSAGES.map(async ([method, fields]) => {
      const hand = await checkMessage(method, fields).then(
        () => undefined,
        (thrown: unknown) => asFault(thrown).message,
      );
      const mismatch = brain(method)?.(fields);
      assert.equal(hand, mismatch === undefined ? undefined : `${method}: ${mismatch}`, JSON.stringify(fields));
      return hand === undefined;
    }),
  );
  assert.ok(verdicts.includes(true) && verdicts.includes(false), "both verdicts occur");
});

test("hand and brain give the same verdict on the input of every tool, in the same words", async () => {
  const brain = schemaChecks(Object.fromEntries(TOOLS.map(({ name, parameters }) => [name, parameters])));
  for (const tool of TOOLS) {
    for (const input of [{}, { no_such_field: 1 }, { command: 1, file_path: 2, pattern: 3, path: 4 }]) {
      const hand = await checkArguments(tool, input).then(
        () => undefined,
        (thrown: unknown) => asFault(thrown).message,
      );
      const mismatch = brain(tool.name)?.(input)?.replace(/^the message /u, "the input ");
      assert.equal(hand, mismatch === undefined ? undefined : `${tool.name}: ${mismatch}`);
    }
  }
});

test("every schema of tools and wires is sound JSON Schema 2020-12, which no process checks again at its start", () => {
  const ajv = new Ajv2020({ ...SCHEMA_OPTIONS, meta: true, validateSchema: true });
  const { PROCESS_FIELDS: _, ...tcp } = tcpSchemas;
  const schemas = [
    ...TOOLS.map(({ parameters }) => parameters),
    ...[REQUEST_SCHEMAS, HAND_MESSAGE_SCHEMAS, BRAIN_MESSAGE_SCHEMAS, EXECUTOR_MESSAGE_SCHEMAS, tcp].flatMap(
      (group) => Object.values(group) as readonly object[],
    ),
    REPLY_SCHEMA,
  ];
  for (const schema of schemas) assert.equal(typeof ajv.compile(schema), "function");
  assert.throws(() => ajv.compile({ type: "object", propertys: {} }), /unknown keyword/u);
});
