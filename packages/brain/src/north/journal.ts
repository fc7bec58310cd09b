import { randomUUIDv7 } from "node:crypto";
import { NDJSON_TYPE } from "@vidro/aon/boxes";
import {
  HELPER_LIMITS,
  helperThread,
  PAGE_LIMITS,
  parentOfThread,
  REASONING_EFFORTS,
  RUN_LIMITS,
  STREAM_LIMITS,
} from "@vidro/core";
import { FILES_SCHEMA } from "@vidro/core/wire/action-end";
import type { Budget, FilePart, HandCatalog, JsonObject, ReasoningEffort, RunHead } from "@vidro/core";
import type { AgentCatalog } from "../catalog/agents.ts";
import { reviewAlways } from "../run/always-review.ts";
import { forkRun } from "../run/fork-run.ts";
import type { Runs } from "../run/runs.ts";
import { assertTools } from "../catalog/threads.ts";
import type { Threads } from "../catalog/threads.ts";
import { AFTER_SCHEMA, cursorOf } from "../stream/cursor.ts";
import { wantsGlass } from "./journal/glass-lines.ts";
import { JOURNAL_ENCODERS } from "./journal/entries.ts";
import { StartFactsReader } from "./journal/start-facts.ts";
import { plainFault } from "./ops.ts";
import { andOneMore, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import { answerRights, visibleOwner } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";
import type { RouteCall, Reply, Route, Surface } from "../http/route.ts";
import { streamRun } from "../stream/run-stream.ts";
import { SELECTOR } from "./hand-selector.ts";
import { folderOf, runSetting, WORKSPACE } from "./run-setting.ts";

/* Vidro's own wire: runs and their journals without translation. */

/** Dependencies of this surface. */
export interface JournalDependencies extends ApprovalRights {
  readonly runs: Pick<
    Runs,
    "start" | "followInBatches" | "read" | "find" | "list" | "answer" | "say" | "abort" | "resume"
  >;
  readonly threads: Pick<Threads, "find" | "cast">;
  readonly agents: Pick<AgentCatalog, "find">;
  readonly hands: Pick<HandCatalog, "select" | "tools">;
  /** The folder in which the local hand works unless a request names another. */
  readonly workspace: string;
}

/** Runs and their journals. */
export function journalSurface(deps: JournalDependencies): Surface {
  const starts = new StartFactsReader();
  return {
    name: "journal",
    faultBody: plainFault,
    routes: [
      route(
        "GET /v1/runs",
        { summary: "Your runs, newest first; those of all for an administrator", query: LIST, answer: HEADS },
        (call) => list(deps, starts, call),
      ),
      route("POST /v1/runs", STARTING, (call) => start(deps, call)),
      route("GET /v1/runs/{run}", { summary: "Where a run stands", answer: HEAD }, (call) => stands(deps, call)),
      route("GET /v1/runs/{run}/events", EVENTS, (call) => events(deps, call)),
      route("POST /v1/runs/{run}/answers", { summary: "Answer what a run asks", body: ANSWER, answer: HEAD }, (call) =>
        answer(deps, call),
      ),
      route("GET /v1/runs/{run}/always", REVIEW, async (call) => {
        const { id } = await own(deps, call);
        return { json: { ...(await reviewAlways(deps.runs, id, visibleOwner(call.caller))) } as unknown as JsonObject };
      }),
      route("POST /v1/runs/{run}/fork", FORKING, (call) => fork(deps, call)),
      route(
        "POST /v1/runs/{run}/messages",
        { summary: "Say something to a run at work", body: SAY, answer: HEAD },
        (call) => say(deps, call),
      ),
      route("POST /v1/runs/{run}/resume", { summary: "Resume a run that no process drives", answer: HEAD }, (call) =>
        resume(deps, call),
      ),
      route("POST /v1/runs/{run}/abort", { summary: "Stop a run", body: ABORT, answer: HEAD }, (call) =>
        abort(deps, call),
      ),
    ],
  };
}

async function list({ runs }: JournalDependencies, starts: StartFactsReader, call: RouteCall): Promise<Reply> {
  const { query, caller } = call;
  const { open, thread, ending } = query;
  const owner = visibleOwner(caller) ?? query["owner"];
  const page = pageOf({ query });
  const filter = {
    ...andOneMore(page),
    ...(owner === undefined ? {} : { owner }),
    ...(open === undefined ? {} : { open: open === "true" }),
    ...(thread === undefined ? {} : { thread }),
    ...(ending === undefined ? {} : { ending }),
  };
  const heads = await runs.list(filter);
  const facts = new Map<string, JsonObject>();
  if (query["facts"] === "true") for (const head of heads) facts.set(head.id, { ...(await starts.read(runs, head)) });
  const json = (shown: readonly RunHead[]): JsonObject => ({
    runs: shown.map((head) => ({ ...asJson(head), ...facts.get(head.id) })),
  });
  return pageReply(heads, page, { id: ({ id }) => id, json });
}

/** The run that a path names; NOT_FOUND for a run of another owner, unless the caller is an administrator. */
function own({ runs }: JournalDependencies, { params, caller }: RouteCall): Promise<RunHead> {
  return runs.find(params["run"] ?? "", visibleOwner(caller));
}

async function stands(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const head = await own(deps, call);
  const below = await deps.runs.list({ owner: head.owner, thread: helperThread(head.id), limit: HELPER_LIMITS.perRun });
  const helpers = below.toReversed().map(({ id, status, task }) => ({ id, status, task }));
  return { json: { ...asJson(head), ...(helpers.length === 0 ? {} : { helpers }) } };
}

async function events(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { id } = await own(deps, call);
  const wire = JOURNAL_ENCODERS[wantsGlass(call) ? "ndjson" : "sse"];
  const encoder = call.query["live"] === "false" ? wire.kept : wire.live;
  const what = { runs: deps.runs, run: id, after: cursorOf(call), signal: call.signal, encoder };
  return { stream: (response) => streamRun(response, what) };
}

async function answer(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { id } = await own(deps, call);
  const { question, answer: text, input } = call.body as { question?: string; answer: string; input?: JsonObject };
  const { caller } = call;
  await deps.runs.answer(id, { text, by: caller.owner, question, input, ...answerRights(caller, deps) });
  return stands(deps, call);
}

async function say(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { id } = await own(deps, call);
  const { text } = call.body as { text: string };
  await deps.runs.say(id, { id: call.key ?? randomUUIDv7(), text, by: call.caller.owner });
  return stands(deps, call);
}

async function resume(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { id } = await own(deps, call);
  await deps.runs.resume(id);
  return stands(deps, call);
}

async function abort(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { id } = await own(deps, call);
  const { reason = `Stopped by ${call.caller.owner}.` } = call.body as { reason?: string };
  await deps.runs.abort(id, reason);
  return stands(deps, call);
}

async function fork(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { id } = await own(deps, call);
  const { caller, key } = call;
  const { at, text, task, model } = call.body as { at?: number; text?: string; task?: string; model?: string };
  const as = { owner: caller.owner, token: caller.tokenId, ...(key === undefined ? {} : { key }) };
  const select = (hands: string): string => deps.hands.select(hands, caller);
  return begun(await forkRun(deps.runs, id, { at, text, task, model, as, select }));
}

/** Body that starts a run. */
interface StartBody {
  readonly task: string;
  readonly files?: readonly FilePart[];
  readonly thread?: string;
  readonly agent?: string;
  readonly tools?: readonly string[];
  readonly budget?: Partial<Budget>;
  readonly hand?: string;
  readonly workspace?: string;
  readonly model?: string;
  readonly effort?: ReasoningEffort;
}

async function start(deps: JournalDependencies, call: RouteCall): Promise<Reply> {
  const { task, files, agent, tools, budget, workspace, model, effort, ...where } = call.body as unknown as StartBody;
  const place = await runSetting(deps, where, call.caller);
  if (tools !== undefined) assertTools(tools, await deps.hands.tools(place.hand));
  const started = await deps.runs.start({
    task,
    ...(files === undefined ? {} : { files }),
    workspace: folderOf(workspace, deps.workspace, call.caller),
    owner: call.caller.owner,
    token: call.caller.tokenId,
    ...place,
    ...(agent === undefined ? {} : { agent: await deps.agents.find(agent) }),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { sampling: { ...place.sampling, reasoning: effort } }),
    ...(tools === undefined ? {} : { tools }),
    ...(budget === undefined ? {} : { budget }),
    ...(call.key === undefined ? {} : { key: call.key }),
  });
  return begun(started);
}

