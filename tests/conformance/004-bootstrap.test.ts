import assert from "node:assert/strict";
import { test } from "node:test";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { startExecutorServer, messagesOfCall } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import type { ToolBehaviour } from "../support/foreign-executor.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";

/* 004 §2: the brain looks around, and only ever through the executor. */

const PROJECT = { ".git/HEAD": "", ".codegen/plan.md": "# Plan\n1. Begin.", "main.py": "print(1)" };
const LOG = "abc1234 first";

/** A project with a history. */
const project: ToolBehaviour = (call) =>
  call.name === "Shell" ? { status: "success", stdout: LOG, stderr: "", exit_code: 0 } : folderOf(PROJECT)(call);

test("004-07 004-08 004-09 004-10 the brain asks where it is, what is there, what is planned and what was done", async (t) => {
  const end = await startExecutorServer(t, text("Seen."));
  await using executor = await ForeignExecutor.dial(end);
  const ack = await executor
    .does(project)
    .shake({ initial_prompt: "look", known_tools: ["GetWorkingDirectory", "ReadFolder", "ReadFile", "Shell"] });
  const { payload } = await executor.hears("bootstrap_finished");
  assert.deepEqual(payload["context"], {
    working_directory: "/home/user/project",
    files: [".git", ".codegen", "main.py"],
    plan: PROJECT[".codegen/plan.md"],
    git_log: LOG,
  });
  await executor.hears("task_completed");
  const asked = executor.all("run_tool");
  assert.deepEqual(
    asked.map(({ tool_name, parameters }) => [tool_name, parameters]),
    [
      ["GetWorkingDirectory", {}],
      ["ReadFolder", { dir_path: "." }],
      ["ReadFile", { file_path: ".codegen/plan.md" }],
      ["Shell", { command: "git log --oneline -10", dir_path: "." }],
    ],
  );
  assert.equal(payload["generation_id"], asked.at(-1)?.["generation_id"]);
  assert.equal(new Set(asked.map((call) => call["generation_id"])).size, 4);
  // All of it is in the journal, and no approval was asked for.
  const entries = await end.entries(textOrEmpty(ack, "run_id"));
  assert.equal(entries.filter(({ event }) => event.type === "action.finished").length, 4);
  assert.equal(entries.filter(({ event }) => event.type === "question.asked").length, 0);
});

test("004-08 what is not in the listing is not asked for", async (t) => {
  const end = await startExecutorServer(t, text("Seen."));
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(folderOf({ "a.gitignore": "", "main.py": "" })).shake({
    initial_prompt: "look",
    known_tools: ["GetWorkingDirectory", "ReadFolder", "ReadFile", "Shell"],
  });
  const { payload } = await executor.hears("bootstrap_finished");
  assert.deepEqual(payload["context"], {
    working_directory: "/home/user/project",
    files: ["a.gitignore", "main.py"],
  });
  await executor.hears("task_completed");
  assert.equal(executor.all("run_tool").length, 2);
});

test("004-09 004-12 the model gets the prompt with all that was seen, and decides", async (t) => {
  const end = await startExecutorServer(t, text("Seen."));
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(folderOf(PROJECT)).shake({ initial_prompt: "make an endpoint" });
  await executor.hears("task_completed");
  assert.equal(end.model.requests.length, 1);
  const said = JSON.stringify(messagesOfCall(end.model, 0));
  for (const part of ["make an endpoint", "/home/user/project", "main.py", "1. Begin."]) assert.ok(said.includes(part));
});

test("004-08 a look that fails is told, and the next one is made all the same", async (t) => {
  const end = await startExecutorServer(t, text("Seen."));
  await using executor = await ForeignExecutor.dial(end);
  const broken: ToolBehaviour = (call) =>
    call.name === "ReadFile" ? { status: "error", error: "EACCES" } : project(call);
  await executor.does(broken).shake({ initial_prompt: "look", known_tools: ["ReadFolder", "ReadFile", "Shell"] });
  const { payload } = await executor.hears("bootstrap_finished");
  assert.deepEqual(payload["context"], { working_directory: "", files: [".git", ".codegen", "main.py"], git_log: LOG });
});

test("004-12 004-13 004-15 004-17 004-18 a file that the model asks for is read by the executor and comes back to it", async (t) => {
  const read = calls({ id: "call-1", name: "read_file", input: JSON.stringify({ file_path: "main.py", limit: 5 }) });
  const end = await startExecutorServer(t, read, text("It ", "prints 1."));
  await using executor = await ForeignExecutor.dial(end);
  const ack = await executor.does(folderOf({ "main.py": "print(1)" })).shake({ initial_prompt: "what does it do?" });
  const completed = await executor.hears("task_completed");
  const call = executor.all("run_tool").at(-1);
  assert.equal(call?.["tool_name"], "ReadFile");
  assert.deepEqual(call["parameters"], { file_path: "main.py", limit: 5 });
  assert.match(textOrEmpty(call, "tool_id"), /^act_/);
  assert.equal(call["session_epoch"], 1);
  assert.ok(Number(call["timeout_ms"]) > 0 && Number(call["ttl_ms"]) > 0);
  const last = messagesOfCall(end.model).at(-1);
  assert.deepEqual([last?.role, last?.content], ["tool", "print(1)"]);
  const deltas = executor.all("agent_message_delta");
  assert.equal(deltas.map((delta) => textOrEmpty(delta, "content")).join(""), "It prints 1.");
  assert.equal(new Set(deltas.map((delta) => delta["generation_id"])).size, 1);
  assert.deepEqual(completed.payload, {
    task_id: ack["task_id"],
    final_status: "completed",
    summary: "It prints 1.",
    files_changed: [],
  });
});
