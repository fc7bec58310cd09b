import { timeoutOf } from "../run/order-end.ts";
import { FAULTS } from "../fault.ts";
import type { FaultCode, FaultReport } from "../fault.ts";
import { isObject, textIn } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { REGISTER_LIMITS, RUN_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { Action, ActionEnd, Judgement, Outcome, Output, ToolEffect } from "../tool.ts";
import { headAndTail } from "../run/turns.ts";
import { withKnownCode } from "./action-end.ts";

/*
 * The messages between a brain and an executor (004), each `{type, payload}`. Fields and messages that the published
 * flows do not name are ours: fields are optional, and messages are sent only to a peer that announced that it knows
 * them, so that a peer that knows only the flows works.
 */

/** A message; `seq` is the entry of the run that it tells, for whoever comes back to go on after it. */
export interface ExecutorMessage {
  readonly type: string;
  readonly payload: JsonObject;
  readonly seq?: number;
}

/** What an executor may announce that goes beyond the flows: it keeps a ledger, judges, can be told to stop. */
export const EXTENSIONS = ["ledger", "judge", "cancel"] as const;

/** One of them. */
export type Extension = (typeof EXTENSIONS)[number];

/** What an executor says of itself, and what it wants done. */
export interface Handshake {
  readonly client_type: string;
  readonly client_version?: string;
  readonly initial_prompt?: string;
  readonly known_tools: readonly string[];
  readonly custom_tools?: readonly CustomTool[];
  readonly project_spec?: { readonly content: string; readonly file_paths?: readonly string[] };
  readonly resume?: { readonly session_id: string; readonly last_seq?: number };
  /** Actions that it was given before a cut and is still at. */
  readonly open_actions?: readonly string[];
  readonly name?: string;
  readonly working_directory?: string;
  readonly extensions?: readonly string[];
}

/** A tool that only this executor has. */
export interface CustomTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** Whether running it twice under one id is the same as running it once; no when it is not said. */
  readonly idempotent?: boolean;
  /** What it does to the world; `write` when it is not said. */
  readonly effect?: ToolEffect;
}

/** What the brain made of a handshake. */
export interface HandshakeAck {
  readonly session_id: string;
  /** Null when the executor brought no task. */
  readonly task_id: string | null;
  readonly tools_accepted: readonly string[];
  readonly tools_rejected: readonly string[];
  readonly server_version: string;
  /** Ours: a brain that knows only the contract does not say it. */
  readonly policy?: { readonly timeouts: { readonly exec: number }; readonly max_payload: number };
  readonly session_epoch: number;
  /** The task's run, as the other wires know it. */
  readonly run_id?: string;
}

/** The tools that the flows name, and what they are called here. */
const TOOLS_BY_WIRE_NAME: { readonly [wire: string]: string } = {
  GetWorkingDirectory: "working_directory",
  ReadFolder: "read_folder",
  ReadFile: "read_file",
  WriteFile: "write_file",
  Edit: "edit",
  FindFiles: "find_files",
  SearchText: "search_text",
  Shell: "shell",
};
const WIRE_NAMES = new Map(Object.entries(TOOLS_BY_WIRE_NAME).map(([wire, tool]) => [tool, wire]));

/** The tool behind a name of the wire, if the flows name it. */
export function toolOfWireName(wire: string): string | undefined {
  return Object.hasOwn(TOOLS_BY_WIRE_NAME, wire) ? TOOLS_BY_WIRE_NAME[wire] : undefined;
}

/** What a tool is called on the wire; one that the flows do not name has its own name there. */
export function wireName(tool: string): string {
  return WIRE_NAMES.get(tool) ?? tool;
}

/** A field that is a text; one that is not there, or is none, is empty. */
export function textOrEmpty(payload: JsonObject, field: string): string {
  return textIn(payload, field) ?? "";
}

/** What an action asks for, in the words of the wire. */
export function toolCallOf({ tool, input }: Pick<Action, "tool" | "input">): {
  readonly tool_name: string;
  readonly parameters: JsonObject;
} {
  if (tool !== "shell") return { tool_name: wireName(tool), parameters: input };
  // How long it may take stands beside the parameters, as for every tool.
  const { timeout_ms: _, ...parameters } = input;
  return { tool_name: wireName(tool), parameters: { dir_path: ".", ...parameters } };
}

