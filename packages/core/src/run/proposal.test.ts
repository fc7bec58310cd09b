import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../json.ts";
import { PROPOSAL_LIMITS } from "../limits.ts";
import { handAction } from "../tool.ts";
import { proposedInputMisfit, readProposal } from "./proposal.ts";
import { fold } from "./run.ts";
import { entriesOf, said, started } from "./walk.fixture.ts";
import { replyEvents } from "./reply.ts";

const TAKEN = new Set(["command", "read_file", "own_tool"]);
const NO_TEXT: JsonObject = { type: "object", properties: {} };

/** A proposal with some fields changed. */
function proposal(more: JsonObject): ReturnType<typeof readProposal> {
  return readProposal({ name: "disk", description: "d", command: "df", args: ["-h", "{path}"], ...more }, TAKEN);
}

/** Why a proposal with these fields is refused. */
function whyNot(more: JsonObject): string {
  const read = proposal(more);
  return typeof read === "string" ? read : "it is accepted";
}

/** Why a command is refused. */
function refusal(command: Json, ...args: Json[]): string {
  const read = proposal({ command, args });
  assert.ok(typeof read === "string", `${JSON.stringify([command, ...args])} is refused`);
  assert.match(read, /^Not proposed: .+\.$/);
  return read;
}

/** A tool of these words. */
function tool(command: string, ...args: string[]) {
  const read = proposal({ command, args });
  assert.ok(typeof read === "object", JSON.stringify(read));
  return read;
}

