import { NDJSON_TYPE } from "@vidro/aon";
import { Fault, isTerminal, STREAM } from "@vidro/core";
import type { Turn } from "@vidro/core";
import type { Runs } from "../runs.ts";
import type { Threads } from "../threads.ts";
import { AGENT_EVENTS } from "./agent-events.ts";
import { ANSWERS, BODIES, unwrapped } from "./agent-shapes.ts";
import type { AnswerBody, GenerateBody, SessionBody } from "./agent-shapes.ts";
import { AFTER, cursorOf } from "./cursor.ts";
import { glassFor, wantsBlack, wantsGlass } from "./glass.ts";
import { plainFault } from "./ops.ts";
import type { Call, Reply, Route, Surface } from "./route.ts";
import { streamRun } from "./stream.ts";

/* The agent's own wire: a session is a thread, each `generate` is a run in it, and the stream is the run's journal. */

/** What this surface may ask for. */
export interface AgentSseWorld {
  readonly runs: Pick<Runs, "start" | "followInBatches" | "find" | "list" | "answer" | "abort">;
  readonly threads: Pick<Threads, "create" | "find" | "cast">;
  /** The folder in which the local hand works. */
  readonly workspace: string;
  /** The hands that can be reached. */
  readonly hands: () => readonly string[];
  /** Whether there is a model behind the worker's socket. */
  readonly worker: () => Promise<boolean>;
  /** In production only administrators see how an intent was analysed. */
  readonly production: boolean;
}

/** Sessions, generations and their events. */
export function agentSse(world: AgentSseWorld): Surface {
  return {
    name: "agent",
    faultBody: plainFault,
    routes: [
      post("sessions", "Begin a session", { body: BODIES.session, answer: ANSWERS.session }, (call) =>
        begin(world, call),
      ),
      {
        ...post(
          "generate",
          "Give the agent a task and watch it",
          { body: BODIES.generate, answer: ANSWERS.ok },
          (call) => generate(world, call),
        ),
        produces: STREAMS,
      },
      {
        method: "GET",
        path: "/agent/runs/{run_id}/events",
        summary: "Watch a run from any of its events on",
        scope: "runs",
        query: { type: "object", additionalProperties: false, properties: { after: AFTER } },
        answer: ANSWERS.ok,
        produces: STREAMS,
        handle: (call) => events(world, call),
      },
      post("answer", "Answer what the agent asks", { body: BODIES.answer, answer: ANSWERS.ok }, (call) =>
        answer(world, call),
      ),
      post("abort", "Stop what runs in a session", { body: BODIES.abort, answer: ANSWERS.ok }, (call) =>
        abort(world, call),
      ),
      {
        method: "GET",
        path: "/agent/status",
        summary: "Whether the agent is there, and what it has at hand",
        scope: "runs",
        answer: ANSWERS.status,
        handle: (call) => status(world, call),
      },
    ],
  };
}

async function begin({ threads, hands }: AgentSseWorld, call: Call): Promise<Reply> {
  const { params, agent_uuid: agent, tools_enabled: tools, hand } = unwrapped(call.body) as unknown as SessionBody;
  if (hand !== undefined && !hands().includes(hand))
    throw new Fault("NOT_FOUND", `There is no hand ${JSON.stringify(hand)}.`);
  const metadata = { ...(params === undefined ? {} : { params }), ...(hand === undefined ? {} : { hand }) };
  const thread = await threads.create({
    owner: call.caller.owner,
    agent: agent ?? null,
    tools: tools ?? null,
    metadata,
  });
  return { json: { ok: true, session_id: thread.id } };
}

