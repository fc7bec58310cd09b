import { createHash } from "node:crypto";
import { asFault, Fault, REGISTER_LIMITS, TCP_LIMITS } from "@vidro/core";
import { isRecall } from "@vidro/core/run";
import type { Action, ActionEnd, Json, JsonObject, Outcome, Output, ToolSpec } from "@vidro/core";
import type { HandLink } from "../link.ts";
import { fallbackJudgement } from "../fallback-policy.ts";
import { askTcpHand } from "./tcp-link.ts";
import type { TcpWire } from "./tcp-link.ts";

/** How each tool is asked for in the protocol, and what its answer means. */
const TOOLS: { readonly [tool: string]: (wire: TcpWire, input: JsonObject) => Promise<ActionEnd> } = {
  command,
  os_info: async (wire) => finishedWith(await askTcpHand(wire, { act: "GET_OS_INFO", data: {} })),
  processes: async (wire, { limit, sort_by: sortBy, name_pattern: namePattern }) =>
    finishedWith(await askTcpHand(wire, { act: "PS", data: definedFields({ limit, sortBy, namePattern }) })),
};

/** A link to a server of another vendor, which has the protocol alone: no judgements and no ledger. */
export function foreignLink(wire: TcpWire, tools: readonly ToolSpec[]): HandLink {
  return {
    judge: async (action) => fallbackJudgement(action, tools),
    perform: async (order, _hear, signal) => {
      if (isRecall(order)) return unknown("It was ordered before, and its host remembers nothing.");
      if (signal.aborted) throw new Fault("ACTION_EXPIRED", "The action was aborted before it was ordered.");
      return perform(wire, order.action);
    },
    acknowledge: () => undefined,
    close: (why) => wire.close(why),
  };
}

async function perform(wire: TcpWire, { tool, input }: Action): Promise<ActionEnd> {
  const known = TOOLS[tool];
  if (known === undefined) return failedOutcome(new Fault("UNKNOWN_TOOL", `This hand has no tool "${tool}".`));
  return known(wire, input);
}

/** Faults after which a command may have run; without a ledger there, it is never sent a second time. */
const DOUBTFUL: readonly string[] = ["HAND_UNAVAILABLE", "INTERNAL_ERROR"];

async function command(
  wire: TcpWire,
  { command: cmd, args, timeout_ms: timeout, cwd }: JsonObject,
): Promise<ActionEnd> {
  if (cwd !== undefined)
    return failedOutcome(new Fault("BAD_ARGUMENTS", "This hand runs commands in one folder: leave out cwd."));
  // Checked before anything is sent: so far nothing has run.
  if (!wire.isUp) throw new Fault("HAND_UNAVAILABLE", "The connection to the hand is lost.");
  const asked = typeof timeout === "number" ? timeout : TCP_LIMITS.commandCapMs;
  const timeoutMs = Math.min(Math.max(asked, TCP_LIMITS.commandFloorMs), TCP_LIMITS.commandCapMs);
  const begun = performance.now();
  try {
    const answer = await askTcpHand(wire, {
      act: "OS_CMD",
      data: definedFields({ cmd, args, timeoutMs }),
      deadlineMs: timeoutMs + TCP_LIMITS.foreignAnswerMs,
    });
    const { exitCode } = answer;
    if (exitCode !== null && !Number.isInteger(exitCode)) return unknown("The host's answer has no exit code.");
    return { type: "finished", outcome: processOf(answer, performance.now() - begun) };
  } catch (thrown) {
    const fault = asFault(thrown);
    if (!DOUBTFUL.includes(fault.code)) return failedOutcome(fault);
    return unknown(`It may have run, and its host does not remember: ${fault.message}`);
  }
}

function processOf(answer: JsonObject, tookMs: number): Outcome {
  const { exitCode, signal, timedOut, truncated, stdout, stderr } = answer;
  return {
    kind: "process",
    exitCode: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal.slice(0, REGISTER_LIMITS.nameChars) : null,
    timedOut: timedOut === true,
    durationMs: Math.round(tookMs),
    stdout: outputOf(stdout, truncated === true),
    stderr: outputOf(stderr, truncated === true),
  };
}

/** The protocol has neither sizes nor hashes: they are computed from what the server sent. */
function outputOf(said: Json | undefined, truncated: boolean): Output {
  const text = typeof said === "string" ? said : "";
  const bytes = Buffer.from(text);
  return { text, bytes: bytes.length, truncated, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function finishedWith(answer: JsonObject): ActionEnd {
  return { type: "finished", outcome: { kind: "value", text: JSON.stringify(answer), data: answer } };
}

function failedOutcome(fault: Fault): ActionEnd {
  return { type: "failed", fault: fault.report() };
}

function unknown(why: string): ActionEnd {
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
}

function definedFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
