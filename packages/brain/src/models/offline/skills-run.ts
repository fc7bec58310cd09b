import { OFFLINE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { readCommand } from "./command-line.ts";
import { hasTestTarget, readFolderNames, testCommandIn } from "./read-files.ts";
import { quote, readOutput } from "./read-output.ts";
import type { ProcessText } from "./read-output.ts";
import { learn, shortLine, troubleWith, use } from "./skill.ts";
import type { Desk, Skill, ToolCall } from "./skill.ts";
import type { Want } from "./want.ts";
import type { Say } from "./wording.ts";

/** Runs a command that the task names, and says how it ended and what it wrote. */
export function* runCommand(want: Want, desk: Desk): Skill {
  const line = want.command ?? "";
  const call = callOf(line, desk);
  if (call === undefined) return desk.say("noTool");
  const result = yield call;
  if (result.failed || result.forgotten) return troubleWith(call, result, desk.say);
  const ended = readOutput(result.text);
  return [howItEnded(shortLine(line), ended, desk.say), ...whatItWrote(ended, desk.say)].join("\n");
}

function callOf(line: string, desk: Desk, more: JsonObject = {}): ToolCall | undefined {
  const command = readCommand(line);
  if (command.by === "program") {
    const call = use(desk, "command", { command: command.program, args: command.args, ...more });
    if (call !== undefined) return call;
  }
  return use(desk, "shell", { command: line, access: "host", ...more });
}

/** Says how a process ended. */
export function howItEnded(command: string, ended: ProcessText, say: Say): string {
  if (ended.timedOut) return say("timedOut", { command });
  if (ended.signal !== undefined) return say("endedBy", { command, signal: ended.signal });
  return say("ended", { command, code: ended.exitCode });
}

/** What a process wrote, as an answer shows it. */
export function whatItWrote({ stdout, stderr }: ProcessText, say: Say): string[] {
  const errors = stderr === "" ? [] : [say("errors"), quote(stderr, "tail")];
  return stdout === "" ? (errors.length === 0 ? [say("silent")] : errors) : [quote(stdout), ...errors];
}

/** Finds out how the project in the folder is tested, runs its tests, and says whether they pass. */
export function* tests(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const listing = use(desk, "read_folder", { dir_path: "." });
  const learnt = yield* learn(desk, [{ call: listing, read: readFolderNames }]);
  if ("trouble" in learnt) return learnt.trouble;
  const known = testCommandIn(learnt.facts);
  const words = known === "makefile" ? yield* makeTest(learnt.facts, desk) : known;
  if (words === undefined) return say("noTests");
  const command = words.join(" ");
  const call = callOf(command, desk, { timeout_ms: OFFLINE_LIMITS.testsMs });
  if (call === undefined) return say("noTool");
  const result = yield call;
  if (result.failed || result.forgotten) return troubleWith(call, result, say);
  const ended = readOutput(result.text);
  const isPass = ended.exitCode === 0 && ended.signal === undefined && !ended.timedOut;
  const head = isPass ? say("passed", { command }) : say("failed", { command, how: howItEnded(command, ended, say) });
  const last = [ended.stdout, ended.stderr].filter((text) => text !== "").join("\n");
  return last === "" ? head : `${head}\n${quote(last, "tail")}`;
}

function* makeTest(names: readonly string[], desk: Desk): Skill<readonly string[] | undefined> {
  const makefile = names.find((name) => /makefile$/i.test(name)) ?? "Makefile";
  const learnt = yield* learn(desk, [{ call: use(desk, "read_file", { file_path: makefile }), read: (text) => text }]);
  return "facts" in learnt && hasTestTarget(learnt.facts) ? ["make", "test"] : undefined;
}
