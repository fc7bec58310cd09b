import { addUsage, TERMINAL_LIMITS, usageIn } from "@vidro/core";
import { oneLine, usageWords } from "@vidro/core/text";
import type { Usage } from "@vidro/core";
import type { BrainApi } from "../../brain-api/brain-api.ts";
import { findRun } from "../../brain-api/find-run.ts";
import { print } from "../../program/output.ts";
import type { ModelFlags } from "../../program/model-flags.ts";
import { USUAL_COLUMNS } from "../../view/columns.ts";
import { approvalTable } from "../approvals.ts";
import { runRows } from "../runs.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { paint } from "../../view/symbols.ts";
import { readFileCommands, taskOfCommand } from "./command-files.ts";
import { sayWrapped } from "./say-wrapped.ts";
import type { TalkWords } from "./talk-words.ts";

const WORD_CHARS = 70;
const LISTED_RUNS = 10;
const HELP_CHARS = 160;

/** How the tasks of a conversation are started, and what there is of it so far. */
export interface TalkState {
  model: ModelFlags;
  agent: string | undefined;
  tools: readonly string[] | undefined;
  thread: string | undefined;
  /** Ids of its runs, oldest first. */
  runs: readonly string[];
}

/** A run to watch, or a task to start, when a command leads to one. */
type CommandResult =
  | { readonly id: string; readonly isOwn: boolean }
  | { readonly task: string; readonly tools?: readonly string[] };

/** A command of the conversation, what it is about and its state. */
interface CommandCall {
  readonly argument: string;
  readonly brain: BrainApi;
  readonly state: TalkState;
  readonly words: TalkWords;
}

type TalkCommand = (call: CommandCall) => Promise<CommandResult | void>;

const COMMANDS: { readonly [name: string]: TalkCommand } = {
  "/help": showHelp,
  "?": showHelp,
  "/runs": async ({ brain }) => print(...runRows(await brain.runs.list({ limit: LISTED_RUNS }))),
  "/new": async ({ state, words }) => {
    [state.thread, state.runs] = [undefined, []];
    sayWrapped(words.isNew);
  },
  "/model": chooseModel,
  "/agent": chooseAgent,
  "/tools": chooseTools,
  "/approvals": async ({ brain, words }) => {
    const rows = await approvalTable(brain.runs);
    print(...(rows.length === 0 ? [words.noApprovals] : rows));
  },
  "/cost": showCost,
  "/undo": async ({ words }) => ({ task: words.undo, tools: ["undo"] }),
  "/attach": async ({ argument, brain }) => ({ id: (await findRun(brain.runs, argument)).id, isOwn: false }),
  "/fork": async ({ argument, brain, state, words }) => {
    const last = state.runs.at(-1);
    if (last === undefined) return sayWrapped(words.noRun);
    const [, seq = "", text = ""] = /^(?:(\d+)(?:\s+|$))?([^]*)$/.exec(argument) ?? [];
    const how = { ...(seq === "" ? {} : { at: Number(seq) }), ...(text === "" ? {} : { text }) };
    const fork = await brain.runs.fork(last, how);
    state.thread = fork.thread;
    return { id: fork.id, isOwn: true };
  },
};

/** The narrowest terminal on which a command and its meaning stand side by side. */
const WIDE_COLUMNS = 70;

/** A line of the help; on a narrow terminal what a command means is below it. */
function helpRows(line: string): readonly string[] {
  const [, name, meaning] = /^( {2}\S+(?: \S+)?) +(\S.*)$/.exec(line) ?? [];
  const isNarrow = (process.stderr.columns || USUAL_COLUMNS) < WIDE_COLUMNS;
  return name === undefined || meaning === undefined || !isNarrow ? [line] : [name, `      ${meaning}`];
}

/** Whether a line is a command and no task: a path, which has a second slash, may begin a task. */
export function isTalkCommand(line: string): boolean {
  return line === "?" || /^\/[^\s/]*(?:\s|$)/.test(line);
}