/** The action behind a call on the wire. */
export function actionOfCall(payload: JsonObject): Action {
  const { parameters, timeout_ms } = payload;
  const [name, id] = [textOrEmpty(payload, "tool_name"), textOrEmpty(payload, "tool_id")];
  const tool = toolOfWireName(name) ?? name;
  const given = isObject(parameters) ? parameters : {};
  const input = tool === "shell" && timeout_ms !== undefined ? { ...given, timeout_ms } : given;
  return { id, tool, input, callId: id };
}

/** What an order carries besides itself. */
export interface OrderEnvelope {
  readonly generation: string;
  readonly sessionEpoch: number;
}

/** The order to run a tool. */
export function runToolMessage(order: Order, { generation, sessionEpoch }: OrderEnvelope): ExecutorMessage {
  const { action, run, epoch, ttlMs, approved, ledger } = order;
  const payload = {
    ...toolCallOf(action),
    tool_id: action.id,
    generation_id: generation,
    timeout_ms: timeoutOf(action),
    ttl_ms: ttlMs,
    session_epoch: sessionEpoch,
    run_id: run,
    run_epoch: epoch,
    ...(approved === undefined ? {} : { approved }),
    ...(ledger === undefined ? {} : { ledger }),
  };
  return { type: "run_tool", payload };
}

/** The order behind a message that has passed its schema. */
export function orderOfMessage(payload: JsonObject): Order {
  const { run_epoch, session_epoch = 0, ttl_ms = RUN_LIMITS.orderMs } = payload;
  const [approved, ledger] = [textOrEmpty(payload, "approved"), textOrEmpty(payload, "ledger")];
  return {
    action: actionOfCall(payload),
    // A brain that names no run is fenced by its sessions: an older one is refused like an older driver of a run.
    run: textOrEmpty(payload, "run_id") || "session",
    epoch: Number(run_epoch ?? session_epoch),
    ttlMs: Number(ttl_ms),
    ...(approved === "" ? {} : { approved }),
    ...(ledger === "" ? {} : { ledger }),
  };
}

/** Whose end it is, and how long it took. */
export interface EndEnvelope {
  readonly tool_id: string;
  readonly generation_id: string;
  readonly duration_ms: number;
}

/** How an action ended, as a message of at most `maxBytes`: what is too long loses its middle. */
export function toolResultMessage(
  ended: ActionEnd,
  place: EndEnvelope,
  maxBytes: number = REGISTER_LIMITS.messageBytes,
): ExecutorMessage {
  const message = (of: ActionEnd, beside: JsonObject): ExecutorMessage => ({
    type: "tool_result",
    payload: { ...place, ...beside, ended: of as unknown as JsonObject },
  });
  const whole = message(ended, resultFields(ended));
  if (fits(whole, maxBytes)) return whole;
  // `ended` holds everything that the other fields say, so they are the first to go.
  const bare = (of: ActionEnd): ExecutorMessage => message(of, { status: statusOf(of), truncated: true });
  if (fits(bare(ended), maxBytes)) return bare(ended);
  let chars = maxBytes;
  let cut = ended;
  do {
    chars = Math.floor(chars / 2);
    cut = shortenEnd(ended, chars);
  } while (!fits(bare(cut), maxBytes) && chars > SHORTEST_CHARS);
  return bare(cut);
}

const SHORTEST_CHARS = 64;
const encoder = new TextEncoder();

/** Whether a message is not longer than it may be. */
export function fits(message: ExecutorMessage, maxBytes: number = REGISTER_LIMITS.messageBytes): boolean {
  return encoder.encode(JSON.stringify(message)).length <= maxBytes;
}

function statusOf(ended: ActionEnd): "success" | "error" {
  if (ended.type !== "finished") return "error";
  const { outcome } = ended;
  return outcome.kind === "value" || (outcome.exitCode === 0 && !outcome.timedOut) ? "success" : "error";
}

/** The fields that the flows name. */
function resultFields(ended: ActionEnd): JsonObject {
  const status = statusOf(ended);
  if (ended.type !== "finished") {
    const { code, message } = ended.fault;
    return { status, result: null, error: message, code };
  }
  const { outcome } = ended;
  if (outcome.kind === "value") return { status, result: outcome.data ?? outcome.text };
  const { stdout, stderr, exitCode, timedOut } = outcome;
  return {
    status,
    result: stdout.text,
    ...(status === "error"
      ? { error: timedOut ? "It timed out." : `It ended with ${exitCode ?? outcome.signal}.` }
      : {}),
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: exitCode,
    truncated: stdout.truncated || stderr.truncated,
  };
}

