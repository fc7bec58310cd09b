import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Command } from "commander";
import { buildProgram } from "../program/program.ts";
import { Stage } from "../stage.fixture.ts";

/* What shells and man read, in the shells themselves. */

/** Gives the words that a shell offers for the last word of a line, by the file of its completion. */
const ASK: { readonly [shell: string]: (file: string, words: readonly string[]) => readonly string[] } = {
  bash: (file, words) => [
    "bash",
    "--norc",
    "-c",
    `source '${file}'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vidro; printf '%s\\n' "\${COMPREPLY[@]}"`,
    "bash",
    ...words,
  ],
  zsh: (file, words) => [
    "zsh",
    "-f",
    "-c",
    // The completion system gives the words of the line and takes the list; it has no terminal here.
    `compdef() { :; }; _describe() { print -rl -- "\${(@P)2}"; }; source '${file}'; words=("$@"); CURRENT=$#; _vidro`,
    "zsh",
    ...words,
  ],
  fish: (file, words) => ["fish", "--no-config", "-c", `source '${file}'; complete -C '${words.join(" ")}'`],
};

function offered(shell: string, file: string, words: readonly string[]): readonly string[] {
  const [program = "", ...args] = ASK[shell]?.(file, words) ?? [];
  const last = words.at(-1) ?? "";
  return execFileSync(program, args, { encoding: "utf8", env: { ...process.env, HOME: "/nonexistent" } })
    .split("\n")
    .map((line) => line.split(/[:\t]/)[0] ?? "")
    .filter((word) => word !== "" && word.startsWith(last))
    .sort();
}

test("bash, zsh and fish offer the commands, options and values that help names", async () => {
  await using stage = await Stage.set();
  const root = buildProgram("", () => undefined);
  const commands = root.commands.map((one) => one.name()).filter((name) => name !== "help");
  const below = root.commands.find((one) => one.name() === "hands")?.commands.map((one) => one.name()) ?? [];
  assert.ok(commands.length > 12 && below.length > 8);
  for (const shell of Object.keys(ASK)) {
    const { code, stdout, stderr } = await stage.run("completion", shell);
    assert.equal(code, 0, stderr);
    const file = join(stage.workspace, shell);
    writeFileSync(file, stdout);
    const isCommand = (word: string): boolean => !word.startsWith("-");
    assert.deepEqual(offered(shell, file, ["vidro", ""]).filter(isCommand), commands.toSorted(), shell);
    assert.deepEqual(offered(shell, file, ["vidro", "hands", ""]).filter(isCommand), below.toSorted(), shell);
    assert.deepEqual(offered(shell, file, ["vidro", "hands", "inv"]), ["invite"], shell);
    assert.deepEqual(
      offered(shell, file, ["vidro", "up", "--south"]),
      ["--southbound-host", "--southbound-port"],
      shell,
    );
    assert.deepEqual(offered(shell, file, ["vidro", "up", "--on-restart", ""]), ["hold", "resume"], shell);
  }
  const other = await stage.run("completion", "tcsh");
  assert.equal(other.code, 2, other.stderr);
});

/** Every command that has none below it, as it is typed. */
function leavesOf(command: Command, typed: string): readonly string[] {
  const below = command.commands.filter((one) => one.name() !== "help");
  return below.length === 0 ? [typed] : below.flatMap((one) => leavesOf(one, `${typed} ${one.name()}`));
}

test("the manual has every command, and mandoc takes it as it is", async () => {
  await using stage = await Stage.set();
  const { stdout } = await stage.run("man");
  const file = join(stage.workspace, "vidro.1");
  writeFileSync(file, stdout);
  const lint = spawnSync("mandoc", ["-T", "lint", "-W", "warning", file], { encoding: "utf8" });
  assert.equal(lint.error, undefined);
  assert.deepEqual(
    lint.stdout.split("\n").filter((line) => / (?:WARNING|ERROR|UNSUPP): (?!missing date)/.test(line)),
    [],
  );
  // Bold letters are printed twice with a backspace between.
  const printed = execFileSync("mandoc", ["-T", "utf8", "-O", "width=200", file], { encoding: "utf8" }).split("\b");
  const shown = printed.map((piece, index) => (index < printed.length - 1 ? piece.slice(0, -1) : piece)).join("");
  for (const words of ["vidro hands invite", "--southbound-host <a,b>", "vidro runs show [run]", "EXIT STATUS"])
    assert.ok(shown.includes(words), words);
  const named = shown.split("\n").map((line) => line.trim());
  const leaves = leavesOf(
    buildProgram("", () => undefined),
    "vidro",
  );
  assert.ok(leaves.length > 40);
  for (const command of leaves)
    assert.ok(
      named.some((line) => `${line} `.startsWith(`${command} `)),
      command,
    );
});
