import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { ended, lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { startExecutorServer } from "../support/executor-server.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";
import { processesIn } from "../support/processes.ts";

/* An executor, or the person before it, goes in the middle of the work. */

const CODEGEN = fileURLToPath(new URL("../../packages/cli/bin/codegen", import.meta.url));
const shell = (command: string): FakeReply =>
  calls({ id: "call-shell", name: "shell", input: JSON.stringify({ command }) });
const SLOW = "echo x >> count; sleep 60";

function codegen({ workspace, command }: Stage, ...args: readonly string[]): ChildProcessWithoutNullStreams {
  // As npm installs it.
  const link = join(workspace, "..", "codegen");
  if (!existsSync(link)) symlinkSync(CODEGEN, link);
  const child = spawn(link, args, { cwd: workspace, env: command.env });
  child.stdin.end();
  return child;
}

async function staged(t: { after(done: () => Promise<void>): void }, ...replies: FakeReply[]): Promise<Stage> {
  const model = await fakeOpenAi(...replies);
  const stage = await Stage.set({ VIDRO_MODEL_URL: model.url, VIDRO_MODEL: "fake" });
  t.after(async () => {
    await stage[Symbol.asyncDispose]();
    await model.close();
  });
  return stage;
}

const hasBegun = ({ workspace }: Stage): boolean => existsSync(join(workspace, "count"));

test("Ctrl-C ends the task and all that it was running", async (t) => {
  const stage = await staged(t, shell(SLOW));
  const child = codegen(stage, "--json", "--yes", "wait");
  const output = ended(child);
  await until("the command has begun", () => hasBegun(stage));
  child.kill("SIGINT");
  const { code, stdout } = await output;
  assert.equal(code, 130);
  assert.equal(lines(stdout).at(-1)?.["event"], "run.aborted");
  assert.deepEqual(processesIn(stage.workspace), []);
});

test("an executor that is killed goes on with --resume, and what it was doing is not done again", async (t) => {
  const stage = await staged(t, shell(SLOW), text("It was cut short."));
  const child = codegen(stage, "--json", "--yes", "wait");
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => (told += chunk.toString("utf8")));
  await until("the command has begun", () => hasBegun(stage));
  child.kill("SIGKILL");
  await once(child, "exit");
  const run = String(lines(told.slice(0, told.lastIndexOf("\n")))[0]?.["run_id"]);
  const { code, stdout, stderr } = await ended(codegen(stage, "--json", "--yes", "--resume", run.slice(-8)));
  assert.equal(code, 9, stderr);
  const events = lines(stdout).map((line) => line["event"]);
  assert.ok(events.includes("action.unknown"));
  assert.equal(lines(stdout).at(-1)?.["data"], "It was cut short.");
  assert.equal(readFileSync(join(stage.workspace, "count"), "utf8"), "x\n");
});

test("004-25 a brain that is killed in the middle of a command finds its end when it is back", async (t) => {
  const stage = await staged(
    t,
    shell("echo x >> count; while [ ! -e go ]; do sleep 0.05; done; echo built"),
    text("Built."),
  );
  const first = await DaemonProcess.up(stage, { flags: ["--port", "0", "--no-local-hand"] });
  const { port, url, token } = first;
  const output = ended(codegen(stage, "--json", "--yes", "--url", url, "--token", token, "build"));
  await until("the command has begun", () => hasBegun(stage));
  await first.end("SIGKILL");
  writeFileSync(join(stage.workspace, "go"), "");
  await using again = await DaemonProcess.up(stage, { flags: ["--port", port, "--no-local-hand"] });
  assert.equal(again.url, url);
  const { code, stdout, stderr } = await output;
  assert.equal(code, 0, stderr);
  const finished = lines(stdout).findLast((line) => line["event"] === "action.finished");
  assert.match(JSON.stringify(finished?.body["outcome"]), /built/);
  assert.equal(readFileSync(join(stage.workspace, "count"), "utf8"), "x\n");
});

test("two tasks at once without a daemon do not depend on each other", async (t) => {
  const stage = await staged(t, shell("touch here; while [ ! -e go ]; do sleep 0.05; done"), text("First."));
  const first = ended(codegen(stage, "--json", "--yes", "wait"));
  await until("the first one is at work", () => existsSync(join(stage.workspace, "here")));
  const second = await ended(codegen(stage, "--json", "--yes", "touch go"));
  assert.equal(second.code, 0, second.stderr);
  assert.equal(lines(second.stdout).at(-1)?.["data"], "First.");
  const go = spawn("touch", [join(stage.workspace, "go")]);
  await once(go, "exit");
  assert.equal((await first).code, 0);
});

test("a task is aborted at once, also when its executor cannot be told to stop", async (t) => {
  const end = await startExecutorServer(t, shell("make"));
  await using executor = await ForeignExecutor.dial(end);
  const ack = await executor.does(folderOf({})).shake({ initial_prompt: "build", known_tools: ["Shell"] });
  const { payload } = await executor.hears("tool_call_request");
  executor.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: true });
  await executor.hears("run_tool");
  const aborted = await end.ask(`/v1/runs/${textOrEmpty(ack, "run_id")}/abort`, { reason: "enough" });
  assert.equal(aborted.status, 200, JSON.stringify((await aborted.json()) as JsonObject));
  const completed = await executor.hears("task_completed");
  assert.deepEqual([completed.payload["final_status"], completed.payload["summary"]], ["aborted", "enough"]);
});
