import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { OFFLINE_LIMITS } from "@vidro/core";
import { converse, processHand, toolsNamed } from "./conversation.fixture.ts";
import type { TestHand } from "./conversation.fixture.ts";

function scratch(t: TestContext, files: { readonly [name: string]: string } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-offline-run-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** Really runs processes, and reads a folder and a file in the words of the hand's own tools. */
function projectHand(folder: string): TestHand {
  const run = processHand(folder);
  return (tool, input) => {
    if (tool === "read_file" && typeof input["file_path"] === "string") {
      return Promise.resolve({ text: readFileSync(join(folder, input["file_path"]), "utf8"), failed: false });
    }
    if (tool !== "read_folder") return run(tool, input);
    const rows = readdirSync(folder).map(
      (name) => `-rw-r--r-- ${String(statSync(join(folder, name)).size).padStart(9)} 2026-01-02 03:04 ${name}`,
    );
    return Promise.resolve({ text: rows.length === 0 ? "[the folder is empty]" : rows.join("\n"), failed: false });
  };
}

const PROJECT_TOOLS = toolsNamed("command", "shell", "read_folder", "read_file");

describe("a quoted command", () => {
  it("is run as a program, and its exit code and output are told", async (t) => {
    const { answer, calls } = await converse('rode "ls nothing"', processHand(scratch(t)));
    assert.deepEqual(calls[0]?.input, { command: "ls", args: ["nothing"] });
    assert.match(answer, /^`ls nothing` terminou com código de saída 2\.\nNa saída de erros:\n {4}│ ls: .*nothing/);
  });

  it("goes to a shell of the host when it needs one", async (t) => {
    const { answer, calls } = await converse("run `printf 'a\\nb\\n' | wc -l`", processHand(scratch(t)));
    assert.deepEqual(calls[0]?.input, { command: "printf 'a\\nb\\n' | wc -l", access: "host" });
    assert.match(answer, /exit code 0\.\n {4}│ 2$/);
  });

  it("is one of many, done in their order", async (t) => {
    const commands = Array.from({ length: OFFLINE_LIMITS.commands }, (_, index) => `echo step${index}`);
    const task = `run ${commands.map((command) => `"${command}"`).join(", then ")}`;
    const { answer, calls, plan } = await converse(task, processHand(scratch(t)));
    assert.deepEqual(
      calls.map((call) => call.told.text.trim()),
      commands.map((command) => command.slice(5)),
    );
    assert.equal(plan.length, OFFLINE_LIMITS.commands);
    for (const [index, command] of commands.entries())
      assert.ok(answer.includes(`\`${command}\` ended with exit code 0.\n    │ step${index}`));
  });

  it("has a long output cut to its bound", async (t) => {
    const { answer } = await converse('run "seq 100000"', processHand(scratch(t)));
    assert.ok(answer.split("\n").length <= OFFLINE_LIMITS.quotedLines + 2);
    assert.ok(answer.endsWith("│ …"));
  });

  it("that was not allowed is reported as not done", async () => {
    const text = "APPROVAL_DENIED: A person said no.";
    const { answer, calls } = await converse('ejecuta "rm -r build"', () => Promise.resolve({ text, failed: true }));
    assert.equal(answer, "No se hizo: `rm -r build`. Una persona dijo que no.");
    assert.equal(calls.length, 1);
  });

  it("that does not exist is told as not done", async (t) => {
    const { answer } = await converse('run "nosuchprogramme -x"', processHand(scratch(t)));
    assert.match(answer, /^Not done: `nosuchprogramme -x`\. nosuchprogramme is not installed here\.$/);
  });
});

describe("the tests of a project", () => {
  it("pass or fail by the exit code of npm test", async (t) => {
    const manifest = (code: number) =>
      JSON.stringify({ scripts: { test: `node -e "console.log('ran them'); process.exit(${code})"` } });
    const folder = scratch(t, { "package.json": manifest(0) });
    const passed = await converse("run the tests", projectHand(folder), { tools: PROJECT_TOOLS });
    assert.deepEqual(passed.calls.at(-1)?.input, {
      command: "npm",
      args: ["test"],
      timeout_ms: OFFLINE_LIMITS.testsMs,
    });
    assert.match(passed.answer, /^The tests pass: `npm test` ended with exit code 0\.\n[^]*ran them/);
    writeFileSync(join(folder, "package.json"), manifest(3));
    const failed = await converse("rode os testes", projectHand(folder), { tools: PROJECT_TOOLS });
    assert.match(failed.answer, /^Os testes não passam\. `npm test` terminou com código de saída 3\./);
  });

  it("are run by make when a makefile has a target for them", async (t) => {
    const folder = scratch(t, { Makefile: "all:\n\ttrue\ntest:\n\t@echo made\n" });
    const { calls } = await converse("run the tests", projectHand(folder), { tools: PROJECT_TOOLS });
    assert.deepEqual(
      calls.map((call) => call.tool),
      ["read_folder", "read_file", "command"],
    );
    assert.deepEqual(calls.at(-1)?.input["args"], ["test"]);
  });

  it("are found by what each kind of project has", async () => {
    for (const [name, command] of [
      ["Cargo.toml", "cargo test"],
      ["pyproject.toml", "pytest"],
      ["go.mod", "go test ./..."],
    ] as const) {
      const listing = `drwxr-xr-x      4096 2026-01-02 03:04 src/\n-rw-r--r--       10 2026-01-02 03:04 ${name}`;
      const hand: TestHand = (tool) =>
        Promise.resolve({ text: tool === "read_folder" ? listing : "ok", failed: false });
      const { answer } = await converse("do the tests pass?", hand, { tools: PROJECT_TOOLS });
      assert.ok(answer.startsWith(`The tests pass: \`${command}\``), answer);
    }
  });

  it("are not guessed where nothing tells", async (t) => {
    for (const files of [{}, { "notes.txt": "" }, { Makefile: "all:\n" }]) {
      const { answer, calls } = await converse("¿pasan los tests?", projectHand(scratch(t, files)), {
        tools: PROJECT_TOOLS,
      });
      assert.match(answer, /^No sé cómo se prueba este proyecto/);
      assert.ok(calls.every((call) => call.tool !== "command"));
    }
  });
});

describe("whether a host answers", () => {
  const loopback = "lo               UNKNOWN        127.0.0.1/8 ::1/128";
  const hand: TestHand = (_tool, { command }) => {
    if (command === "ip") return Promise.resolve({ text: loopback, failed: false });
    const text =
      command === "ping"
        ? "TOOL_FAILED: There is no program ping in PATH that this hand can run."
        : "APPROVAL_UNASKED: It needs an approval, and no person could be asked.";
    return Promise.resolve({ text, failed: true });
  };

  it("is told of the machine itself by its own addresses, which need no approval", async () => {
    const { answer, calls } = await converse("can I reach localhost?", hand);
    assert.equal(answer, "localhost answers.");
    assert.deepEqual(
      calls.map(({ input }) => input["command"]),
      ["ip"],
    );
  });

  it("is asked in another way where ping is missing, and both are named when that is not approved", async () => {
    const { answer, calls } = await converse("can I reach example.com?", hand);
    assert.deepEqual(
      calls.map(({ input }) => input["command"]),
      ["ping", "curl"],
    );
    assert.match(answer, /`ping .*example\.com`.*ping.*`curl .*example\.com\/`.*[Nn]o person could be asked/);
  });
});