/** A run that was started, or that its key found again. */
function begun({ run, existed }: Awaited<ReturnType<Runs["start"]>>): Reply {
  return {
    json: asJson(run),
    status: existed ? 200 : 201,
    headers: { location: `/v1/runs/${run.id}`, "x-run-id": run.id },
  };
}

function asJson(head: RunHead): JsonObject {
  const parent = parentOfThread(head.thread);
  return { ...head, ...(parent === undefined ? {} : { parent }) };
}

type Shapes = Pick<Route, "summary" | "query" | "body" | "mends" | "answer" | "produces">;

function route(target: `${"GET" | "POST"} /v1/runs${string}`, shapes: Shapes, handle: Route["handle"]): Route {
  const [method, path] = target.split(" ") as [Route["method"], string];
  return { method, path, scope: "runs", ...shapes, handle };
}

const NAME = { type: "string", minLength: 1, maxLength: 128 };
const COUNT = { type: "integer", minimum: 1 };
const TRUTH = { type: "boolean" };
const STATUS = { enum: ["running", "asking", "finished", "failed", "aborted"] };
const HEAD = object(
  {
    id: NAME,
    owner: NAME,
    thread: NAME,
    task: { type: "string" },
    status: STATUS,
    seq: { type: "integer", minimum: 0 },
    startedAt: { type: "integer", description: "Milliseconds since the epoch." },
    updatedAt: { type: "integer", description: "Milliseconds since the epoch." },
    parent: { ...NAME, description: "The run that this one helps." },
    helpers: {
      type: "array",
      description: "Where one run is asked for: the runs that help it, oldest first.",
      items: object({ id: NAME, status: STATUS, task: { type: "string" } }, ["id", "status", "task"]),
    },
    agent: { type: "string", description: "With `facts` in a list: the agent that it was started with." },
    model: { type: "string", description: "With `facts` in a list: its model." },
    hand: { type: "string", description: "With `facts` in a list: its hands." },
    forked: {
      ...object({ run: NAME, seq: COUNT }, ["run", "seq"]),
      description: "With `facts` in a list: the run and the entry that it was forked from.",
    },
    damaged: { type: "string", description: "Why its journal cannot be read; seq and updatedAt are not known then." },
  },
  ["id", "owner", "thread", "task", "status", "seq", "startedAt", "updatedAt"],
);
const HEADS = object({ runs: { type: "array", items: HEAD } }, ["runs"]);
const LIST = pageQuery(
  {
    open: TRUTH,
    thread: NAME,
    owner: NAME,
    ending: NAME,
    facts: { ...TRUTH, description: "Also tells agent, model and hand of each run, and what it was forked from." },
  },
  PAGE_LIMITS.runs,
);
const START = object(
  {
    task: { type: "string", minLength: 1, maxLength: RUN_LIMITS.taskChars },
    files: {
      ...FILES_SCHEMA,
      description: "Images for a model that takes them (PNG, JPEG, GIF, WebP), and PDFs, in base64.",
    },
    thread: NAME,
    agent: NAME,
    tools: { type: "array", maxItems: STREAM_LIMITS.namedTools, items: NAME },
    hand: SELECTOR,
    model: {
      ...NAME,
      maxLength: RUN_LIMITS.lineChars,
      description: "The model, or several with commas, as VIDRO_MODEL names them. Default: the agent's.",
    },
    effort: { enum: [...REASONING_EFFORTS], description: "How long the model thinks. Default: the vendor's." },
    workspace: WORKSPACE,
    budget: object({
      steps: { ...COUNT, maximum: RUN_LIMITS.steps },
      actions: { ...COUNT, maximum: RUN_LIMITS.actions },
      tokens: { ...COUNT, maximum: RUN_LIMITS.tokens },
      costUsd: { type: "number", exclusiveMinimum: 0, description: "US dollars; only for models with a known price." },
      threadCostUsd: { type: "number", exclusiveMinimum: 0, description: "US dollars of all runs of the thread." },
      wallMs: { ...COUNT, maximum: RUN_LIMITS.wallMs },
      answerMs: { ...COUNT, maximum: RUN_LIMITS.answerMs },
    }),
  },
  ["task"],
);

