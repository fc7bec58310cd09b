import type { RunStarted, Turn } from "../event.ts";
import type { ToolChoice } from "../sampling.ts";
import type { ModelRequest } from "../ports.ts";
import type { RunState } from "./run.ts";
import type { ToolSpec } from "../tool.ts";
import { changesText, factsText } from "./facts-text.ts";
import { turnsOf } from "./turns.ts";

/*
 * The only place that builds what a model sees. The system text and the task are always whole;
 * everything between them and now is bounded.
 */

/** Rules for a model with tools, independent of its persona. */
const TOOL_RULES = `You work through tools; each reply may hold at most ONE tool call, since one effect is carried out per step and its outcome comes back to you before the next. Anything beyond the first is not run.
Never invent output: read it from the tools. A tool that fails says why; plan again with that. A person may be asked to approve an action and may say no.
When the task is done, answer in plain words, in the language of the task, without a tool call.`;

/** Rules for a model without tools. */
const WORDS_RULES = `You have no tools: answer in plain words, in the language of the task. You have read nothing and run nothing for this task; say so where the answer would need it.`;

/** Action lines for models without native tool calls, each with the tool that it requires. */
const ACTION_LINES: readonly (readonly [line: string, tool?: string])[] = [
  [`{"type":"plan","steps":[…]}`, "plan"],
  [`{"type":"shell","command":"…"}`, "shell"],
  [`{"type":"use_tool","name":"…","args":{…}}`],
  [`{"type":"ask","question":"…","options":[…]}`, "ask"],
  [`{"type":"research","queries":[…]}`, "research"],
  [`{"type":"tool_spec","name":"…","description":"…","parameters":{…},"command":"…","args":[…]}`, "tool_spec"],
  [`{"type":"observe","summary":"…"}`, "observe"],
  [`{"type":"commit_kb","title":"…","tags":[…],"snippet":"…","status":"…"}`, "commit_kb"],
  [`{"type":"done","result":"…"}`],
];

const textField = (description: string) => ({ type: "string", description });
const textListField = (description: string) => ({ type: "array", items: { type: "string" }, description });

/** Control tools: calls to the brain without an effect on a host. */
export const CONTROL_TOOLS: readonly ToolSpec[] = [
  controlTool("plan", "Say in a few short steps what you mean to do.", {
    properties: { steps: textListField("The steps, in order.") },
    required: ["steps"],
  }),
  controlTool("ask", "Ask the person a question and wait for the answer. Only for what no tool can find out.", {
    properties: {
      question: textField("The question."),
      options: textListField("Answers to choose from, if there are any."),
    },
    required: ["question"],
  }),
  controlTool("observe", "Note down what you have found so far.", {
    properties: { summary: textField("What you found.") },
    required: ["summary"],
  }),
  controlTool("commit_kb", "Keep a finding that will help in later tasks.", {
    properties: {
      title: textField("A title."),
      tags: textListField("Tags."),
      snippet: textField("What is worth knowing."),
      status: textField("How sure it is."),
    },
    required: ["title", "snippet"],
  }),
  controlTool(
    "tool_spec",
    "Propose a new tool: a program with arguments, in which {name} stands for an input. A person approves it first.",
    {
      properties: {
        name: textField("Name, in snake_case."),
        description: textField("What it does."),
        parameters: { type: "object", description: "JSON Schema of its input." },
        command: textField("The program."),
        args: textListField("Its arguments."),
      },
      required: ["name", "description", "command"],
    },
  ),
  controlTool("use_tool", "Use a tool that you proposed and a person approved.", {
    properties: {
      name: textField("Its name."),
      args: { type: "object", description: "Its input, as its JSON Schema says." },
    },
    required: ["name"],
  }),
];

/** Control tools that only a run with commands has: a proposed tool is a command. */
const PROPOSING: ReadonlySet<string> = new Set(["tool_spec", "use_tool"]);

const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set(["done", ...CONTROL_TOOLS.map(({ name }) => name)]);

/** Whether a tool name is reserved for the action language, so that no host may use it; callers may. */
export function isReservedTool(name: string): boolean {
  return RESERVED_TOOL_NAMES.has(name);
}

/**
 * The control tools of a run: none when no tool of it runs on a hand, none whose name a tool of the run has, and
 * those about proposed tools only when the run has `command`.
 */
export function controlTools(started: Pick<RunStarted, "tools" | "choice">): readonly ToolSpec[] {
  let known = controlsOf.get(started);
  if (known === undefined) controlsOf.set(started, (known = findControlTools(started)));
  return known;
}

const controlsOf = new WeakMap<Pick<RunStarted, "tools" | "choice">, readonly ToolSpec[]>();

