import { randomUUIDv7 } from "node:crypto";
import { NDJSON_TYPE } from "@vidro/aon/boxes";
import { Fault, PAGE_LIMITS, STREAM_LIMITS } from "@vidro/core";
import { HEALING_OPTIONS, readQuestionName } from "@vidro/core/run";
import { readHealingId } from "@vidro/core/wire/aon";
import type { Event, HandCatalog, JsonObject, Turn } from "@vidro/core";
import type { Runs } from "../run/runs.ts";
import type { Threads } from "../catalog/threads.ts";
import { AGENT_EVENTS } from "./agent-sse/events.ts";
import { ANSWERS, BODIES } from "./agent-sse/shapes.ts";
import type { AnswerBody, GenerateBody, SayBody, SessionBody } from "./agent-sse/shapes.ts";
import {
  isAnswerTo,
  endsTurn,
  onlyOne,
  questionShape,
  questionText,
  takesWords,
  findWaiting,
} from "./question-words.ts";
import type { WaitingRun } from "./question-words.ts";
import { AFTER_SCHEMA, cursorOf } from "../stream/cursor.ts";
import { glassFor, wantsBlack, wantsGlass, wantsPerson } from "./journal/glass-lines.ts";
import { plainFault } from "./ops.ts";
import { answerRights, visibleOwner } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";
import type { RouteCall, Reply, Route, Surface } from "../http/route.ts";
import { samplingOf } from "./sampling.ts";
import { streamRun } from "../stream/run-stream.ts";
import { selectHand } from "./hand-selector.ts";
import { Witnesses } from "./question-witnesses.ts";
import { faultOfRun } from "./run-fault.ts";

/* The agent's own wire: a session is a thread, each `generate` is a run in it, and the stream is the run's journal. */

/** Dependencies of this surface. */
export interface AgentSseDependencies extends ApprovalRights {
  readonly runs: Pick<Runs, "start" | "followInBatches" | "read" | "find" | "list" | "answer" | "say" | "abort">;
  readonly threads: Pick<Threads, "create" | "find" | "cast">;
  /** The folder in which the local hand works. */
  readonly workspace: string;
  readonly hands: Pick<HandCatalog, "list" | "select">;
  /** Whether there is a model behind the worker's socket. */
  readonly worker: () => Promise<boolean>;
  /** In production only administrators see how an intent was analysed. */
  readonly production: boolean;
}

interface AgentWires extends AgentSseDependencies {
  readonly witnesses: Witnesses;
}

/** Sessions, generations and their events. */
export function agentSseSurface(given: AgentSseDependencies): Surface {
  const deps: AgentWires = { ...given, witnesses: new Witnesses() };
  return {
    name: "agent",
    faultBody: plainFault,
    routes: [
      {
        ...post("sessions", { summary: "Begin a session", body: BODIES.session }, (call) => begin(deps, call)),
        answer: ANSWERS.session,
        envelope: ["sessions", "create_session"],
        mends: true,
      },
      {
        ...post("generate", { summary: "Give the agent a task and watch it", body: BODIES.generate }, (call) =>
          generate(deps, call),
        ),
        produces: STREAMS,
        mends: true,
      },
      {
        method: "GET",
        path: "/agent/runs/{run_id}/events",
        summary: "Watch a run from any of its events on",
        scope: "runs",
        query: { type: "object", additionalProperties: false, properties: { after: AFTER_SCHEMA } },
        answer: ANSWERS.ok,
        produces: STREAMS,
        handle: (call) => events(deps, call),
      },
      post("answer", { summary: "Answer what the agent asks", body: BODIES.answer }, (call) => answer(deps, call)),
      post("say", { summary: "Say something to what runs in a session", body: BODIES.say }, (call) => say(deps, call)),
      {
        ...post("abort", { summary: "Stop what runs in a session", body: BODIES.abort }, (call) => abort(deps, call)),
        mends: true,
      },
      {
        method: "GET",
        path: "/agent/status",
        summary: "Whether the agent is there, and what it has at hand",
        scope: "runs",
        answer: ANSWERS.status,
        handle: (call) => status(deps, call),
      },
    ],
  };
}

async function begin({ threads, hands }: AgentSseDependencies, call: RouteCall): Promise<Reply> {
  const { params, agent_uuid: agent, tools_enabled: tools, hand } = call.body as unknown as SessionBody;
  const where = hand === undefined ? {} : { hand: { selector: hand, ids: hands.select(hand, call.caller) } };
  const sampling = samplingOf(params ?? {});
  const thread = await threads.create({
    owner: call.caller.owner,
    agent: agent ?? null,
    tools: tools ?? null,
    ...(sampling === undefined ? {} : { sampling }),
    ...where,
  });
  return { json: { ok: true, session_id: thread.id } };
}