async function generate(world: AgentSseWorld, call: Call): Promise<Reply> {
  const { session_id: session, prompt, objective, history = [] } = unwrapped(call.body) as unknown as GenerateBody;
  const cast = await world.threads.cast(await world.threads.find(session, call.caller.owner));
  const { run, existed } = await world.runs.start({
    ...cast,
    task: prompt ?? objective ?? "",
    workspace: world.workspace,
    ...(call.key === undefined ? {} : { key: call.key }),
    // A caller that keeps the conversation itself brings it along; else it is that of the session.
    ...(history.length === 0 ? {} : { history: history.map(({ role, content }): Turn => ({ role, text: content })) }),
  });
  if (wantsBlack(call)) return ended(world, run.id, call.signal);
  return watched(world, call, { run: run.id, after: existed ? cursorOf(call) : 0 });
}

/** The end of a run, for who wants nothing else. */
async function ended({ runs }: AgentSseWorld, run: string, signal: AbortSignal): Promise<Reply> {
  for await (const batch of runs.followInBatches(run, 0, signal)) {
    const last = batch.at(-1);
    if (last === undefined || !("entry" in last) || !isTerminal(last.entry.event)) continue;
    const end = last.entry.event;
    if (end.type === "run.finished") return { json: { ok: true, run_id: run, result: end.result } };
    if (end.type === "run.failed") throw new Fault(end.fault.code, end.fault.message);
    throw new Fault("CONFLICT", `The run was stopped: ${end.reason}`);
  }
  throw new Fault("SHUTTING_DOWN");
}

async function events(world: AgentSseWorld, call: Call): Promise<Reply> {
  const { id } = await world.runs.find(call.params["run_id"] ?? "", call.caller.owner);
  return watched(world, call, { run: id, after: cursorOf(call) });
}

function watched({ runs, production }: AgentSseWorld, call: Call, what: { run: string; after: number }): Reply {
  const encoder = wantsGlass(call) ? glassFor(call, production) : AGENT_EVENTS;
  return { stream: (response) => streamRun(response, { runs, ...what, signal: call.signal, encoder }) };
}

async function answer({ runs, threads }: AgentSseWorld, call: Call): Promise<Reply> {
  const { session_id: session, question_id: question, answer: text } = unwrapped(call.body) as unknown as AnswerBody;
  const { owner } = call.caller;
  const thread = await threads.find(session, owner);
  const open = await runs.list({ open: true, owner, thread: thread.id, limit: STREAM.sessionRuns });
  const asking = open.find((head) => head.status === "asking");
  if (asking === undefined) throw new Fault("CONFLICT", "No question is open in this session.");
  await runs.answer(asking.id, { text, by: owner, ...(question === undefined ? {} : { question }) });
  return { json: { ok: true } };
}

async function abort({ runs, threads }: AgentSseWorld, call: Call): Promise<Reply> {
  const { session_id: session } = unwrapped(call.body) as { readonly session_id?: string };
  if (session === undefined) throw new Fault("BAD_REQUEST", "Say which session to stop: session_id is missing.");
  const { owner } = call.caller;
  const thread = await threads.find(session, owner);
  const open = await runs.list({ open: true, owner, thread: thread.id, limit: STREAM.sessionRuns });
  await Promise.all(open.map(({ id }) => runs.abort(id, `Stopped by ${owner}.`).catch(unlessOver)));
  return { json: { ok: true } };
}

/** A run that ended by itself in the meantime is as good as stopped. */
function unlessOver(thrown: unknown): void {
  if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
}

async function status({ runs, hands, worker }: AgentSseWorld, { caller }: Call): Promise<Reply> {
  const [open, hasWorker] = await Promise.all([
    runs.list({ open: true, owner: caller.owner, limit: STREAM.listedRuns }),
    worker(),
  ]);
  return {
    json: {
      ok: true,
      agent_system: "running",
      gemma_worker: hasWorker ? "available" : "unavailable",
      hands: hands().length,
      runs: open.length,
      timestamp: new Date().toISOString(),
    },
  };
}

const STREAMS = ["text/event-stream", NDJSON_TYPE] as const;

type Shapes = Pick<Required<Route>, "body" | "answer">;

function post(name: string, summary: string, shapes: Shapes, handle: Route["handle"]): Route {
  return { method: "POST", path: `/agent/${name}`, summary, scope: "runs", ...shapes, handle };
}
