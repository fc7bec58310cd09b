import { Fault, FAULTS } from "../fault.ts";
import type { FaultCode, FaultReport } from "../fault.ts";
import { isPdfPart, readFileParts } from "../file-part.ts";
import { isObject, textIn } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { HAND_LIMITS, REGISTER_LIMITS, RUN_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { Action, ActionEnd, Output, ProcessOutcome, Receipt, ToolSpec } from "../tool.ts";
import { headAndTail } from "../run/turns.ts";
import { FILES_LEFT_OUT } from "./action-end.ts";

/*
 * The messages between a brain and a hand on another host (000 §3), the same over WebSocket and signed HTTP. Fields
 * that the published contract does not name are ours and optional, so that a peer that knows only the contract works.
 */

/** The capabilities that a hand may declare. */
export const CAPABILITIES = [
  "command.exec",
  "telemetry.push",
  "file.diff",
  "file.apply",
  "tool.run",
  "action.judge",
  "action.cancel",
  "action.ack",
  "host.facts",
  "spool.read",
] as const;

/** Capability of a hand that accepts approvals only with the brain's signature. */
export const SIGNED_APPROVALS = "approval.signed";

/** One of them. */
export type Capability = (typeof CAPABILITIES)[number];

/** The first message of a hand: its description. */
export interface Hello {
  readonly method: "hello";
  readonly agent_id: string;
  readonly name: string;
  readonly version: string;
  readonly capabilities: readonly string[];
  readonly timestamp: string;
  /** The tools behind `tool.run`. */
  readonly tools?: readonly ToolSpec[];
  readonly workspace?: string;
  readonly tags?: readonly string[];
  /** The highest session epoch that the hand has seen; 0 before the first session. */
  readonly session_epoch?: number;
  /** The public key of the receipts that it signs. */
  readonly receipt_key?: string;
}

/** The limits that a hand must obey. */
export interface HelloPolicy {
  /** Longest time of a command, in milliseconds. */
  readonly timeouts: { readonly exec: number };
  /** Longest message in either direction, in bytes of its JSON text as UTF-8, inclusive. */
  readonly max_payload: number;
}

/** The answer to a hello. */
export interface Welcome {
  readonly ok: true;
  readonly policy: HelloPolicy;
  readonly session_epoch: number;
  readonly server_version: string;
  /** The brain stores receipts; without this flag a hand sends none. */
  readonly receipts?: true;
}

/** A message without its envelope; `type` instead of `method`, and `{id, method, params, timestamp}`, are accepted. */
export interface AgentRequest {
  readonly method: string;
  /** Echoed in the reply. */
  readonly id?: string;
  readonly fields: JsonObject;
}

/** Opens the envelope of a request; BAD_REQUEST when it is malformed. */
export function openEnvelope(message: JsonObject): AgentRequest {
  const { id, method, type, params, timestamp: _, ...rest } = message;
  const name = method ?? type;
  if (typeof name !== "string")
    throw new Fault("BAD_REQUEST", 'A message names what it asks for in "method" (or "type").');
  if (id !== undefined && !(typeof id === "string" && id.length <= REGISTER_LIMITS.nameChars))
    throw new Fault("BAD_REQUEST", `"id" is a text of at most ${REGISTER_LIMITS.nameChars} characters.`);
  if (params !== undefined && !isObject(params)) throw new Fault("BAD_REQUEST", '"params" is an object.');
  return { method: name, ...(id === undefined ? {} : { id }), fields: { ...rest, ...params } };
}

/** Maps a tool to a method of the contract, in both directions. */
interface ToolMapping {
  readonly method: Capability;
  readonly fields: (input: JsonObject) => JsonObject;
  readonly input: (fields: JsonObject) => JsonObject;
}

const TOOL_MAPPINGS: { readonly [tool: string]: ToolMapping } = {
  command: {
    method: "command.exec",
    fields: ({ command, args = [], cwd = ".", timeout_ms = HAND_LIMITS.commandMs }) =>
      definedFields({ command, args, timeout: timeout_ms, cwd }),
    input: ({ command, args, cwd, timeout }) => definedFields({ command, args, cwd, timeout_ms: timeout }),
  },
  file_diff: {
    method: "file.diff",
    fields: ({ path, want }) => definedFields({ path, want }),
    input: ({ path, want }) => definedFields({ path, want }),
  },
  file_apply: {
    method: "file.apply",
    fields: ({ path, patch, base_sha256 }) => definedFields({ path, patch, base_sha256 }),
    input: ({ path, patch, base_sha256 }) => definedFields({ path, patch, base_sha256 }),
  },
};

/** The standard tools that a hand's capabilities imply. */
export function toolsOfCapabilities(
  capabilities: readonly string[],
  standard: readonly ToolSpec[],
): readonly ToolSpec[] {
  return standard.filter(({ name }) => capabilities.includes(TOOL_MAPPINGS[name]?.method ?? ""));
}

/** An order with the contract's fields only, for hands that may refuse unknown fields. */
export function bareOrder({ action }: Order): JsonObject {
  return actionRequest(action);
}

/** The request to carry out an action. */
export function orderMessage(order: Order, sessionEpoch: number): JsonObject {
  const { action, approved, run, epoch, ttlMs, ledger, warrant, traceparent } = order;
  return {
    ...actionRequest(action),
    session_epoch: sessionEpoch,
    ttl_ms: ttlMs,
    run_id: run,
    run_epoch: epoch,
    ...(approved === undefined ? {} : { approved }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(warrant === undefined ? {} : { warrant }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function actionRequest({ id, tool, input }: Action): JsonObject {
  const saying = TOOL_MAPPINGS[tool];
  if (saying === undefined) return { method: "tool.run", action_id: id, tool, input };
  return { method: saying.method, action_id: id, ...saying.fields(input) };
}

/** The request to judge an action. */
export function judgeMessage({ id, tool, input }: Action): JsonObject {
  return { method: "action.judge", action_id: id, tool, input };
}

/** The order in a request that matches its schema. */
export function orderOfRequest({ method, fields }: AgentRequest): Order {
  const { run_epoch, session_epoch = 0, ttl_ms = RUN_LIMITS.orderMs } = fields;
  const [approved, ledger] = [textIn(fields, "approved"), textIn(fields, "ledger")];
  const [warrant, traceparent] = [textIn(fields, "warrant"), textIn(fields, "traceparent")];
  return {
    action: actionOf(method, fields),
    // Without a run id the session epoch fences orders: those of an older session are refused.
    run: textIn(fields, "run_id") ?? "session",
    epoch: Number(run_epoch ?? session_epoch),
    ttlMs: Number(ttl_ms),
    ...(approved === undefined ? {} : { approved }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(warrant === undefined ? {} : { warrant }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function actionOf(method: string, fields: JsonObject): Action {
  const id = textIn(fields, "action_id") ?? "";
  const [tool, saying] = Object.entries(TOOL_MAPPINGS).find(([, one]) => one.method === method) ?? [];
  if (tool !== undefined && saying !== undefined) return { id, tool, input: saying.input(fields), callId: id };
  return { id, tool: textIn(fields, "tool") ?? "", input: (fields["input"] ?? {}) as JsonObject, callId: id };
}

/** The action in a request to judge it. */
export function actionToJudge(fields: JsonObject): Action {
  return actionOf("action.judge", fields);
}

/** The reply with the end of an action, in the form that its method requires. */
export function endReply(method: string, ended: ActionEnd): JsonObject {
  if (ended.type !== "finished") {
    const { code, message } = ended.fault;
    const partial = ended.type === "unknown" && ended.partial !== undefined ? { partial: ended.partial } : {};
    const settled = ended.type === "failed" && ended.settled === true ? { settled: true } : {};
    return { ok: false, error: message, code, ...partial, ...settled };
  }
  const { outcome } = ended;
  if (outcome.kind === "process") return processReply(outcome);
  if (method === "tool.run")
    return definedFields({ ok: true, text: outcome.text, data: outcome.data, files: outcome.files });
  return { ok: true, ...(isObject(outcome.data) ? outcome.data : {}) };
}

function processReply({ stdout, stderr, ...how }: ProcessOutcome): JsonObject {
  return {
    ok: true,
    exit_code: how.exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    ...(how.signal === null ? {} : { signal: how.signal }),
    ...(how.timedOut ? { timed_out: true } : {}),
    ...(stdout.truncated || stderr.truncated ? { truncated: true } : {}),
    total_bytes: stdout.bytes + stderr.bytes,
    duration_ms: how.durationMs,
    output: { stdout: sizeOf(stdout), stderr: sizeOf(stderr) },
    ...(how.spool === undefined ? {} : { spool: how.spool }),
  };
}

function sizeOf({ bytes, truncated, sha256 }: Output): JsonObject {
  return { bytes, truncated, sha256 };
}

/** The same reply with the receipt, and with the text that the receipt covers where the contract has no field for it. */
export function endReplyWithReceipt(method: string, ended: ActionEnd): JsonObject {
  const { receipt } = ended;
  const reply = endReply(method, ended);
  if (receipt === undefined) return reply;
  const value = ended.type === "finished" && ended.outcome.kind === "value" ? ended.outcome : undefined;
  const words = value === undefined || method === "tool.run" ? {} : { words: value.text };
  return { ...reply, ...words, receipt: { ...receipt } };
}

/** The end of an action in a reply that matches its schema. */
export function endOfReply(reply: JsonObject): ActionEnd {
  const ended = endWithoutReceipt(reply);
  const { receipt } = reply;
  if (receipt === undefined || (ended.type !== "finished" && ended.fault.code !== reply["code"])) return ended;
  return { ...ended, receipt: receipt as unknown as Receipt };
}

function endWithoutReceipt(reply: JsonObject): ActionEnd {
  if (reply["ok"] === false) return failureOf(reply);
  if ("exit_code" in reply) return { type: "finished", outcome: processOf(reply) };
  if (typeof reply["text"] === "string") {
    const { text, data, files } = reply;
    const value = { kind: "value", text, ...(data === undefined ? {} : { data }) } as const;
    const shown = readFileParts(files);
    return { type: "finished", outcome: shown === undefined ? value : { ...value, files: shown } };
  }
  const { ok: _, id: _id, action_id: _action, method: _method, receipt: _receipt, words, ...data } = reply;
  if (typeof words === "string") return { type: "finished", outcome: { kind: "value", text: words, data } };
  const text = typeof data["patch"] === "string" ? data["patch"] || "[no difference]" : JSON.stringify(data);
  const base = textIn(data, "base_sha256");
  return {
    type: "finished",
    outcome: { kind: "value", text: base === undefined ? text : `${text}[base_sha256 ${base}]`, data },
  };
}

function failureOf(reply: JsonObject): ActionEnd {
  const fault = faultOf(reply);
  const partial = textIn(reply, "partial");
  if (fault.code !== "OUTCOME_UNKNOWN" && fault.code !== "OUTCOME_EVICTED")
    return { type: "failed", fault, ...(reply["settled"] === true ? { settled: true } : {}) };
  return { type: "unknown", fault, ...(partial === undefined ? {} : { partial }) };
}

/** The fault in a reply; an unknown code becomes TOOL_FAILED. */
export function faultOf(reply: JsonObject): FaultReport {
  const code = textIn(reply, "code") ?? "";
  const known = Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "TOOL_FAILED";
  return { code: known, message: textIn(reply, "error") ?? "The hand did not say why." };
}

function processOf(reply: JsonObject): ProcessOutcome {
  const sizes = isObject(reply["output"]) ? reply["output"] : {};
  const { exit_code, signal, timed_out, duration_ms, spool } = reply;
  return {
    kind: "process",
    exitCode: typeof exit_code === "number" ? exit_code : null,
    signal: typeof signal === "string" ? signal.slice(0, REGISTER_LIMITS.nameChars) : null,
    timedOut: timed_out === true,
    durationMs: typeof duration_ms === "number" ? duration_ms : 0,
    stdout: outputOf(reply["stdout"], sizes["stdout"], reply["truncated"] === true),
    stderr: outputOf(reply["stderr"], sizes["stderr"], reply["truncated"] === true),
    ...(typeof spool === "string" ? { spool } : {}),
  };
}

/** An output stream of a reply. Without sizes, those of the sent text are used; without a hash it stays empty. */
function outputOf(text: Json | undefined, size: Json | undefined, truncated: boolean): Output {
  const kept = typeof text === "string" ? text : "";
  const said = isObject(size) ? size : {};
  return {
    text: kept,
    bytes: typeof said["bytes"] === "number" ? said["bytes"] : encoder.encode(kept).length,
    truncated: typeof said["truncated"] === "boolean" ? said["truncated"] : truncated,
    sha256: typeof said["sha256"] === "string" ? said["sha256"] : "",
  };
}

/** Shortens a reply to `maxBytes`: texts lose their middle; `data` and the receipt, which cover the whole, are dropped. */
export function fitReply(reply: JsonObject, maxBytes: number): JsonObject {
  if (reply["files"] !== undefined && bytesOf(reply) > maxBytes) {
    const { files, ...light } = reply;
    // The text of a PDF is there.
    if (readFileParts(files)?.every(isPdfPart) === true) return fitReply(light, maxBytes);
    const { receipt: _receipt, text, ...rest } = light;
    return fitReply({ ...rest, text: `${typeof text === "string" ? text : ""}\n${FILES_LEFT_OUT}` }, maxBytes);
  }
  let fits: JsonObject = reply;
  for (let chars = maxBytes; bytesOf(fits) > maxBytes; chars = Math.floor(chars / 2)) {
    if (chars < SHORTEST_CHARS) return unsendableReply(reply);
    const { data: _, receipt: _receipt, ...kept } = reply;
    const cut = Object.entries(kept).map(([name, value]) => [
      name,
      typeof value === "string" ? headAndTail(value, chars) : value,
    ]);
    fits = { ...Object.fromEntries(cut), truncated: true };
  }
  return fits;
}

const SHORTEST_CHARS = 64;
const encoder = new TextEncoder();

/** The reply when shortening is not enough; the end of an action becomes unknown, not failed. */
function unsendableReply({ ok, judgement }: JsonObject): JsonObject {
  const isOutcome = ok === true && judgement === undefined;
  const code: FaultCode = isOutcome ? "OUTCOME_UNKNOWN" : "PAYLOAD_TOO_LARGE";
  return { ok: false, code, error: isOutcome ? "It was done; what came of it is too long to be sent." : "Too long." };
}

/** The length of a message for `max_payload`: bytes of its JSON text as UTF-8. */
export function bytesOf(value: Json): number {
  return encoder.encode(JSON.stringify(value)).length;
}

/** The fault of a message over the bound; undefined when it is within it. */
export function tooLongFault(bytes: number, maxBytes: number): Fault | undefined {
  if (bytes <= maxBytes) return undefined;
  return new Fault("PAYLOAD_TOO_LARGE", `A message has at most ${maxBytes} bytes; this one has ${bytes}.`);
}

/** Splits live output into messages of at most `maxBytes`; `message` builds one from a part of the chunk. */
export function outputParts(chunk: string, maxBytes: number, message: (part: string) => JsonObject): JsonObject[] {
  const whole = message(chunk);
  if (chunk.length < 2 || bytesOf(whole) <= maxBytes) return [whole];
  const middle = chunk.length >> 1;
  // A surrogate pair is not split, also when it alone is longer than the bound.
  const at = /[\uDC00-\uDFFF]/.test(chunk[middle] ?? "") ? middle + 1 : middle;
  if (at === chunk.length) return [whole];
  return [chunk.slice(0, at), chunk.slice(at)].flatMap((part) => outputParts(part, maxBytes, message));
}

function definedFields(fields: { readonly [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter((entry) => entry[1] !== undefined));
}
