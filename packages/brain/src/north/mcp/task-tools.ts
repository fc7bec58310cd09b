import { MCP_LIMITS, RUN_LIMITS } from "@vidro/core";
import type { JsonObject, RunHead } from "@vidro/core";
import type { StartRequest } from "../../run/runs.ts";
import { visibleOwner } from "../approval-rights.ts";
import { SELECTOR } from "../hand-selector.ts";
import { folderOf, runSetting, WORKSPACE } from "../run-setting.ts";
import { followRunFor, reportOutcome } from "./run-report.ts";
import type { RunReport } from "./run-report.ts";
import type { McpCall, McpTool } from "./mcp-tool.ts";

const SECOND = 1000;
const NAME = { type: "string", minLength: 1, maxLength: 128 } as const;
const RUN = { ...NAME, description: "The id of the task's run." } as const;

/** How long a call waits, as a field of its input. */
export const WAIT = {
  type: "number",
  minimum: 0,
  maximum: MCP_LIMITS.longestWaitMs / SECOND,
  description: `Seconds to wait for the end or a question; default ${MCP_LIMITS.waitMs / SECOND}. The task goes on afterwards.`,
} as const;

/** Schema of an input with these fields and no others. */
export function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}

/** How long a call waits, in milliseconds. */
function waitIn({ wait_s: wait }: JsonObject): number {
  // Whole milliseconds: a timer takes no others.
  return typeof wait === "number" ? Math.round(wait * SECOND) : MCP_LIMITS.waitMs;
}

/** Starts a run and follows it; a client that cancels the call stops the run that the call has started. */
export async function startAndFollow(
  request: Omit<StartRequest, "workspace">,
  input: JsonObject,
  call: McpCall,
): Promise<RunReport> {
  const { deps, caller, cancelled, key } = call;
  const { run, existed } = await deps.runs.start({
    ...request,
    workspace: folderOf((input as { workspace?: string }).workspace, deps.workspace, caller),
    owner: caller.owner,
    token: caller.tokenId,
    ...(key === undefined ? {} : { key }),
  });
  const stop = (): void => {
    // The run may have ended meanwhile.
    if (!existed) deps.runs.abort(run.id, `Cancelled by ${caller.owner}.`).catch(() => undefined);
  };
  cancelled.addEventListener("abort", stop);
  try {
    if (cancelled.aborted) stop();
    return await followRunFor(run.id, { after: 0, waitMs: waitIn(input) }, call);
  } finally {
    cancelled.removeEventListener("abort", stop);
  }
}

/** Gives the brain a task. */
export const runTaskTool: McpTool = {
  name: "run_task",
  title: "Run a task",
  description:
    "Gives Vidro's agent a task on a machine and waits for its answer. The agent decides, a hand executes under its host's policy, and every step is recorded. When it asks something or takes long, the answer says how to go on.",
  inputSchema: objectSchema(
    {
      task: { type: "string", minLength: 1, maxLength: RUN_LIMITS.taskChars, description: "What is to be done." },
      hand: SELECTOR,
      agent: { ...NAME, description: "The agent, by name or uuid; default: bunny." },
      thread: { ...NAME, description: "The conversation to go on with: the thread of an earlier task." },
      workspace: WORKSPACE,
      wait_s: WAIT,
    },
    ["task"],
  ),
  annotations: { readOnlyHint: false, destructiveHint: true },
  waits: true,
  async call(input, call) {
    const { task, hand, agent, thread } = input as { task: string; hand?: string; agent?: string; thread?: string };
    const { deps, caller } = call;
    const asked = { ...(thread === undefined ? {} : { thread }), ...(hand === undefined ? {} : { hand }) };
    const request = {
      task,
      ...(await runSetting(deps, asked, caller)),
      ...(agent === undefined ? {} : { agent: await deps.agents.find(agent) }),
    };
    return reportOutcome(await startAndFollow(request, input, call));
  },
};

/** Follows a run. */
export const followTaskTool: McpTool = {
  name: "follow_task",
  title: "Follow a task",
  description: "Waits until a task ends or asks something, and tells what became of it.",
  inputSchema: objectSchema(
    {
      run: RUN,
      after: { type: "integer", minimum: 0, description: "The last entry of its journal that is known; default 0." },
      wait_s: WAIT,
    },
    ["run"],
  ),
  annotations: { readOnlyHint: true },
  waits: true,
  async call(input, call) {
    const { after = 0 } = input as { after?: number };
    const head = await ownRun(input, call);
    // The last entry is read again, so that the end of a task is told however often it is asked for.
    const from = Math.min(after, Math.max(0, head.seq - 1));
    return reportOutcome(await followRunFor(head.id, { after: from, waitMs: waitIn(input) }, call));
  },
};

/** Answers the question of a run. */
export const answerTaskTool: McpTool = {
  name: "answer_task",
  title: "Answer a task's question",
  description:
    "Answers the question that a task waits for, then follows the task. To approve an effect the token needs the scope approve by name: a person decides that, not a model.",
  inputSchema: objectSchema(
    {
      run: RUN,
      question: { ...NAME, description: "The id of the question." },
      answer: {
        type: "string",
        maxLength: RUN_LIMITS.answerChars,
        description: "One of its options, or words where it has none.",
      },
      wait_s: WAIT,
    },
    ["run", "question", "answer"],
  ),
  annotations: { readOnlyHint: false, destructiveHint: true },
  waits: true,
  async call(input, call) {
    const { question, answer: text } = input as { question: string; answer: string };
    const { deps, caller } = call;
    const { id, seq } = await ownRun(input, call);
    // The scope * is that of the administrator's own token, which a program may have been given to start tasks.
    const mayApprove = deps.ownersApprove === true || caller.scopes.has("approve");
    const rights = { mayApprove, mayAllowAlways: false };
    await deps.runs.answer(id, { text, by: caller.owner, question, input: undefined, ...rights });
    return reportOutcome(await followRunFor(id, { after: seq, waitMs: waitIn(input) }, call));
  },
};

/** Stops a run. */
export const abortTaskTool: McpTool = {
  name: "abort_task",
  title: "Stop a task",
  description: "Stops a task and what it is doing; what was done before stays done.",
  inputSchema: objectSchema({ run: RUN, reason: { type: "string", minLength: 1, maxLength: RUN_LIMITS.lineChars } }, [
    "run",
  ]),
  annotations: { readOnlyHint: false, destructiveHint: true },
  async call(input, call) {
    const { deps, caller } = call;
    const { id } = await ownRun(input, call);
    const { reason = `Stopped by ${caller.owner}.` } = input as { reason?: string };
    await deps.runs.abort(id, reason);
    const { status } = await deps.runs.find(id);
    return { text: `The task is ${status}.`, data: { run: id, status } };
  },
};

/** The run that an input names; NOT_FOUND for one of another owner, unless the caller is an administrator. */
function ownRun(input: JsonObject, { deps, caller }: McpCall): Promise<RunHead> {
  const { run } = input as { run: string };
  return deps.runs.find(run, visibleOwner(caller));
}