const FORK = object({
  at: { ...COUNT, description: "The entry up to which the runs are the same. Default: the last one." },
  text: {
    type: "string",
    minLength: 1,
    maxLength: RUN_LIMITS.remarkChars,
    description: "What the model is told next.",
  },
  task: {
    type: "string",
    minLength: 1,
    maxLength: RUN_LIMITS.taskChars,
    description: "Another task: the new run begins where the run began, with what it knew then.",
  },
  model: { ...NAME, maxLength: RUN_LIMITS.lineChars, description: "Default: the model of the run." },
});

/** A run that its key found again is answered with 200. */
const STARTING = {
  summary: "Start a run",
  body: START,
  mends: true,
  answer: HEAD,
  status: 201,
  others: { "200": HEAD },
} as const;
const FORKING = {
  summary: "Start a run with the prompt of another one up to an entry; nothing that was done is done again",
  body: FORK,
  answer: HEAD,
  status: 201,
  others: { "200": HEAD },
} as const;
const EVENTS = {
  summary: "The journal of a run, from any entry on",
  produces: ["text/event-stream", NDJSON_TYPE],
  query: object({ after: AFTER_SCHEMA, live: { ...TRUTH, description: "false leaves out what is only live." } }),
  answer: object({ seq: COUNT, at: { type: "integer" }, event: { type: "object" } }, ["seq", "at", "event"]),
};
const ANSWER = object(
  {
    question: NAME,
    answer: {
      type: "string",
      maxLength: RUN_LIMITS.answerChars,
      description: "One of the question's options, or a no with its reason.",
    },
    input: {
      type: "object",
      description: "With a yes to a plan: fields of the action's input to run instead; null leaves a field out.",
    },
  },
  ["answer"],
);
const REVIEW = {
  summary: 'The rule that the answer "yes, always" would add, and the earlier actions that it would have allowed',
  answer: object(
    {
      question: NAME,
      hand: { type: "string" },
      rule: { type: "object" },
      past: {
        type: "array",
        items: object(
          { run: NAME, seq: COUNT, at: { type: "integer" }, task: { type: "string" }, answer: { type: "string" } },
          ["run", "seq", "at", "task"],
        ),
      },
      count: { type: "integer", minimum: 0 },
      searchedRuns: { type: "integer", minimum: 0 },
    },
    ["question", "hand", "rule", "past", "count", "searchedRuns"],
  ),
};
const SAY = object({ text: { type: "string", minLength: 1, maxLength: RUN_LIMITS.remarkChars } }, ["text"]);
const ABORT = object({ reason: { type: "string", minLength: 1, maxLength: RUN_LIMITS.lineChars } });

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}