/** Carries out a command of the conversation; gives a run or a task when the command leads to one. */
export async function talkCommand(
  line: string,
  call: Omit<CommandCall, "argument">,
): Promise<CommandResult | undefined> {
  const [name = ""] = line.split(/\s/, 1);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const argument = line.slice(name.length).trim();
  if (command !== undefined) return (await command({ ...call, argument })) ?? undefined;
  const written = readFileCommands(requireFolder(".")).find((one) => `/${one.name}` === name);
  if (written === undefined) {
    sayWrapped(call.words.noCommand(oneLine(name, WORD_CHARS)));
    return undefined;
  }
  const task = taskOfCommand(written, argument);
  if (written.source === "project")
    sayWrapped(paint("dim", `  ${call.words.ofProject(oneLine(written.path, WORD_CHARS))}`));
  return { task };
}

/** The commands that begin so. */
export function commandsLike(before: string): readonly string[] {
  const own = Object.keys(COMMANDS).filter((name) => name.startsWith("/"));
  const written = readFileCommands(requireFolder(".")).map(({ name }) => `/${name}`);
  return [...new Set([...own, ...written])].filter((name) => name.startsWith(before));
}

async function showHelp({ words }: CommandCall): Promise<void> {
  const written = readFileCommands(requireFolder(".")).filter(({ name }) => !Object.hasOwn(COMMANDS, `/${name}`));
  sayWrapped(...words.help.flatMap(helpRows));
  if (written.length === 0) return;
  const rows = written.map(({ name, hint = "", description, source, path }) => {
    const where = source === "project" ? ` (${words.ofProject(path)})` : "";
    return `  /${name}${hint === "" ? "" : ` ${hint}`}  ${description}${where}`;
  });
  sayWrapped(words.fileCommands, ...rows.map((row) => oneLine(row, HELP_CHARS)).map((row) => `  ${row}`));
}

async function chooseModel({ argument, brain, state, words }: CommandCall): Promise<void> {
  if (argument === "") {
    const { model } = state.model;
    const decider = model === undefined ? await brain.decider() : words.decides(oneLine(model, WORD_CHARS));
    return sayWrapped(decider ?? words.defaultModel);
  }
  const { model: _, ...rest } = state.model;
  const isDefault = argument === "default";
  state.model = isDefault ? rest : { ...rest, model: argument };
  sayWrapped(isDefault ? words.defaultModel : words.model(oneLine(argument, WORD_CHARS)));
}

async function chooseAgent({ argument, brain, state, words }: CommandCall): Promise<void> {
  if (argument === "") {
    const agents = await brain.agents.list({ limit: TERMINAL_LIMITS.listedRuns });
    const row = ({ name, description }: (typeof agents)[number]): string =>
      `  ${oneLine(name, WORD_CHARS)}  ${oneLine(description ?? "", WORD_CHARS)}`;
    return print(words.agents, ...agents.map(row));
  }
  const { name } = await brain.agents.find(argument);
  state.agent = name;
  sayWrapped(words.agent(oneLine(name, WORD_CHARS)));
}

async function chooseTools({ argument, brain, state, words }: CommandCall): Promise<void> {
  const tools = await brain.tools();
  if (argument === "all") {
    state.tools = undefined;
    return sayWrapped(words.allTools);
  }
  const asked = argument.split(/[\s,]+/).filter((name) => name !== "");
  const unknown = asked.find((name) => !tools.includes(name));
  if (unknown !== undefined) return sayWrapped(words.noTool(oneLine(unknown, WORD_CHARS), tools.join(", ")));
  if (asked.length > 0) state.tools = asked;
  sayWrapped(words.tools((state.tools ?? tools).join(", ")));
}

async function showCost({ brain, state, words }: CommandCall): Promise<void> {
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  for (const run of state.runs)
    for await (const { event } of brain.runs.entries(run)) usage = addUsage(usage, usageIn(event) ?? NO_USAGE);
  sayWrapped(state.runs.length === 0 ? words.noCost : words.cost(state.runs.length, usageWords(usage)));
}

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };
