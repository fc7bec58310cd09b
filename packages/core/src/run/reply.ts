import { boundedText, CONTROL_TOOL_NAMES, readActionLine, itemOfCall } from "./action-line.ts";
import type { ReplyItem } from "./action-line.ts";
import type { Event, HealTried, ModelReplied, ToolProposed } from "../event.ts";
import type { FaultReport } from "../fault.ts";
import { canonicalJson } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { MODEL_LIMITS, RUN_LIMITS } from "../limits.ts";
import type { ModelReply } from "../ports.ts";
import { coerceInput, mendJsonText } from "./coerce-input.ts";
import { controlTools } from "./prompt.ts";
import { proposedInputMisfit, readProposal } from "./proposal.ts";
import { ProseReader, readingOf } from "./prose.ts";
import type { RunState } from "./run.ts";
import type { Action, ToolSpec } from "../tool.ts";

/*
 * The only place that turns a model's reply into events, for native tool calls and for action lines (one JSON object
 * per line). The first item that acts, asks or ends is carried out; later ones are reported back to the model. In a
 * reply of a model that calls tools natively, action lines count only when there is no other text: examples are no calls.
 */

/** Makes a globally unique id. */
export type NewId = () => string;

/** The events of a reply: `model.replied` with its plans, notes and proposals, or `model.failed`. */
export function replyEvents(reply: ModelReply, state: RunState, newId: NewId): readonly Event[] {
  const isNative = reply.native === true || reply.calls.some(({ written }) => written !== true) || state.native;
  const offered = namesOf(controlTools(state.started));
  if (reply.text.length > MODEL_LIMITS.replyChars) return [unusableReply(state, "The answer is too long.")];
  const { prose, said, quoted } = parseReply(reply, { state, offered });
  if (prose === "" && said.length === 0) return [unusableReply(state, "The answer is empty.")];

  const first = said.findIndex((item) => item.kind !== "aside");
  const taken = said[first];
  const proposed = taken?.kind === "propose" ? proposalEvent(taken, state) : undefined;
  const told = [
    ...(typeof proposed === "string" ? [proposed] : []),
    ...said
      .filter((item, index) => first !== -1 && index > first && !hasOwnResult(item, reply))
      .flatMap((item) => notRunNotice(item)),
  ];
  const asides = said.filter((item) => item.kind === "aside");
  const replied: ModelReplied = {
    type: "model.replied",
    model: reply.model,
    text: prose,
    usage: reply.usage,
    ...(reply.cutShort === undefined ? {} : { cutShort: reply.cutShort }),
    ...(isNative ? { native: true } : {}),
    ...windowOf(reply, state),
    ...writtenLines(said, quoted),
    ...withUnmet(reply, taken === undefined ? effectOfAsides(prose, asides) : effectOf(taken, state, newId)),
    ...(told.length === 0 ? {} : { told }),
  };
  const parts = keptParts(reply, replied);
  return [
    parts === undefined ? replied : { ...replied, parts },
    ...mendedArguments(reply, replied),
    ...asides.flatMap((item) => asideEvent(item)),
    ...(typeof proposed === "object" ? [proposed] : []),
  ];
}

const namesByTools = new WeakMap<readonly ToolSpec[], ReadonlySet<string>>();

/** The names of tools: the same lists come with each reply of a run. */
function namesOf(tools: readonly ToolSpec[]): ReadonlySet<string> {
  let names = namesByTools.get(tools);
  if (names === undefined) namesByTools.set(tools, (names = new Set(tools.map(({ name }) => name))));
  return names;
}

/** The healing of arguments that were put right. */
function mendedArguments({ calls, model }: ModelReply, { action }: ModelReplied): readonly HealTried[] {
  const call = calls.find(({ id, tool }) => action !== undefined && id === action.callId && tool === action.tool);
  if (call === undefined || action === undefined) return [];
  if (call.input === action.input) return [];
  const isMended = typeof call.input === "string" || canonicalJson(call.input) !== canonicalJson(action.input);
  // A text that could not be put right is refused, and the model is told.
  if (!isMended || (typeof call.input === "string" && mendJsonText(call.input) === undefined)) return [];
  const description = `The arguments of ${action.tool} had a wrong form and were put right by its schema.`;
  const metadata = { model, tool: action.tool };
  return [
    { type: "heal.tried", healing: "coerce_arguments", description, severity: "low", attempt: 1, delayMs: 0, metadata },
  ];
}

