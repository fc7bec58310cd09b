import assert from "node:assert/strict";
import { test } from "node:test";
import { handAction, outcomeText } from "./tool.ts";
import type { ProcessOutcome } from "./tool.ts";

const output = (text: string) => ({ text, bytes: text.length, truncated: false, sha256: "" });
const ended = (more: Partial<ProcessOutcome>): ProcessOutcome => ({
  kind: "process",
  exitCode: 0,
  signal: null,
  timedOut: false,
  durationMs: 7,
  stdout: output("out"),
  stderr: output(""),
  ...more,
});

test("an outcome reads as its output, with what went wrong behind it", () => {
  assert.equal(outcomeText(ended({})), "out");
  assert.equal(outcomeText(ended({ exitCode: 2, stderr: output("no") })), "out\n[stderr]\nno\n[exit code 2]");
  const killed = ended({ exitCode: null, signal: "SIGKILL", timedOut: true, stdout: output("") });
  assert.equal(outcomeText(killed), "[timed out after 7 ms]\n[ended by SIGKILL]");
});

test("a proposed tool becomes one command, and an input stays one word whatever it holds", () => {
  const tool = {
    name: "disk",
    description: "",
    parameters: {},
    idempotent: false,
    argv: ["df", "-h", "{path}", "--x={n}"],
  };
  const action = { id: "act_1", tool: "disk", input: { path: "a b; rm -rf /", n: 3 }, callId: "c" };
  assert.deepEqual(handAction(action, [tool]), {
    ...action,
    tool: "command",
    input: { command: "df", args: ["-h", "a b; rm -rf /", "--x=3"] },
  });
  assert.equal(handAction({ ...action, tool: "shell" }, [tool]).tool, "shell");
});

test("a proposed tool of a run with several hands is done where its input says", () => {
  const proposed = { name: "disk", description: "", parameters: {}, idempotent: false, argv: ["df", "{path}"] };
  const fields = { command: { type: "string" }, hand: { enum: ["web1", "web2"] } };
  const command = { name: "command", description: "", parameters: { properties: fields }, idempotent: false };
  const action = { id: "act_1", tool: "disk", input: { path: "/", hand: "web2" }, callId: "c" };
  const input = { command: "df", args: ["/"] };
  assert.deepEqual(handAction(action, [proposed, command]).input, { ...input, hand: "web2" });
  assert.deepEqual(handAction(action, [proposed]).input, input);
});
