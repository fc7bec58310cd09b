import { timeoutOf } from "../run/order-end.ts";
import { FAULTS } from "../fault.ts";
import type { FaultCode, FaultReport } from "../fault.ts";
import { isObject, textIn } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { REGISTER_LIMITS, RUN_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { ReasoningEffort } from "../sampling.ts";
import type { Action, ActionEnd, Judgement, Outcome, Output, ToolEffect } from "../tool.ts";
import { headAndTail } from "../run/turns.ts";
import { withKnownCode, withoutEndFiles } from "./action-end.ts";

/*
 * The messages between a brain and an executor (004), each `{type, payload}`. Fields and messages that the published
 * flows do not name are ours: fields are optional, and messages are sent only to a peer that announced that it knows
 * them, so that a peer that knows only the flows works.
 */

/** A message. `seq` is the journal entry that it shows; a reconnecting executor resumes after it. */
export interface ExecutorMessage {
  readonly type: string;
  readonly payload: JsonObject;
  readonly seq?: number;
}

/** Extensions that an executor may announce: it keeps a ledger, judges actions, can cancel them, knows traces. */
export const EXTENSIONS = ["ledger", "judge", "cancel", "trace"] as const;

/** One of them. */
export type Extension = (typeof EXTENSIONS)[number];

/** The first message of an executor: its description and its task. */
export interface Handshake {
  readonly client_type: string;
  readonly client_version?: string;
  readonly initial_prompt?: string;
  readonly known_tools: readonly string[];
  readonly custom_tools?: readonly CustomTool[];
  readonly project_spec?: { readonly content: string; readonly file_paths?: readonly string[] };
  readonly resume?: { readonly session_id: string; readonly last_seq?: number };
  /** Actions that it received before the connection was cut and is still carrying out. */
  readonly open_actions?: readonly string[];
  /** Ours: the model that decides, and how long it thinks. */
  readonly model?: string;
  readonly effort?: ReasoningEffort;
  /** Ours: a run of the same owner that has ended; its turns, calls and results come before the task. */
  readonly continues_run?: string;
  readonly name?: string;
  readonly working_directory?: string;
  readonly extensions?: readonly string[];
}

/** A tool that only this executor has. */
export interface CustomTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** Whether running it twice has the same effect as running it once; false when absent. */
  readonly idempotent?: boolean;
  /** Its strongest effect; `write` when absent. */
  readonly effect?: ToolEffect;
}

/** The answer to a handshake. */
export interface HandshakeAck {
  readonly session_id: string;
  /** Null when the handshake had no task. */
  readonly task_id: string | null;
  readonly tools_accepted: readonly string[];
  readonly tools_rejected: readonly string[];
  readonly server_version: string;
  /** Not in the contract; absent from other brains. */
  readonly policy?: { readonly timeouts: { readonly exec: number }; readonly max_payload: number };
  readonly session_epoch: number;
  /** Id of the task's run on the other wires. */
  readonly run_id?: string;
}

/** Our names of the tools that the flows name. */
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

/** The tool of a wire name, if the flows name it. */
export function toolOfWireName(wire: string): string | undefined {
  return Object.hasOwn(TOOLS_BY_WIRE_NAME, wire) ? TOOLS_BY_WIRE_NAME[wire] : undefined;
}

/** The wire name of a tool; its own name when the flows do not name it. */
export function wireName(tool: string): string {
  return WIRE_NAMES.get(tool) ?? tool;
}

/** The text in a field; empty when it is missing or not a text. */
export function textOrEmpty(payload: JsonObject, field: string): string {
  return textIn(payload, field) ?? "";
}

/** An action as a tool call of the wire. */
export function toolCallOf({ tool, input }: Pick<Action, "tool" | "input">): {
  readonly tool_name: string;
  readonly parameters: JsonObject;
} {
  if (tool !== "shell") return { tool_name: wireName(tool), parameters: input };
  // The timeout is a field beside the parameters, as for every tool.
  const { timeout_ms: _, ...parameters } = input;
  return { tool_name: wireName(tool), parameters: { dir_path: ".", ...parameters } };
}

/** The action in a tool call of the wire. */
export function actionOfCall(payload: JsonObject): Action {
  const { parameters, timeout_ms } = payload;
  const [name, id] = [textOrEmpty(payload, "tool_name"), textOrEmpty(payload, "tool_id")];
  const tool = toolOfWireName(name) ?? name;
  const given = isObject(parameters) ? parameters : {};
  const input = tool === "shell" && timeout_ms !== undefined ? { ...given, timeout_ms } : given;
  return { id, tool, input, callId: id };
}

/** Fields of the message around an order. */
export interface OrderEnvelope {
  readonly generation: string;
  readonly sessionEpoch: number;
}