describe("a proposed tool", () => {
  it("is its template, and a template without a schema needs each input as a text", () => {
    assert.deepEqual(tool("df", "-h", "{path}", "--type={kind}"), {
      name: "disk",
      description: "d",
      parameters: {
        type: "object",
        properties: { path: { type: "string" }, kind: { type: "string" } },
        required: ["path", "kind"],
      },
      idempotent: false,
      argv: ["df", "-h", "{path}", "--type={kind}"],
    });
    assert.deepEqual(tool("make", "deploy").argv, ["make", "deploy"], "fixed text may be any command");
  });

  it("has a name that no other tool has", () => {
    for (const name of [
      "command",
      "own_tool",
      "ask",
      "done",
      "use_tool",
      "Disk Free",
      "",
      "d\u200bisk",
      7,
      "a".repeat(65),
    ])
      assert.match(whyNot({ name }), /^Not proposed: (?:a tool's name|there is a tool)/);
  });

  it("has a program of fixed text", () => {
    for (const program of ["{path}", "/bin/{path}", "", "df -h", "-x", "$(id)", "a;b", 7, null])
      refusal(program, "{path}");
  });

  it("gives no input to a program that runs what it is given", () => {
    for (const [program, ...args] of [
      ["sh", "-c", "{path}"],
      ["/usr/bin/bash", "-lc", "{path}"],
      ["env", "{path}"],
      ["sudo", "{path}"],
      ["python3.12", "-c", "{path}"],
      ["node", "--eval={path}"],
      ["busybox", "sh", "{path}"],
      ["xargs", "{path}"],
      ["find", ".", "-name", "x", "-exec", "sh", "{path}"],
      ["ls", "/bin/sh", "{path}"],
    ] as const)
      assert.match(refusal(program, ...args), /runs what it is given/);
    for (const [program, ...args] of [
      ["find", ".", "-exec", "{path}"],
      ["git", "-c", "{path}", "status"],
      ["tar", "--to-command={path}"],
      ["sort", "--output={path}"],
    ] as const)
      assert.match(refusal(program, ...args), /names a program or a file to write/);
  });

  it("takes an input as a whole word or behind a long option, and nowhere else", () => {
    for (const word of [
      "a{path}",
      "{path}b",
      "{path}{path}",
      "-o{path}",
      "x={path}",
      "--={path}",
      "--a={path}b",
      "{1}",
    ])
      assert.match(refusal("ls", word), /part of a word/);
    for (const word of ["{}", "{a b}", "{", "a}b"]) assert.deepEqual(tool("ls", word).argv, ["ls", word]);
  });

  it("has no hidden characters, and is bounded", () => {
    for (const hidden of ["a\u202eb", "a\u200bb", "a\u0000b", "a\u00a0b", "a\nb", "\u{e0041}"]) refusal("ls", hidden);
    for (const hidden of ["a\u202eb", "a\u001b[2J"]) assert.match(whyNot({ description: hidden }), /hidden/);
    refusal("ls", ...Array.from({ length: PROPOSAL_LIMITS.words }, () => "a"));
    refusal("ls", "a".repeat(PROPOSAL_LIMITS.wordChars + 1));
    assert.match(whyNot({ description: "a".repeat(PROPOSAL_LIMITS.textChars + 1) }), /at most/);
    assert.match(whyNot({ args: "-h" }), /list of texts/);
  });

  it("has a schema of plain, bounded properties that declares each input", () => {
    const path = { type: "string", description: "a path", maxLength: 9 };
    assert.equal(typeof proposal({ parameters: { properties: { path }, required: ["path"] } }), "object");
    const many = Object.fromEntries(Array.from({ length: PROPOSAL_LIMITS.fields }, (_, at) => [`f${at}`, path]));
    for (const parameters of [
      NO_TEXT,
      [],
      "x",
      { type: "array" },
      { properties: { path }, $ref: "http://x" },
      { properties: { path }, allOf: [] },
      { properties: { path }, required: ["other"] },
      { properties: { path }, required: "path" },
      { properties: { path: { ...path, pattern: "(a+)+$" } } },
      { properties: { path: { type: "object" } } },
      { properties: { path: { type: ["string", "null"] } } },
      { properties: { path: { type: "constructor" } } },
      { properties: { path: { ...path, enum: [1] } } },
      { properties: { path: { ...path, maxLength: "9" } } },
      { properties: { path: { ...path, description: "a\u202eb" } } },
      { properties: { path, hand: path } },
      { properties: { path, "a b": path } },
      { properties: { path: { ...path, description: "a".repeat(PROPOSAL_LIMITS.schemaChars) } } },
      { properties: { ...many, path } },
      JSON.parse('{"properties":{"path":{"type":"string"},"__proto__":{"type":"string"}}}') as JsonObject,
    ])
      assert.match(whyNot({ parameters }), /^Not proposed: /, JSON.stringify(parameters));
  });

  it("takes any JSON without a throw, and what it accepts runs the program that it names", () => {
    const word = fc.oneof(fc.constantFrom("{a}", "--x={a}", "-c", "sh", "--", "{a}b", "ls"), fc.string());
    fc.assert(
      fc.property(
        word,
        fc.array(word, { maxLength: 4 }),
        fc.string(),
        fc.jsonValue(),
        (command, args, value, schema) => {
          readProposal({ name: "t", description: "d", command, args, parameters: schema }, TAKEN);
          const read = readProposal({ name: "t", description: "d", command, args }, TAKEN);
          if (typeof read === "string") return;
          if (proposedInputMisfit(read, { a: value }) !== undefined) return;
          const { input } = handAction({ id: "1", tool: "t", input: { a: value }, callId: "c" }, [read]);
          assert.equal(input["command"], command);
          const filled = args.map((one) => (one === "{a}" ? value : one === "--x={a}" ? `--x=${value}` : one));
          assert.deepEqual(input["args"], filled);
          assert.ok(!args.includes("{a}") || !value.startsWith("-"), "an input is no option");
        },
      ),
    );
  });
});

describe("the input of a proposed tool", () => {
  const parameters = {
    properties: {
      path: { type: "string", maxLength: 5 },
      count: { type: "integer", minimum: 1, maximum: 9 },
      kind: { type: "string", enum: ["a", "b"] },
    },
  };
  const made = proposal({ args: ["{path}", "--count={count}", "--kind={kind}"], parameters });
  const good = { path: "/a", count: 3, kind: "a" };

  it("fits the schema, is there, and is no option unless fixed text is before it", () => {
    assert.ok(typeof made === "object");
    assert.equal(proposedInputMisfit(made, good), undefined);
    for (const [wrong, why] of [
      [{ path: "-rf" }, /begins with a dash/],
      [{ path: "/abcdefg" }, /more than 5/],
      [{ path: ["a"] }, /type string/],
      [{ count: 0 }, /less than 1/],
      [{ count: 10 }, /more than 9/],
      [{ count: "3" }, /type integer/],
      [{ kind: "c" }, /none of/],
    ] as const)
      assert.match(proposedInputMisfit(made, { ...good, ...wrong }) ?? "", why);
    assert.match(proposedInputMisfit(made, { path: "/a" }) ?? "", /count is missing/);
    assert.equal(proposedInputMisfit(tool("ls", "--sort={by}"), { by: "-size" }), undefined);
    assert.match(proposedInputMisfit(tool("ls", "{by}"), JSON.parse('{"__proto__":{"by":"x"}}')) ?? "", /missing/);
  });

  it("is told back to the model when it does not fit, and nothing is done", () => {
    const state = fold(
      entriesOf([
        started({ tools: [...started().tools, tool("ls", "{path}")] }),
        { type: "model.called", step: 1, attempt: 1 },
      ]),
    )!;
    const call = { id: "c1", tool: "disk", input: { path: "--help" } };
    const [replied] = replyEvents(said("", call), state, () => "act_1");
    assert.ok(replied?.type === "model.replied");
    assert.equal(replied.refusal?.code, "BAD_ARGUMENTS");
  });
});