/** The window that the model's server named, when the run does not know it. */
function windowOf({ window }: ModelReply, { context }: RunState): Pick<ModelReplied, "window"> {
  return window === undefined || window === context.window ? {} : { window };
}

/** Whether a call that is not run gets a result of its own, because the vendor's parts go back whole. */
function hasOwnResult({ callId }: ReplyItem, { parts }: ModelReply): boolean {
  return callId !== undefined && parts !== undefined;
}

/** The vendor's parts of a reply, if they say more than the reply does; the input of the call at hand is not doubled. */
function keptParts({ model, parts }: ModelReply, replied: ModelReplied): ModelReplied["parts"] {
  if (parts === undefined) return undefined;
  const taken = replied.action ?? replied.control;
  const items = parts.items.map((part) => {
    if (part.kind !== "call" || part.callId !== taken?.callId || part.tool !== taken.tool) return part;
    // An input that was put right goes back to its model as it came: signatures cover it.
    if (canonicalJson(part.input ?? {}) !== canonicalJson(taken.input)) return part;
    const { input: _, ...call } = part;
    return call;
  });
  return { from: model, ...parts, items };
}

/** Action lines that must be kept as text for the next prompt because no call or answer stands for them. */
function writtenLines(said: readonly ReplyItem[], quoted: readonly string[]): Pick<ModelReplied, "written"> {
  const lines = said.flatMap(({ kind, line }) =>
    line === undefined || kind === "action" || kind === "done" ? [] : [line],
  );
  const written = [...quoted, ...lines];
  return written.length === 0 ? {} : { written: written.join("\n") };
}

/** Whether a text consists of action lines only. */
function isLinesAlone(text: string): boolean {
  return text.split("\n").every((line) => line.trim() === "" || readActionLine(line) !== undefined);
}

/** A reply split into prose, calls and quoted lines. */
interface ParsedReply {
  readonly prose: string;
  readonly said: readonly ReplyItem[];
  /** Action lines that are not carried out, because the reply also has native calls and prose. */
  readonly quoted: readonly string[];
}

function parseReply(
  reply: ModelReply,
  { state, offered }: { readonly state: RunState; readonly offered: ReadonlySet<string> },
): ParsedReply {
  const reader = new ProseReader(readingOf(state, reply.native === true));
  const prose = (reader.push(reply.text) + reader.end()).trim();
  const isQuoting = reply.calls.length > 0 && !isLinesAlone(reply.text);
  const tools = namesOf(state.tools);
  // A control tool that the run does not offer is treated as an unknown tool; a tool of the run goes before our words.
  const withinOffer = (item: ReplyItem): ReplyItem =>
    tools.has(item.name) || (CONTROL_TOOL_NAMES.has(item.name) && !offered.has(item.name))
      ? { ...item, kind: "action" }
      : item;
  const itemOf = (name: string, input: JsonObject): ReplyItem =>
    tools.has(name) ? { kind: "action", name, input } : withinOffer(itemOfCall(name, input));
  const coerced = (name: string, input: JsonObject): JsonObject =>
    coerceInput(input, state.tools.find((tool) => tool.name === name && tool.caller !== true)?.parameters ?? {});
  const said: ReplyItem[] = [];
  for (const line of isQuoting ? [] : reader.lines) said.push(withinOffer({ ...readActionLine(line)!, line }));
  for (const call of reply.calls) {
    const input = typeof call.input === "string" ? mendJsonText(call.input) : call.input;
    if (input === undefined) {
      const fault: FaultReport = { code: "BAD_ARGUMENTS", message: "The arguments are not a JSON object." };
      said.push({ kind: "action", name: call.tool, input: {}, callId: call.id, fault });
    } else said.push({ ...itemOf(call.tool, coerced(call.tool, input)), callId: call.id });
  }
  return { prose, said, quoted: isQuoting ? reader.lines : [] };
}

