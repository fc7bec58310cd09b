import { createHash } from "node:crypto";
import { DELEGATE, Fault, HELPER_LIMITS, isObject, RUN_LIMITS } from "@vidro/core";
import type { Delegation, HelperEnd, HelperTask, HelperUse, Json, JsonObject, Outcome, ToolSpec } from "@vidro/core";
import type { BrainTool } from "./brain-tool.ts";

const TASK: JsonObject = {
  type: "string",
  minLength: 1,
  maxLength: RUN_LIMITS.taskChars,
  description: "What the helper is to do, with all that it has to know: it sees nothing of this conversation.",
};
const COUNT: JsonObject = { type: "integer", minimum: 1 };
const HELPER: JsonObject = {
  task: TASK,
  agent: { type: "string", minLength: 1, description: "Name of the agent that does it; default: yours." },
  tools: {
    type: "array",
    items: { type: "string" },
    description: "Those of your tools that it may use; default: all that its agent has.",
  },
  budget: {
    type: "object",
    properties: { steps: COUNT, actions: COUNT, tokens: COUNT },
    additionalProperties: false,
    description: "How much it may use at most, out of what is left of your own budget.",
  },
};

const SPEC: ToolSpec = {
  name: DELEGATE,
  description: `Gives a task to a helper, or up to ${HELPER_LIMITS.atOnce} tasks to helpers that work at the same time, and waits for their results. For parts that can be done without this conversation: looking through much material, or several independent questions. A helper has no other tools than you, and what it uses is taken from your budget.`,
  parameters: {
    type: "object",
    properties: {
      ...HELPER,
      tasks: {
        type: "array",
        minItems: 1,
        maxItems: HELPER_LIMITS.atOnce,
        items: { type: "object", required: ["task"], properties: HELPER, additionalProperties: false },
        description: "Several helpers at once, instead of the other fields.",
      },
    },
    additionalProperties: false,
  },
  idempotent: false,
  effect: "execute",
};

/** Carries out a delegation and tells how each helper ended. */
type Delegate = (delegation: Delegation) => Promise<readonly HelperEnd[]>;

/** The tool by which a model gives tasks to helpers: runs of their own, whose ids follow from that of the action. */
export function delegateTool(delegate: Delegate): BrainTool {
  return {
    spec: SPEC,
    class: "code-exec",
    reason: "helpers have no other tools than this run, and each of their actions is judged by itself",
    check: (input) => void readTasks(input),
    runs: ({ id, input }) => readTasks(input).map((_, place) => helperId(id, place)),
    async run(input, { run, action, signal, show, spend }) {
      const helpers = readTasks(input).map((task, place) => ({ ...task, id: helperId(action, place) }));
      const ends = await delegate({ run, action, helpers, signal, show: (line) => show(`${line}\n`) });
      spend(usedBy(ends));
      return outcomeOf(helpers, ends);
    },
  };
}

/** The id of a helper's run: the same with each order of the action, so that a helper is never started twice. */
export function helperId(action: string, place: number): string {
  const bytes = createHash("sha256").update(`vidro helper ${action} ${place}`).digest();
  // Version 8 of RFC 9562: a uuid with a format of our own.
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const uuid = bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return `run_${uuid}`;
}

function outcomeOf(helpers: readonly HelperTask[], ends: readonly HelperEnd[]): Outcome {
  const texts = ends.map((end, place) => {
    const words = endWords(end);
    return ends.length === 1 ? words : `[${place + 1}] ${helpers[place]?.task.split("\n")[0]?.slice(0, 200)}\n${words}`;
  });
  const data = { helpers: ends.map((end) => ({ ...end })) } as unknown as Json;
  return { kind: "value", text: texts.join("\n\n"), data };
}

function usedBy(ends: readonly HelperEnd[]): HelperUse {
  const sum = (of: keyof HelperUse): number => ends.reduce((total, { used }) => total + used[of], 0);
  return { tokens: sum("tokens"), costUsd: sum("costUsd") };
}

function endWords({ run, status, result, unmet, fault }: HelperEnd): string {
  if (fault !== undefined) return `[helper ${run} ${status}: ${fault.code}: ${fault.message}]`;
  if (result === undefined) return `[helper ${run} was ${status}]`;
  const text = typeof result === "string" ? result : JSON.stringify(result);
  const cut = text.length > HELPER_LIMITS.resultChars ? `\n[cut; the whole is the result of ${run}]` : "";
  const notDone = unmet === true ? `[helper ${run} says that it was not done]\n` : "";
  return `${notDone}${text.slice(0, HELPER_LIMITS.resultChars)}${cut}`;
}

/** The tasks of an input; BAD_ARGUMENTS says what is wrong with it. */
function readTasks({ tasks, ...one }: JsonObject): readonly HelperTask[] {
  if (tasks === undefined) return [readTask(one)];
  if (Object.keys(one).length > 0) throw wrong(`give task and its fields, or tasks; not both`);
  if (!Array.isArray(tasks) || tasks.length === 0 || tasks.length > HELPER_LIMITS.atOnce)
    throw wrong(`tasks is a list of 1 to ${HELPER_LIMITS.atOnce} tasks`);
  return tasks.map((task) => readTask(isObject(task) ? task : { task: task as Json }));
}

function readTask({ task, agent, tools, budget, ...others }: JsonObject): HelperTask {
  const [stray] = Object.keys(others);
  if (stray !== undefined) throw wrong(`there is no field ${stray}; a task takes task, agent, tools and budget`);
  if (typeof task !== "string" || task.trim() === "" || task.length > RUN_LIMITS.taskChars)
    throw wrong(`task is a text of 1 to ${RUN_LIMITS.taskChars} characters`);
  if (agent !== undefined && (typeof agent !== "string" || agent === "")) throw wrong("agent is the name of an agent");
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === "string")))
    throw wrong("tools is a list of names");
  return {
    task,
    ...(agent === undefined ? {} : { agent }),
    ...(tools === undefined ? {} : { tools }),
    ...(budget === undefined ? {} : { budget: readBudget(budget) }),
  };
}

function readBudget(budget: Json): NonNullable<HelperTask["budget"]> {
  const isCount = ([name, value]: readonly [string, unknown]): boolean =>
    ["steps", "actions", "tokens"].includes(name) && Number.isSafeInteger(value) && Number(value) > 0;
  if (!isObject(budget) || !Object.entries(budget).every(isCount))
    throw wrong("budget has steps, actions and tokens, each a whole number from 1 on");
  return budget;
}

function wrong(what: string): Fault {
  return new Fault("BAD_ARGUMENTS", `${DELEGATE}: ${what}.`);
}
