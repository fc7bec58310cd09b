import { randomUUIDv7 } from "node:crypto";
import { CommanderError } from "commander";
import { asFault, Fault, FAULTS } from "@vidro/core";
import type { FaultCode } from "@vidro/core";
import { nextForJoining } from "@vidro/core/wire/enrolment";
import { stateFolder } from "@vidro/hands/config";
import { EXIT } from "./exit-codes.ts";
import { faultLog } from "./fault-log.ts";
import { faultLine, sayFault, writeJson } from "./output.ts";

/** Tells what kept a command from its work, and gives the code to exit with. */
export function sayFailure(thrown: unknown, argv: readonly string[]): number {
  if (thrown instanceof CommanderError) return sayMisuse(thrown, argv);
  const fault = thrown instanceof Fault ? thrown : ownFault(thrown);
  const next = nextStep(fault.code, argv);
  if (wantsJson(argv)) writeJson({ ...faultLine(fault.report()), next });
  sayFault(fault.report(), next);
  return FAULTS[fault.code].exit;
}

/** What to do next: what was not found, or is there already, is looked up among its own kind. */
function nextStep(code: FaultCode, [first = "", ...flags]: readonly string[]): string {
  const kind = first === "run" && flags.some((flag) => /^--on(=|$)/.test(flag)) ? "hands" : first;
  const isJoining = flags[0] === "join" || (flags[0] === "invite" && code === "CONFLICT");
  if (first === "hands" && isJoining) return nextForJoining(code);
  const isLookedUp = code === "NOT_FOUND" || (code === "CONFLICT" && kind === "agents");
  return isLookedUp && LISTED.includes(kind) ? `Look it up: vidro ${kind} list` : FAULTS[code].next;
}

function sayMisuse(error: CommanderError, argv: readonly string[]): number {
  const [, message = error.message, , meant] =
    /^(?:error: )?([^\n]*)(\n\(Did you mean ([^)]*)\?\))?/.exec(error.message) ?? [];
  const said = error.code === "commander.help" ? unhelped(argv) : message;
  const next = `vidro ${[...commandOf(argv), "--help"].join(" ")}`;
  const fault = {
    code: "BAD_REQUEST",
    message: meant === undefined ? said : `${said}. Did you mean ${meant}?`,
  } as const;
  if (wantsJson(argv)) writeJson({ ...faultLine(fault), next });
  sayFault(fault, next);
  return EXIT.usage;
}

/** Why there is help where it was not asked for, or none where it was. */
function unhelped([first, second]: readonly string[]): string {
  return first === "help" ? `unknown command '${second}'` : "a sub-command is missing";
}

/** A fault that nobody foresaw is ours: its stack goes to the log under a name that the person is given. */
function ownFault(thrown: unknown): Fault {
  const traceId = randomUUIDv7();
  faultLog(stateFolder() ?? "")(traceId, thrown);
  const { message } = asFault(thrown);
  return new Fault("INTERNAL_ERROR", `${message} (trace ${traceId})`, { cause: thrown });
}

/** Groups of commands with one that lists. */
const LISTED = ["runs", "agents", "tokens", "hands", "config"];
const GROUPS = [...LISTED, "policy", "audit"];
const COMMANDS = ["up", "status", "console", "run", "attach", "doctor", "tcp", ...GROUPS];
const MEMBERS = [
  ["create", "delete", "revoke", "list", "show", "export", "abort", "check", "explain", "verify"],
  ["exec", "quarantine", "release", "serve", "invite", "join"],
].flat();
/** Commands that tell programs whenever no terminal is there. */
const STREAMING = ["run", "attach"];

/** The words in front that name a command. */
function commandOf([first = "", second = ""]: readonly string[]): readonly string[] {
  if (!COMMANDS.includes(first)) return [];
  return GROUPS.includes(first) && MEMBERS.includes(second) ? [first, second] : [first];
}

function wantsJson(argv: readonly string[]): boolean {
  const flags = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return flags.includes("--json") || (STREAMING.includes(argv[0] ?? "") && !process.stdout.isTTY);
}