type ReplyEffect = Pick<ModelReplied, "action" | "control" | "refusal" | "answer" | "unmet" | "question">;

/** The effect of a reply; an answer of which the model says that the task was not done carries the mark. */
function withUnmet({ unmet }: ModelReply, effect: Partial<ReplyEffect>): Partial<ReplyEffect> {
  return unmet === true && effect.answer !== undefined ? { ...effect, unmet } : effect;
}

/** A reply without an action: text alone is the answer; a plan or note alone lets the model continue. */
function effectOfAsides(prose: string, asides: readonly ReplyItem[]): Partial<ReplyEffect> {
  const called = asides.find((item) => item.callId !== undefined);
  if (called !== undefined) return { control: controlCall(called) };
  return asides.length === 0 ? { answer: prose } : {};
}

function effectOf(taken: ReplyItem, state: RunState, newId: NewId): Partial<ReplyEffect> {
  switch (taken.kind) {
    case "done":
      return { answer: taken.input["result"] ?? "", ...(taken.input["success"] === false ? { unmet: true } : {}) };
    case "ask":
      return {
        question: {
          text: boundedText(taken.input["question"]),
          options: boundedTexts(taken.input["options"], RUN_LIMITS.options),
        },
        ...(taken.callId === undefined ? {} : { control: controlCall(taken) }),
      };
    case "propose":
    case "aside":
      return taken.callId === undefined ? {} : { control: controlCall(taken) };
    case "action": {
      const action: Action = {
        id: newId(),
        tool: taken.name,
        input: taken.input,
        callId: taken.callId ?? `call_${state.seq}`,
      };
      const fault = taken.fault ?? unusableCall(action, state);
      return fault === undefined ? { action } : { action, refusal: fault };
    }
  }
}

/** Why a call cannot be carried out: there is no such tool, or a proposed one cannot be used with this input. */
function unusableCall({ tool: name, input }: Action, { tools }: RunState): FaultReport | undefined {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) {
    const message = proposedInputMisfit(tool, input);
    return message === undefined ? undefined : { code: "BAD_ARGUMENTS", message };
  }
  const names = tools.map((one) => one.name).join(", ");
  return { code: "UNKNOWN_TOOL", message: `There is no tool named ${JSON.stringify(name)}. The tools are: ${names}.` };
}

function controlCall(said: ReplyItem): Action {
  return { id: "", tool: said.name, input: said.input, callId: said.callId ?? "" };
}

function notRunNotice(said: ReplyItem): string[] {
  if (said.kind === "aside") return [];
  return [
    `Not run: ${said.name} ${JSON.stringify(said.input).slice(0, 200)}. One action at a time; ask again if it is still needed.`,
  ];
}

function asideEvent(said: ReplyItem): Event[] {
  const { input } = said;
  switch (said.name) {
    case "plan":
      return [{ type: "plan.made", steps: boundedTexts(input["steps"], RUN_LIMITS.planSteps) }];
    case "observe":
      return [{ type: "note.observed", note: boundedText(input["summary"]) }];
    case "commit_kb":
      return [
        {
          type: "knowledge.committed",
          title: boundedText(input["title"]),
          tags: boundedTexts(input["tags"], RUN_LIMITS.options),
          snippet: boundedText(input["snippet"]),
          status: boundedText(input["status"]),
        },
      ];
    default:
      return [];
  }
}

/** The event of a proposal, or the reason why the proposal is invalid. */
function proposalEvent({ input }: ReplyItem, { started }: RunState): ToolProposed | string {
  const tool = readProposal(input, namesOf(started.tools));
  return typeof tool === "string" ? tool : { type: "tool.proposed", tool };
}

function unusableReply(state: RunState, message: string): Event {
  return { type: "model.failed", attempt: state.attempt, fault: { code: "MODEL_RUBBISH", message } };
}

function boundedTexts(value: Json | undefined, most: number): readonly string[] {
  return Array.isArray(value) ? value.slice(0, most).map((item: Json) => boundedText(item)) : [];
}
