import { readOutput } from "./read-output.ts";
import { learn, runProgram, troubleWith } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { howItEnded, whatItWrote } from "./skills-run.ts";
import { goodLines, listenerWays } from "./skills-work.ts";
import type { Want } from "./want.ts";

/** Carries out one command that changes something; the policy of the hand asks a person first. */
function* change(desk: Desk, argv: readonly string[]): Skill {
  const [program = "", ...args] = argv;
  const call = runProgram(desk, program, ...args);
  if (call === undefined) return desk.say("noTool");
  const result = yield call;
  if (result.failed || result.forgotten) return troubleWith(call, result, desk.say);
  const ended = readOutput(result.text);
  const command = argv.join(" ");
  const isDone = ended.exitCode === 0 && ended.signal === undefined && !ended.timedOut;
  if (!isDone) return [howItEnded(command, ended, desk.say), ...whatItWrote(ended, desk.say)].join("\n");
  const written = ended.stdout === "" && ended.stderr === "" ? [] : whatItWrote(ended, desk.say);
  return [desk.say("done", { command }), ...written].join("\n");
}

/** Makes, renames, copies or deletes a file or a folder. */
export function changeFile(want: Want, desk: Desk): Skill {
  const { kind, path = "", to = "", folders } = want;
  if (kind === "make-folder") return change(desk, ["mkdir", "--", path]);
  if (kind === "make-file") return change(desk, ["touch", "--", path]);
  if (kind === "rename") return change(desk, ["mv", "-n", "--", path, to]);
  if (kind === "copy") return change(desk, ["cp", "-rn", "--", path, to]);
  return change(desk, folders === true ? ["rm", "-r", "--", path] : ["rm", "--", path]);
}

/** Starts, stops or restarts a service. */
export function changeService(want: Want, desk: Desk): Skill {
  const verb = want.kind === "restart" ? "restart" : want.kind === "stop-service" ? "stop" : "start";
  return change(desk, ["systemctl", verb, "--", want.name ?? ""]);
}

/** Commits what has changed, or goes to a branch. */
export function changeGit(want: Want, desk: Desk): Skill {
  const { kind, name = "", text = "" } = want;
  if (kind === "commit") return change(desk, ["git", "commit", "-a", "-m", text]);
  return change(desk, kind === "make-branch" ? ["git", "switch", "-c", name] : ["git", "switch", name]);
}

/** Ends a process by its number, its name, or the port that it listens on. */
export function* endProcess(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { number: port, name, text } = want;
  if (name !== undefined) return yield* change(desk, ["pkill", "-x", "--", name]);
  if (text !== "port" || port === undefined) return yield* change(desk, ["kill", String(port)]);
  const learnt = yield* learn(desk, listenerWays(desk));
  if ("trouble" in learnt) return learnt.trouble;
  const owners = learnt.facts.find((listener) => listener.port === port)?.owners ?? [];
  if (owners.length === 0) return say("noOwner", { port });
  return yield* change(desk, ["kill", ...owners.map(({ pid }) => String(pid))]);
}

/** Programs that install packages, with the words that make them do it without a question of their own. */
const INSTALLERS: readonly (readonly [string, readonly string[]])[] = [
  ["apt-get", ["install", "-y"]],
  ["dnf", ["install", "-y"]],
  ["yum", ["install", "-y"]],
  ["zypper", ["--non-interactive", "install"]],
  ["apk", ["add"]],
  ["pacman", ["-S", "--noconfirm"]],
  ["brew", ["install"]],
];

/** Installs a package with the program that the host has for it. */
export function* install(want: Want, desk: Desk): Skill {
  const names = INSTALLERS.map(([program]) => program);
  const call = runProgram(desk, "which", ...names);
  const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) ?? readOutput(text).stdout.split("\n") }]);
  if ("trouble" in learnt) return desk.say("noInstaller");
  const found = new Set(learnt.facts.map((path) => path.trim().split("/").at(-1) ?? ""));
  const installer = INSTALLERS.find(([program]) => found.has(program));
  if (installer === undefined) return desk.say("noInstaller");
  return yield* change(desk, [installer[0], ...installer[1], want.name ?? ""]);
}