function findControlTools({ tools, choice }: Pick<RunStarted, "tools" | "choice">): readonly ToolSpec[] {
  // A model that must call a tool is not offered control tools, so that it cannot call one of those instead.
  if (!hasHands({ tools }) || isRequiring(choice)) return [];
  const taken = new Set(tools.map(({ name }) => name));
  const runsCommands = tools.some(({ name, caller }) => name === "command" && caller !== true);
  return CONTROL_TOOLS.filter(({ name }) => !taken.has(name) && (runsCommands || !PROPOSING.has(name)));
}

function isRequiring(choice: ToolChoice | undefined): choice is Exclude<ToolChoice, "none"> {
  return choice !== undefined && choice !== "none";
}

/** Whether a tool of the run is carried out by a hand. */
function hasHands({ tools }: Pick<RunStarted, "tools">): boolean {
  return tools.some(({ caller }) => caller !== true);
}

/** The folder of the hands; a caller that brings all the tools has its own, which only the caller knows. */
function folderRule(started: Pick<RunStarted, "tools" | "workspace" | "facts">): string {
  const isCallers = started.tools.length > 0 && !hasHands(started);
  if (isCallers) return "";
  const hasOwnFolders = (started.facts?.hands ?? []).some(({ workspace }) => workspace !== started.workspace);
  if (hasOwnFolders) return "\nEach host has a folder of its own, from which relative paths start.";
  return `\nYou work in the folder ${started.workspace}.`;
}

/** The rules for the tools of a run; the same text in each of its prompts. */
function houseRules(started: RunStarted): string {
  const { tools } = started;
  if (tools.length === 0) return WORDS_RULES;
  const offered = new Set([...tools, ...controlTools(started)].map(({ name }) => name));
  const lines = ACTION_LINES.filter(([, tool]) => tool === undefined || offered.has(tool)).map(([line]) => line);
  return `${TOOL_RULES}\nIf you cannot call tools natively, write one JSON object alone on a line instead: ${lines.join(", ")}.`;
}

function controlTool(
  name: string,
  description: string,
  input: Pick<ToolSpec["parameters"], "properties" | "required">,
): ToolSpec {
  return { name, description, idempotent: true, parameters: { type: "object", ...input } };
}

/**
 * Builds the request to the model for a state. System text and tools are the same in each request of a run, and the turns
 * only grow until a compaction: caches and the signatures of thinking hold for a prefix and nothing else.
 */
export function buildPrompt(state: RunState): ModelRequest {
  const { started } = state;
  const choice = choiceOf(state);
  let opening = openings.get(started);
  if (opening === undefined)
    openings.set(started, (opening = { system: systemText(started), tools: offeredTools(started) }));
  return {
    system: opening.system,
    // concat copies once; spreading thousands of turns is slower.
    turns: [...state.history, taskTurn(state)].concat(turnsOf(state.turns)),
    tools: opening.tools,
    ...(choice === undefined ? {} : { choice }),
    ...(started.sampling === undefined ? {} : { sampling: started.sampling }),
    ...(state.native ? { native: true } : {}),
    ...(state.inText.length === 0 ? {} : { inText: state.inText }),
  };
}

/** What the requests of a run have in common, made for the first of them. */
const openings = new WeakMap<RunStarted, Pick<ModelRequest, "system" | "tools">>();

function systemText(started: RunStarted): string {
  const rules = `${started.system}\n\n${houseRules(started)}${folderRule(started)}${choiceRule(started)}`;
  const facts = factsText(started.facts ?? {});
  return facts === "" ? rules : `${rules}\n\n${facts}`;
}

function offeredTools(started: RunStarted): readonly ToolSpec[] {
  return [...started.tools, ...controlTools(started)];
}

/** Whether the prompts of two runs begin alike; if not, signatures of the one do not hold in the other. */
export function haveSamePrompt(one: RunStarted, other: RunStarted): boolean {
  return (
    systemText(one) === systemText(other) && JSON.stringify(offeredTools(one)) === JSON.stringify(offeredTools(other))
  );
}

/** The task as a turn, with what has changed since the thread began, and the digest of what was left out since. */
export function taskTurn({ started, digest }: Pick<RunState, "started" | "digest">): Turn {
  const { task, changed } = started;
  const parts = [task, ...(changed === undefined ? [] : [changesText(changed)]), ...(digest === "" ? [] : [digest])];
  const { files } = started;
  return { role: "user", text: parts.join("\n\n"), ...(files === undefined ? {} : { files }) };
}

/** The required call of a run in words, for models that ignore the parameter. */
function choiceRule({ choice }: Pick<RunStarted, "choice">): string {
  if (!isRequiring(choice)) return "";
  return `\nCall ${choice === "required" ? "one of your tools" : `the tool ${choice.tool}`} before you answer.`;
}

/**
 * The tool choice of the next reply. A required call is required once: a model that had to call a tool at each step
 * could never answer.
 */
function choiceOf({ started, repeated }: RunState): ToolChoice | undefined {
  const { choice, tools } = started;
  if (!isRequiring(choice)) return choice;
  const isMet = repeated.times > 0 || tools.length === 0;
  return isMet ? undefined : choice;
}
