import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ended, lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { messagesOfCall } from "../support/executor-server.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "../support/fake-openai.ts";

/* 004 §1 §2 from the terminal: codegen, with and without a brain that is up, and a brain that sees nothing. */

const CODEGEN = fileURLToPath(new URL("../../packages/cli/bin/codegen", import.meta.url));
const write = (path: string, content: string): FakeReply =>
  calls({ id: "call-write", name: "write_file", input: JSON.stringify({ file_path: path, content }) });

interface Scene extends AsyncDisposable {
  readonly stage: Stage;
  readonly model: FakeOpenAi;
}

async function scene(...replies: FakeReply[]): Promise<Scene> {
  const model = await fakeOpenAi(...replies);
  const stage = await Stage.set({ VIDRO_MODEL_URL: model.url, VIDRO_MODEL: "fake" });
  return {
    stage,
    model,
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

function codegen({ workspace, command }: Stage, ...args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(CODEGEN, args, { cwd: workspace, env: command.env });
  child.stdin.end();
  return child;
}

test("004-01 codegen starts an executor in its folder and a task, and shows it to its end", async () => {
  await using it = await scene(write("api.py", "print('hi')\n"), text("The endpoint is there."));
  const { stage } = it;
  mkdirSync(join(stage.workspace, ".codegen"));
  writeFileSync(join(stage.workspace, ".codegen", "plan.md"), "# The plan\n");
  const { code, stdout, stderr } = await ended(codegen(stage, "--json", "--yes", "crie endpoint"));
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(join(stage.workspace, "api.py"), "utf8"), "print('hi')\n");
  const all = lines(stdout);
  assert.equal(all.at(-1)?.["data"], "The endpoint is there.");
  const done = all
    .filter((line) => line["event"] === "action.started")
    .map(({ body }) => (body["action"] as { tool: string }).tool);
  assert.deepEqual(done, ["working_directory", "read_folder", "read_file", "write_file"]);
  assert.match(JSON.stringify(it.model.requests[0]?.body), /# The plan/);
});

test("004-01 without anybody to ask, nothing is approved; a failure is told by the exit code", async () => {
  await using it = await scene(write("api.py", "x"), write("api.py", "x"));
  const { code, stdout } = await ended(codegen(it.stage, "--json", "crie endpoint"));
  assert.equal(code, 1);
  assert.equal(lines(stdout).at(-1)?.["code"], "LOOP_DETECTED");
  assert.throws(() => readFileSync(join(it.stage.workspace, "api.py")));
  const { code: usage } = await ended(codegen(it.stage));
  assert.equal(usage, 2);
  const { code: unreachable } = await ended(codegen(it.stage, "--url", "http://127.0.0.1:9", "x"));
  assert.equal(unreachable, 7);
});

test("004-01 on a terminal the approval is asked for there, by vidro code as by codegen", async () => {
  await using it = await scene(write("api.py", "x"), text("Written."));
  const terminal = it.stage.terminal("code", "crie endpoint");
  await terminal.sees("api.py");
  await terminal.sees("s sim");
  terminal.type("s");
  await terminal.sees("Written.");
  assert.equal(await terminal.ends(), 0);
  assert.equal(readFileSync(join(it.stage.workspace, "api.py"), "utf8"), "x");
});

test("004-01 a daemon that is up is the brain, and forgets the executor when its task is over", async () => {
  await using it = await scene(text("Nothing to do."));
  await using daemon = await DaemonProcess.up(it.stage, { flags: ["--port", "0", "--no-local-hand"] });
  const { code, stdout } = await ended(codegen(it.stage, "--json", "look around"));
  assert.equal(code, 0);
  const [started] = lines(stdout);
  const head = await daemon.ask(`/v1/runs/${String(started?.["run_id"])}`);
  assert.equal(((await head.json()) as { status: string }).status, "finished");
  const { hands } = (await (await daemon.ask("/v1/hands")).json()) as { hands: readonly unknown[] };
  assert.deepEqual(hands, []);
});

const NOBODY = 65_534;

test("004-11 a brain that runs as another user, without access to the project, does the task all the same", async () => {
  if (process.getuid?.() !== 0) throw new Error("A brain of another user can only be started by root: run it as root.");
  await using it = await scene(
    calls({ id: "call-read", name: "read_file", input: JSON.stringify({ file_path: "secret.txt" }) }),
    text("It says: only for root."),
  );
  const { workspace } = it.stage;
  writeFileSync(join(workspace, "secret.txt"), "only for root");
  chmodSync(workspace, 0o700);
  const home = mkdtempSync(join(tmpdir(), "vidro-nobody-"));
  chownSync(home, NOBODY, NOBODY);
  const { argv, env } = it.stage.command;
  const [program = "", ...args] = argv;
  const user = {
    uid: NOBODY,
    gid: NOBODY,
    cwd: home,
    env: { ...env, HOME: home, VIDRO_HOME: home, NODE_COMPILE_CACHE: "" },
  };
  const cat = spawn("cat", [join(workspace, "secret.txt")], { ...user, stdio: "ignore" });
  assert.notEqual((await once(cat, "exit"))[0], 0, "the brain's user cannot read the project");
  const brain = spawn(program, [...args, "up", "--json", "--port", "0", "--no-local-hand"], user);
  try {
    const [line] = (await once(createInterface({ input: brain.stdout }), "line")) as [string];
    const { url, token_file } = JSON.parse(line) as { url: string; token_file: string };
    const token = readFileSync(token_file, "utf8").trim();
    const { code, stdout, stderr } = await ended(
      codegen(it.stage, "--json", "--url", url, "--token", token, "read it"),
    );
    assert.equal(code, 0, stderr);
    assert.equal(lines(stdout).at(-1)?.["data"], "It says: only for root.");
    assert.match(messagesOfCall(it.model).at(-1)?.content ?? "", /^only for root/);
  } finally {
    brain.kill("SIGKILL");
    await once(brain, "exit");
    rmSync(home, { recursive: true, force: true });
  }
});