async function generate(deps: AgentWires, call: RouteCall): Promise<Reply> {
  const { session_id: session, prompt, objective, history = [], stream } = call.body as unknown as GenerateBody;
  const thread = await deps.threads.find(session, call.caller.owner);
  const task = prompt ?? objective ?? "";
  // Without a stream a question ends the turn, so the next message may answer it.
  const isWhole = stream === false || wantsBlack(call);
  const asking = isWhole ? await waitingIn(deps, thread.id, call.caller.owner) : [];
  const waiting = onlyOne(asking.filter(takesWords));
  if (waiting !== undefined) return answerByMessage(deps, call, { waiting, text: task });
  const { run, existed } = await deps.runs.start({
    ...(await deps.threads.cast(thread)),
    ...selectHand(deps.hands, thread.hand, call.caller),
    task,
    token: call.caller.tokenId,
    workspace: deps.workspace,
    ...(call.key === undefined ? {} : { key: call.key }),
    // A caller that keeps the conversation itself sends it; otherwise the session's is used.
    ...(history.length === 0 ? {} : { history: history.map(({ role, content }): Turn => ({ role, text: content })) }),
    interactive: wantsPerson(call),
  });
  if (isWhole) return awaitEnd(deps, call, { run: run.id, after: 0 });
  return streamEvents(deps, call, { run: run.id, after: existed ? cursorOf(call) : 0 });
}

/** The open questions of a session. */
async function waitingIn({ runs }: AgentWires, thread: string, owner: string): Promise<readonly WaitingRun[]> {
  return findWaiting(runs, await runs.list({ open: true, owner, thread, limit: STREAM_LIMITS.sessionRuns }));
}

/**
 * Takes a message as the answer to an open question and replies with what follows; repeats the question if it is no
 * answer.
 */
async function answerByMessage(
  deps: AgentWires,
  call: RouteCall,
  { waiting, text }: { readonly waiting: WaitingRun; readonly text: string },
): Promise<Reply> {
  const { head, question, seq } = waiting;
  const { owner, tokenId } = call.caller;
  const isAnswer = isAnswerTo(waiting, text, deps.witnesses.has(tokenId, head.id));
  const rights = answerRights(call.caller, deps);
  if (isAnswer) await deps.runs.answer(head.id, { text, by: owner, question: question.id, ...rights });
  return awaitEnd(deps, call, { run: head.id, after: isAnswer ? seq : seq - 1 });
}

/** Waits for the end of a run or of its turn, for callers that do not stream; a question ends the turn. */
async function awaitEnd(
  { runs, witnesses }: AgentWires,
  { signal, caller }: RouteCall,
  { run, after }: { readonly run: string; readonly after: number },
): Promise<Reply> {
  witnesses.show(caller.tokenId, run);
  for await (const batch of runs.followInBatches(run, after, signal)) {
    for (const followed of batch) {
      if (!("entry" in followed)) continue;
      const end = endOf(followed.entry.event, run);
      if (end !== undefined) return { json: { ok: true, run_id: run, ...end }, headers: { "x-run-id": run } };
    }
  }
  throw new Fault("SHUTTING_DOWN");
}

/** The reply if an event ends a turn, else undefined; throws the Fault of a run that failed or was aborted. */
function endOf(event: Event, run: string): JsonObject | undefined {
  switch (event.type) {
    case "run.finished":
      return { result: event.result };
    case "question.asked":
      return endsTurn(event) ? { result: questionText(event, run), question: questionShape(event, run) } : undefined;
    case "run.failed":
    case "run.aborted":
      throw faultOfRun(event);
    default:
      return undefined;
  }
}

async function events(deps: AgentWires, call: RouteCall): Promise<Reply> {
  const { id } = await deps.runs.find(call.params["run_id"] ?? "", visibleOwner(call.caller));
  return streamEvents(deps, call, { run: id, after: cursorOf(call) });
}

function streamEvents(deps: AgentWires, call: RouteCall, what: { run: string; after: number }): Reply {
  const { runs, production, witnesses } = deps;
  const { signal } = call;
  witnesses.show(call.caller.tokenId, what.run);
  if (!wantsGlass(call))
    return { stream: (response) => streamRun(response, { runs, ...what, signal, encoder: AGENT_EVENTS }) };
  const encoder = glassFor(call, production);
  return { stream: (response, prelude) => streamRun(response, { runs, ...what, signal, encoder, prelude }) };
}

async function answer(deps: AgentWires, call: RouteCall): Promise<Reply> {
  const body = call.body as unknown as AnswerBody;
  const { session_id: session = "", question_id: question, healing_id: healing, answer: text, input } = body;
  const { owner } = call.caller;
  if (healing !== undefined) return answerHealing(deps, { healing, text, owner });
  const { id: thread } = await deps.threads.find(session, owner);
  const meant =
    question === undefined
      ? await findOnlyQuestion(deps, call, thread)
      : await findQuestion(deps, { thread, question, owner });
  const rights = answerRights(call.caller, deps);
  await deps.runs.answer(meant.run, { text, input, by: owner, question: meant.question, ...rights });
  return { json: { ok: true } };
}

/** A question and its run. */
interface AddressedQuestion {
  readonly run: string;
  readonly question: string;
}