function shortenEnd(ended: ActionEnd, chars: number): ActionEnd {
  if (ended.type !== "finished") {
    const fault = { ...ended.fault, message: headAndTail(ended.fault.message, chars) };
    if (ended.type === "failed") return { ...ended, fault };
    return { ...ended, fault, ...(ended.partial === undefined ? {} : { partial: headAndTail(ended.partial, chars) }) };
  }
  return { type: "finished", outcome: shortenOutcome(ended.outcome, chars) };
}

function shortenOutcome(outcome: Outcome, chars: number): Outcome {
  if (outcome.kind === "value") return { kind: "value", text: headAndTail(outcome.text, chars) };
  const short = (output: Output): Output =>
    output.text.length > chars ? { ...output, text: headAndTail(output.text, chars), truncated: true } : output;
  return { ...outcome, stdout: short(outcome.stdout), stderr: short(outcome.stderr) };
}

/**
 * How an action ended, as a message says whose fields fit their schemas; a peer of ours says it in our own words, too.
 * Of a message that does not say whether it was done nobody knows.
 */
export function endOfToolResult(payload: JsonObject): ActionEnd {
  const { status, result, error, ended } = payload;
  if (ended !== undefined) return withKnownCode(ended as unknown as ActionEnd);
  const isProcess = typeof payload["exit_code"] === "number" || (typeof payload["stdout"] === "string" && !result);
  if (isProcess && (status !== undefined || typeof payload["exit_code"] === "number"))
    return { type: "finished", outcome: processOf(payload) };
  if (status === "success") {
    const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
    const data = result === undefined || typeof result === "string" ? {} : { data: result };
    return { type: "finished", outcome: { kind: "value", text, ...data } };
  }
  if (status !== "error") {
    const message = "The executor's result does not say whether it was done.";
    return { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message } };
  }
  const fault = faultOf(payload, errorText(error) ?? errorText(result) ?? "The executor did not say why.");
  return fault.code === "OUTCOME_UNKNOWN" || fault.code === "OUTCOME_EVICTED"
    ? { type: "unknown", fault }
    : { type: "failed", fault };
}

function errorText(error: Json | undefined): string | undefined {
  if (typeof error === "string" && error !== "") return error;
  if (isObject(error)) return typeof error["message"] === "string" ? error["message"] : JSON.stringify(error);
  return undefined;
}

/** The fault that a message names; a code that is not ours is a failure of the tool. */
function faultOf({ code }: JsonObject, message: string): FaultReport {
  const known = typeof code === "string" && Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "TOOL_FAILED";
  return { code: known, message };
}

function processOf(payload: JsonObject): Outcome {
  const { status, result, stdout, stderr, error, exit_code, duration_ms, truncated } = payload;
  const said = typeof stdout === "string" && stdout !== "" ? stdout : (result ?? "");
  // What it says of an error counts beside what the program said.
  const words = [typeof stderr === "string" ? stderr : "", errorText(error) ?? ""].filter((part) => part !== "");
  const isError = status === "error";
  const output = (text: string): Output => ({
    text,
    bytes: encoder.encode(text).length,
    truncated: truncated === true,
    // Only who saw all the bytes knows their hash.
    sha256: "",
  });
  return {
    kind: "process",
    // An error is none that ended well, whatever it says besides.
    exitCode: typeof exit_code === "number" && !(isError && exit_code === 0) ? exit_code : isError ? null : 0,
    signal: null,
    timedOut: false,
    durationMs: typeof duration_ms === "number" ? duration_ms : 0,
    stdout: output(typeof said === "string" ? said : JSON.stringify(said)),
    stderr: output(words.join("\n")),
  };
}

/** Asks an executor that judges what it would do. */
export function judgeToolMessage(action: Action): ExecutorMessage {
  return { type: "judge_tool", payload: { ...toolCallOf(action), tool_id: action.id, timeout_ms: timeoutOf(action) } };
}

/** What an executor says that it would do. */
export function toolJudgementMessage(action: string, judged: Judgement | FaultReport): ExecutorMessage {
  if ("code" in judged)
    return { type: "tool_judgement", payload: { tool_id: action, error: judged.message, code: judged.code } };
  return { type: "tool_judgement", payload: { tool_id: action, judgement: judged as unknown as JsonObject } };
}

/** The judgement in a message that has passed its schema, or the fault that the action would meet. */
export function readJudgement(payload: JsonObject): Judgement | FaultReport {
  const { judgement, error } = payload;
  if (judgement !== undefined) return judgement as unknown as Judgement;
  return faultOf(payload, errorText(error) ?? "The executor did not say why.");
}
