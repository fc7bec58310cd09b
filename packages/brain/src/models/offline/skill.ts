import { OFFLINE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { Language } from "@vidro/core/text";
import { quote, readOutput } from "./read-output.ts";
import type { Say } from "./wording.ts";

/** A tool call that a skill wants made. */
export interface ToolCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** Result of a call; `forgotten` when its turn is no longer in the conversation. */
export interface Result {
  readonly text: string;
  readonly failed: boolean;
  readonly forgotten: boolean;
}

/** Context of a skill: its language, and the names of the available tools. */
export interface Desk {
  readonly language: Language;
  readonly say: Say;
  readonly tools: ReadonlySet<string>;
}

/**
 * A skill as a generator: it yields one call at a time, gets its result, and returns the answer. Replaying it over the
 * same results leads to the same call, so the model needs no memory.
 */
export type Skill<Answer = string> = Generator<ToolCall, Answer, Result>;

/** One way to learn something: a call, and a parser of its output that returns undefined when it cannot parse it. */
export interface Way<Facts> {
  readonly call: ToolCall | undefined;
  readonly read: (text: string) => Facts | undefined;
}

/** What was learnt, or the reason why nothing was; after a person's no, no other way is tried. */
export type Learnt<Facts> = { readonly facts: Facts } | Unlearnt;

/** Why nothing was learnt. */
interface Unlearnt {
  readonly trouble: string;
  readonly isPersonsNo: boolean;
  /** There is no such file or program, so that nothing is left unread. */
  readonly isMissing: boolean;
}

/** Tries one way after the other until an output can be parsed; a person's no ends it. */
export function* learn<Facts>(desk: Desk, ways: readonly Way<Facts>[]): Skill<Learnt<Facts>> {
  let trouble = desk.say("noTool");
  let isMissing = true;
  for (const { call, read } of ways) {
    if (call === undefined) continue;
    const result = yield call;
    const facts = result.failed || result.forgotten ? undefined : read(result.text);
    if (facts !== undefined) return { facts };
    trouble = troubleWith(call, result, desk.say);
    isMissing &&= !result.forgotten && isMissingPath(result.text);
    if (isPersonsNo(result)) return { trouble, isPersonsNo: true, isMissing };
  }
  return { trouble, isPersonsNo: false, isMissing };
}

/** Learns something and words the answer. */
export function* tell<Facts>(desk: Desk, ways: readonly Way<Facts>[], words: (facts: Facts) => string): Skill {
  const learnt = yield* learn(desk, ways);
  return "facts" in learnt ? words(learnt.facts) : learnt.trouble;
}

/** Says why a call gave no usable output. */
export function troubleWith(call: ToolCall, result: Result, say: Say): string {
  const what = `\`${callText(call)}\``;
  if (result.forgotten) return say("forgotten", { what });
  if (result.failed) return say("notDone", { what, why: reasonOf(call, result.text, say) });
  if (isMissingPath(result.text)) return say("notDone", { what, why: say("pathMissing") });
  return result.text.trim() === "" ? say("gaveNothing", { what }) : `${say("unread", { what })}\n${quote(result.text)}`;
}

/** The reason of a failure in the asker's language; what a host says in its own words is quoted. */
function reasonOf({ input }: ToolCall, text: string, say: Say): string {
  const [, code = "", words = text] = /^([A-Z_]+): (.*)$/s.exec(text.trim()) ?? [];
  if (code === "APPROVAL_DENIED") return say("deniedByPerson");
  if (code === "APPROVAL_EXPIRED") return say("notAnswered");
  if (code === "APPROVAL_UNASKED") return say("notAsked");
  if (code === "POLICY_DENIED") return say("deniedByPolicy");
  if (code === "HAND_UNAVAILABLE") return say("handAway");
  const { command } = input;
  if (/no program|was not found/.test(words) && typeof command === "string")
    return say("programMissing", { name: command });
  if (isMissingPath(words)) return say("pathMissing");
  if (/permission denied|EACCES|EPERM|not permitted/i.test(words)) return say("notPermitted");
  return say("otherwise", { words: `“${shortLine(words)}”` });
}

/** Whether a tool or a program says that there is no such file. */
export function isMissingPath(text: string): boolean {
  return /no such file|does not exist|there is no (file|folder|\/)|ENOENT|not found/i.test(text);
}

/** Whether a call failed because its program is not there. */
export function isMissingProgram(result: Result): boolean {
  const isUnknown = result.failed && /no program|was not found/.test(result.text);
  return isUnknown || (!result.failed && readOutput(result.text).exitCode === 127);
}

function isPersonsNo(result: Result): boolean {
  return result.failed && /^APPROVAL_(DENIED|EXPIRED|UNASKED)\b/.test(result.text);
}

/** A program without a shell; the read-only shell where that tool is not offered. */
export function runProgram(desk: Desk, name: string, ...args: readonly string[]): ToolCall | undefined {
  if (desk.tools.has("command")) return { tool: "command", input: { command: name, args } };
  if (!desk.tools.has("shell")) return undefined;
  return { tool: "shell", input: { command: [name, ...args].map(shellWord).join(" "), access: "read" } };
}

/** A call of a named tool, where it is offered. */
export function use(desk: Desk, tool: string, input: JsonObject): ToolCall | undefined {
  return desk.tools.has(tool) ? { tool, input } : undefined;
}

/** A call as a person would write it. */
function callText({ tool, input }: ToolCall): string {
  const { command, args } = input;
  if (tool === "shell" && typeof command === "string") return shortLine(command);
  const words = tool === "command" ? [command, ...(Array.isArray(args) ? args : [])] : [tool, ...Object.values(input)];
  return shortLine(words.map((word) => (typeof word === "string" ? shellWord(word) : JSON.stringify(word))).join(" "));
}

/** A text on one line, within a bound. */
export function shortLine(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > OFFLINE_LIMITS.lineChars ? `${flat.slice(0, OFFLINE_LIMITS.lineChars)}…` : flat;
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