/** The question for an answer without a question id: the only open one, of a run that the client was shown. */
async function findOnlyQuestion(deps: AgentWires, { caller }: RouteCall, thread: string): Promise<AddressedQuestion> {
  const waiting = onlyOne(await waitingIn(deps, thread, caller.owner));
  if (waiting === undefined) throw new Fault("CONFLICT", "No question is open in this session.");
  const { head, question } = waiting;
  if (deps.witnesses.has(caller.tokenId, head.id)) return { run: head.id, question: question.id };
  throw new Fault("CONFLICT", `Question ${question.id} was not shown to this client: name it as question_id.`);
}

/** The question with that id in a session, open or not; CONFLICT when the session has none with it. */
async function findQuestion(
  deps: AgentWires,
  { thread, question, owner }: { readonly thread: string; readonly question: string; readonly owner: string },
): Promise<AddressedQuestion> {
  const { runs } = deps;
  const { run } = readQuestionName(question) ?? {};
  const head = run === undefined ? undefined : await runs.find(run, owner).catch(unlessMissing);
  if (head?.thread === thread) return { run: head.id, question };
  // Question ids of older journals do not name their runs.
  const open = (await waitingIn(deps, thread, owner)).find((waiting) => waiting.question.id === question);
  if (open === undefined) throw new Fault("CONFLICT", `Question ${question} is not open in this session.`);
  return { run: open.head.id, question };
}

function unlessMissing(thrown: unknown): undefined {
  if (!(thrown instanceof Fault && thrown.code === "NOT_FOUND")) throw thrown;
}

/** Answers the question of a stuck healing; NOT_FOUND for the run of another owner. */
async function answerHealing(
  { runs }: AgentSseDependencies,
  { healing, text, owner }: { healing: string; text: string; owner: string },
): Promise<Reply> {
  const named = readHealingId(healing);
  if (named === undefined) throw new Fault("NOT_FOUND", `There is no healing ${JSON.stringify(healing)}.`);
  const { id } = await runs.find(named.run, owner);
  if (!HEALING_OPTIONS.includes(text))
    throw new Fault("BAD_ARGUMENTS", `A healing takes ${HEALING_OPTIONS.join(" or ")} for an answer.`);
  await runs.answer(id, { text, by: owner, question: named.question });
  return { json: { ok: true } };
}

/** Says something to a run at work: the one that is named, else the only one of the session. */
async function say({ runs, threads }: AgentSseDependencies, call: RouteCall): Promise<Reply> {
  const { session_id: session, run_id: named, text } = call.body as unknown as SayBody;
  const { owner } = call.caller;
  const { id: thread } = await threads.find(session, owner);
  const open = await runs.list({ open: true, owner, thread, limit: STREAM_LIMITS.sessionRuns });
  if (named === undefined && open.length > 1)
    throw new Fault(
      "CONFLICT",
      `Several runs work in this session: ${open.map(({ id }) => id).join(", ")}. Name run_id.`,
    );
  const head = named === undefined ? open[0] : await runs.find(named, owner);
  const run = head?.thread === thread ? head.id : undefined;
  if (run === undefined) throw new Fault("CONFLICT", "Nothing runs in this session. Send the text to /agent/generate.");
  await runs.say(run, { id: call.key ?? randomUUIDv7(), text, by: owner });
  return { json: { ok: true, run_id: run } };
}

async function abort({ runs, threads }: AgentSseDependencies, call: RouteCall): Promise<Reply> {
  const { session_id: session } = call.body as { readonly session_id: string };
  const { owner } = call.caller;
  const thread = await threads.find(session, owner);
  const open = await runs.list({ open: true, owner, thread: thread.id, limit: STREAM_LIMITS.sessionRuns });
  await Promise.all(open.map(({ id }) => runs.abort(id, `Stopped by ${owner}.`).catch(unlessOver)));
  return { json: { ok: true } };
}

/** Ignores CONFLICT: the run ended by itself in the meantime. */
function unlessOver(thrown: unknown): void {
  if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
}

async function status({ runs, hands, worker }: AgentSseDependencies, { caller }: RouteCall): Promise<Reply> {
  const [open, hasWorker] = await Promise.all([
    runs.list({ open: true, owner: caller.owner, limit: PAGE_LIMITS.items }),
    worker(),
  ]);
  return {
    json: {
      ok: true,
      agent_system: "running",
      gemma_worker: hasWorker ? "available" : "unavailable",
      hands: hands.list(caller).filter(({ state }) => state === "ok").length,
      runs: open.length,
      timestamp: new Date().toISOString(),
    },
  };
}

const STREAMS = ["text/event-stream", NDJSON_TYPE] as const;

function post(name: string, about: Pick<Route, "summary" | "body">, handle: Route["handle"]): Route {
  const shapes = { answer: ANSWERS.ok, envelope: [name], lacking: "BAD_REQUEST" } as const;
  return { method: "POST", path: `/agent/${name}`, scope: "runs", ...about, ...shapes, handle };
}
