import { randomUUIDv7 } from "node:crypto";
import { CommanderError } from "commander";
import { asFault, Fault, FAULTS } from "@vidro/core";
import type { FaultCode } from "@vidro/core";
import { nextForJoining } from "@vidro/core/wire/enrolment";
import { stateFolder } from "@vidro/hands/config";
import { EXIT } from "./exit-codes.ts";
import { buildProgram } from "./program.ts";
import { faultLog } from "./fault-log.ts";
import { faultLine, sayFault, writeJson } from "./output.ts";

/** Prints why a command failed and gives its exit code. */
export function sayFailure(thrown: unknown, argv: readonly string[]): number {
  if (thrown instanceof CommanderError) return sayMisuse(thrown, argv);
  const fault = thrown instanceof Fault ? thrown : ownFault(thrown);
  const next = nextStep(fault, argv);
  if (wantsJson(argv)) writeJson({ ...faultLine(fault.report()), next });
  sayFault(fault.report(), next);
  return FAULTS[fault.code].exit;
}

/** The command at the end of a message, behind a colon: the step that fits this very situation. */
const NAMED_STEP = /: (vidro [^\n]*?)\.?$/;

/** What to do next: at the host that joins its own step, else what the message names, what fits the command, the code. */
function nextStep({ code, message }: Fault, argv: readonly string[]): string {
  const [first = "", ...flags] = argv;
  // The message of a refused invitation is written for the brain's machine, and this one cannot invite.
  if (first === "hands" && flags[0] === "join" && code === "INVALID_TOKEN") return nextForJoining(code);
  const [, named] = NAMED_STEP.exec(message) ?? [];
  if (named !== undefined) return named;
  const kind =
    first === "run" ? (NAMED_BY_RUN.find(([flag]) => flags.some((word) => flag.test(word)))?.[1] ?? first) : first;
  const isJoining = flags[0] === "join" || (flags[0] === "invite" && code === "CONFLICT");
  if (first === "hands" && isJoining) return nextForJoining(code);
  if (first === "policy" && (code === "NOT_FOUND" || code === "BAD_POLICY") && flags[0] !== "check")
    return "See the rules in force: vidro policy show";
  const isLookedUp = code === "NOT_FOUND" || (code === "CONFLICT" && kind === "agents");
  if (isLookedUp && LISTED.includes(kind)) return `Look it up: vidro ${kind} list`;
  return nextOfPlace(code, message, argv) ?? FAULTS[code].next;
}

/** The next step for a file of settings, an address that was named, and a hand that is dialled. */
function nextOfPlace(code: FaultCode, message: string, argv: readonly string[]): string | undefined {
  if (code === "BAD_REQUEST" && message.includes("config.json")) return "Mend that file, or move it away.";
  if (code === "BRAIN_UNREACHABLE" && message.startsWith("Nothing answers at"))
    return "Check the address (--url, VIDRO_URL); on that machine: vidro up";
  if (code === "HAND_UNAVAILABLE" && argv[0] === "tcp")
    return "See whether a hand listens there: vidro hands serve --tcp <address>";
  return undefined;
}

function sayMisuse(error: CommanderError, argv: readonly string[]): number {
  const [, message = error.message, , meant] =
    /^(?:error: )?([^\n]*)(\n\(Did you mean ([^)]*)\?\))?/.exec(error.message) ?? [];
  const said = error.code === "commander.help" ? helpCause(argv) : message;
  const next =
    argv[0] === "version"
      ? "vidro --version"
      : (taskIn(error, argv) ?? `vidro ${[...commandOf(argv), "--help"].join(" ")}`);
  const fault = {
    code: "BAD_REQUEST",
    message: meant === undefined ? said : `${said}. Did you mean ${meant}?`,
  } as const;
  if (wantsJson(argv)) writeJson({ ...faultLine(fault), next });
  sayFault(fault, next);
  return EXIT.usage;
}

/** A task whose quotes were forgotten, as it would be started: words that begin with no command and none that is near. */
function taskIn({ code, message }: CommanderError, argv: readonly string[]): string | undefined {
  const isWords = argv.length > 1 && argv.every((word) => /^[\p{L}\p{N}][^"`$\\]*$/u.test(word));
  if (code !== "commander.unknownCommand" || message.includes("Did you mean") || !isWords) return undefined;
  return commandOf(argv).length > 0 ? undefined : `vidro "${argv.join(" ")}"`;
}

/** Why commander printed help instead of running a command. */
function helpCause([first, second]: readonly string[]): string {
  return first === "help" ? `unknown command '${second}'` : "a sub-command is missing";
}

/** An unexpected error as INTERNAL_ERROR: its stack goes to the log under a trace id, which the message names. */
function ownFault(thrown: unknown): Fault {
  const traceId = randomUUIDv7();
  faultLog(stateFolder() ?? "")(traceId, thrown);
  const { message } = asFault(thrown);
  return new Fault("INTERNAL_ERROR", `${message} (trace ${traceId})`, { cause: thrown });
}

/** What a flag of `vidro run` names, by the group of commands that lists it. */
const NAMED_BY_RUN = [
  [/^--on(=|$)/, "hands"],
  [/^--agent(=|$)/, "agents"],
] as const;

/** Groups of commands that have `list`. */
const LISTED = ["runs", "agents", "tokens", "hands", "config", "kb", "hooks", "webhooks", "schedules", "processes"];

/** The leading words of the command line that name a command. */
function commandOf(argv: readonly string[]): readonly string[] {
  let command = buildProgram("", () => undefined);
  const end = argv.findIndex((word) => {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
    return next === undefined;
  });
  return end === -1 ? argv : argv.slice(0, end);
}

function wantsJson(argv: readonly string[]): boolean {
  const flags = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return flags.includes("--json");
}
