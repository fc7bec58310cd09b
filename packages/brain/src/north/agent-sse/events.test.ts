import assert from "node:assert/strict";
import { test } from "node:test";
import { sseDecoder } from "@vidro/core/codec";
import type { Event, JsonObject } from "@vidro/core";
import { AGENT_EVENTS } from "./events.ts";

const RUN = "run_1";

interface Frame {
  readonly id: string | undefined;
  readonly data: JsonObject;
}

function framesOf(text: string | undefined): Frame[] {
  return sseDecoder()
    .push(Buffer.from(text ?? ""))
    .map((item) => {
      assert.ok(item.ok && item.value.event === "message");
      return { id: item.value.id, data: JSON.parse(item.value.data) as JsonObject };
    });
}

const encoded = (event: Event): Frame[] => framesOf(AGENT_EVENTS.entry({ seq: 7, at: 1, event }, RUN));

function only(event: Event): JsonObject {
  const [frame, ...more] = encoded(event);
  assert.equal(more.length, 0);
  assert.equal(frame?.id, "7");
  const { run_id: run, seq, ...words } = frame.data;
  assert.deepEqual([run, seq], [RUN, 7]);
  return words;
}

test("000-30 an action is named in the wire's own terms", () => {
  const acted = (tool: string, input: JsonObject): JsonObject =>
    only({ type: "action.started", hand: "local", action: { id: "act_1", tool, input, callId: "c" } });
  const common = { type: "action", action_id: "act_1" };
  assert.deepEqual(acted("shell", { command: "uname -a" }), { ...common, action: "shell", command: "uname -a" });
  assert.deepEqual(acted("command", { command: "echo", args: ["a b"] }), {
    ...common,
    action: "shell",
    command: "echo 'a b'",
  });
  assert.deepEqual(acted("research", { queries: ["q"], maxDocs: 2 }), {
    ...common,
    action: "research",
    queries: ["q"],
    maxDocs: 2,
  });
  assert.deepEqual(acted("read_file", { path: "x" }), {
    ...common,
    action: "use_tool",
    name: "read_file",
    args: { path: "x" },
  });
  const tool = {
    name: "deploy",
    description: "d",
    parameters: { type: "object" },
    idempotent: false,
    argv: ["make", "deploy"],
  };
  assert.deepEqual(only({ type: "tool.proposed", tool }), {
    type: "action",
    action: "tool_spec",
    name: "deploy",
    description: "d",
    parameters: { type: "object" },
    command: "make",
    args: ["deploy"],
  });
});

test("a field of an action's input never takes the place of what the wire says itself", () => {
  const input = { type: "done", action: "plan", action_id: "forged", queries: ["q"] };
  const action = { id: "act_1", tool: "research", input, callId: "c" };
  const words = only({ type: "action.started", hand: "local", action });
  assert.deepEqual([words["type"], words["action"], words["action_id"]], ["action", "research", "act_1"]);
});

test("000-34 two events of one entry move the cursor only once, with the last of them", () => {
  const docs = [{ title: "t", url: "https://example.org" }];
  const outcome = { kind: "value", text: "found", data: { docs: [...docs, "rubbish"] } } as const;
  const frames = encoded({ type: "action.finished", action: "act_1", outcome });
  assert.deepEqual(
    frames.map(({ id, data }) => [id, data["type"]]),
    [
      ["", "research_result"],
      ["7", "observe"],
    ],
  );
  assert.deepEqual(frames[0]?.data["docs"], docs);
});

test("000-35 what went wrong and goes on is observed with its code", () => {
  const fault = { code: "TOOL_FAILED", message: "no" } as const;
  assert.deepEqual(only({ type: "action.failed", action: "act_1", fault }), {
    type: "observe",
    note: "no",
    action_id: "act_1",
    code: "TOOL_FAILED",
  });
  assert.deepEqual(only({ type: "model.failed", attempt: 1, fault }), {
    type: "observe",
    note: "no",
    code: "TOOL_FAILED",
    voids: "token",
  });
});

test("000-36 000-37 the ends are done and error", () => {
  assert.deepEqual(only({ type: "run.finished", result: { n: 1 } }), { type: "done", result: { n: 1 } });
  const fault = { code: "STEP_LIMIT", message: "too far" } as const;
  assert.deepEqual(only({ type: "run.failed", fault }), { type: "error", message: "too far", code: "STEP_LIMIT" });
  assert.deepEqual(only({ type: "run.aborted", reason: "enough" }), {
    type: "error",
    message: "enough",
    code: "ABORTED",
  });
});

test("000-29 000-33 what is live has neither seq nor id", () => {
  const [token] = framesOf(AGENT_EVENTS.live({ type: "model.delta", text: "a\nb", from: 2 }, 3, RUN));
  assert.deepEqual(token, { id: "", data: { type: "token", text: "a\nb", from: 2, run_id: RUN } });
  const chunk = { type: "action.output", action: "act_1", stream: "stderr", chunk: "e\n" } as const;
  const [log] = framesOf(AGENT_EVENTS.live(chunk, 3, RUN));
  assert.deepEqual(log?.data, { type: "exec_log", stream: "stderr", chunk: "e\n", action_id: "act_1", run_id: RUN });
});

test("a long outcome is noted by its beginning", () => {
  const note = only({ type: "action.finished", action: "a", outcome: { kind: "value", text: "x".repeat(5000) } })[
    "note"
  ];
  assert.equal(note, `${"x".repeat(2000)}…`);
});
