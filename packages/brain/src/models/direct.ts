import { asFault, Fault, HAND_LIMITS, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { DIRECT, isTask, taskBeforeDigest } from "@vidro/core/run";
import type { Json, JsonObject, Model, ModelCall, ModelEvent, ModelRequest, ToolSpec, Turn } from "@vidro/core";

const COMMAND = "command";

/**
 * A model that decides nothing: its task is a program with arguments as a JSON array, or a tool with its input as an
 * object, which it calls once on each hand of the run; the outcomes are its answer. It keeps nothing between calls.
 */
export function directModel(): Model {
  return { name: DIRECT, call: (request, signal) => stream(request, signal) };
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  try {
    if (signal.aborted) throw new Fault("MODEL_CUT", "The call was aborted.");
    const usage = { inputTokens: 0, outputTokens: 0 };
    yield { type: "replied", reply: { model: DIRECT, text: "", calls: [nextCall(request)], usage } };
  } catch (thrown) {
    yield { type: "failed", fault: asFault(thrown).report() };
  }
}

/** The next step, from the conversation alone: the command on the next hand, or the end. */
function nextCall({ turns, tools }: ModelRequest): ModelCall {
  const start = turns.findLastIndex(isTask);
  const { tool: name, input: asked } = callIn(taskBeforeDigest(turns[start]?.text ?? ""));
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Fault("BAD_REQUEST", `No hand of this run has the tool ${name}.`);
  const results = resultsIn(turns.slice(start + 1));
  const hosts = hostsIn(tool.parameters["properties"]);
  if (results.length >= Math.max(1, hosts.length))
    return { id: "direct-done", tool: "done", input: { result: answer(results, hosts) } };
  const host = hosts[results.length];
  const limits = name === COMMAND ? patience(tool) : {};
  const input = { ...asked, ...limits, ...(host === undefined ? {} : { hand: host }) };
  return { id: `direct-${results.length + 1}`, tool: name, input };
}

/** The call that a task stands for. */
function callIn(task: string): { readonly tool: string; readonly input: JsonObject } {
  const value = jsonIn(task);
  if (isObject(value) && typeof value["tool"] === "string" && isObject(value["input"]))
    return { tool: value["tool"], input: value["input"] };
  const [command = "", ...args] = argvIn(value);
  return { tool: COMMAND, input: { command, args } };
}

/**
 * The result of each call, in order. The number in a call's id is its index: a result whose turn was compacted away
 * leaves a gap, and its call is not repeated.
 */
function resultsIn(turns: readonly Turn[]): readonly string[] {
  const results: string[] = [];
  for (const turn of turns) {
    if (turn.role !== "tool") continue;
    const place = Number(/^direct-(\d{1,3})$/.exec(turn.callId)?.[1] ?? 0);
    while (results.length < place) results.push("(What came of it was left out here.)");
    if (place > 0) results[place - 1] = turn.text === "" ? "It ended well and said nothing." : turn.text;
  }
  return results;
}

/** Checks an array of strings; anything else is refused, since a guess could run a wrong command. */
function argvIn(value: Json): readonly string[] {
  const isArgv = Array.isArray(value) && value.every((word) => typeof word === "string") && value[0] !== undefined;
  if (!isArgv || value[0] === "")
    throw new Fault("BAD_REQUEST", 'The task is to be a JSON array of a program and its arguments: ["uname", "-a"].');
  if (value.length > HAND_LIMITS.args)
    throw new Fault("BAD_REQUEST", `A command has at most ${HAND_LIMITS.args} arguments.`);
  return value;
}

function jsonIn(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** The longest timeout of the hand: the caller aborts the run to end the command. */
function patience({ parameters }: ToolSpec): JsonObject {
  const properties = parameters["properties"];
  const limit = isObject(properties) ? properties["timeout_ms"] : undefined;
  const most = isObject(limit) ? limit["maximum"] : undefined;
  return typeof most === "number" ? { timeout_ms: most } : {};
}

/** Names of the hands when there are several. */
function hostsIn(properties: Json | undefined): readonly string[] {
  const where = isObject(properties) ? properties["hand"] : undefined;
  const names = isObject(where) ? where["enum"] : undefined;
  return Array.isArray(names) ? names.map(String) : [];
}

function answer(results: readonly string[], hosts: readonly string[]): string {
  return hosts.length === 0 ? results.join("\n") : results.map((text, at) => `${hosts[at]}:\n${text}`).join("\n\n");
}