/** The order to run a tool. */
export function runToolMessage(order: Order, { generation, sessionEpoch }: OrderEnvelope): ExecutorMessage {
  const { action, run, epoch, ttlMs, approved, ledger, traceparent } = order;
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
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return { type: "run_tool", payload };
}

/** The order in a message that matches its schema. */
export function orderOfMessage(payload: JsonObject): Order {
  const { run_epoch, session_epoch = 0, ttl_ms = RUN_LIMITS.orderMs } = payload;
  const [approved, ledger] = [textOrEmpty(payload, "approved"), textOrEmpty(payload, "ledger")];
  const traceparent = textOrEmpty(payload, "traceparent");
  return {
    action: actionOfCall(payload),
    // Without a run id the session epoch fences orders: those of an older session are refused.
    run: textOrEmpty(payload, "run_id") || "session",
    epoch: Number(run_epoch ?? session_epoch),
    ttlMs: Number(ttl_ms),
    ...(approved === "" ? {} : { approved }),
    ...(ledger === "" ? {} : { ledger }),
    ...(traceparent === "" ? {} : { traceparent }),
  };
}

/** Fields of the message around an end. */
export interface EndEnvelope {
  readonly tool_id: string;
  readonly generation_id: string;
  readonly duration_ms: number;
}

/** The message with the end of an action, at most `maxBytes` long: long texts lose their middle. */
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
  // `ended` repeats all other fields, so those are dropped first.
  const bare = (of: ActionEnd): ExecutorMessage => message(of, { status: statusOf(of), truncated: true });
  if (fits(bare(ended), maxBytes)) return bare(ended);
  const light = withoutEndFiles(ended);
  if (fits(bare(light), maxBytes)) return bare(light);
  let chars = maxBytes;
  let cut = light;
  do {
    chars = Math.floor(chars / 2);
    cut = shortenEnd(light, chars);
  } while (!fits(bare(cut), maxBytes) && chars > SHORTEST_CHARS);
  return bare(cut);
}

const SHORTEST_CHARS = 64;
const encoder = new TextEncoder();

/** Whether a message is within the bound. */
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
  if (outcome.kind === "value") {
    return { kind: "value", text: headAndTail(outcome.text, chars) };
  }
  const short = (output: Output): Output =>
    output.text.length > chars ? { ...output, text: headAndTail(output.text, chars), truncated: true } : output;
  return { ...outcome, stdout: short(outcome.stdout), stderr: short(outcome.stderr) };
}

/**
 * The end of an action in a message that matches its schema. A peer of ours also sends `ended`, which is used first.
 * A message without a status gives an unknown outcome.
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

/** The fault in a message; an unknown code becomes TOOL_FAILED. */
function faultOf({ code }: JsonObject, message: string): FaultReport {
  const known = typeof code === "string" && Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "TOOL_FAILED";
  return { code: known, message };
}

function processOf(payload: JsonObject): Outcome {
  const { status, result, stdout, stderr, error, exit_code, duration_ms, truncated } = payload;
  const said = typeof stdout === "string" && stdout !== "" ? stdout : (result ?? "");
  // The error text is appended to stderr.
  const words = [typeof stderr === "string" ? stderr : "", errorText(error) ?? ""].filter((part) => part !== "");
  const isError = status === "error";
  const output = (text: string): Output => ({
    text,
    bytes: encoder.encode(text).length,
    truncated: truncated === true,
    // The hash of the whole output is not known here.
    sha256: "",
  });
  return {
    kind: "process",
    // With status "error" an exit code of 0 is not believed.
    exitCode: typeof exit_code === "number" && !(isError && exit_code === 0) ? exit_code : isError ? null : 0,
    signal: null,
    timedOut: false,
    durationMs: typeof duration_ms === "number" ? duration_ms : 0,
    stdout: output(typeof said === "string" ? said : JSON.stringify(said)),
    stderr: output(words.join("\n")),
  };
}

/** The request to judge an action. */
export function judgeToolMessage(action: Action): ExecutorMessage {
  return { type: "judge_tool", payload: { ...toolCallOf(action), tool_id: action.id, timeout_ms: timeoutOf(action) } };
}

/** The message with a judgement, or with the fault that the action would meet. */
export function toolJudgementMessage(action: string, judged: Judgement | FaultReport): ExecutorMessage {
  if ("code" in judged)
    return { type: "tool_judgement", payload: { tool_id: action, error: judged.message, code: judged.code } };
  return { type: "tool_judgement", payload: { tool_id: action, judgement: judged as unknown as JsonObject } };
}

/** The judgement in a message that matches its schema, or the fault that the action would meet. */
export function readJudgement(payload: JsonObject): Judgement | FaultReport {
  const { judgement, error } = payload;
  if (judgement !== undefined) return judgement as unknown as Judgement;
  return faultOf(payload, errorText(error) ?? "The executor did not say why.");
}
