import { NDJSON_TYPE } from "@vidro/aon/boxes";
import { Fault } from "@vidro/core";
import type { HandCatalog, Json, JsonObject } from "@vidro/core";
import type { AgentCatalog } from "../catalog/agents.ts";
import type { Runs } from "../run/runs.ts";
import type { Threads } from "../catalog/threads.ts";
import { wholeAnswer } from "./openai/answer.ts";
import type { AnswerContext } from "./openai/answer.ts";
import { ChunkEncoder } from "./openai/chunks.ts";
import { chatFault } from "./openai/fault-body.ts";
import { glassAnswer } from "./openai/glass-answer.ts";
import { findAnswerStart } from "./openai/answer-start.ts";
import type { ChatSetting } from "./openai/answer-start.ts";
import { readRequest } from "./openai/request.ts";
import type { ChatInput } from "./openai/request.ts";
import { CHAT_REQUEST, CHAT_RESPONSE } from "./openai/schema.ts";
import { streamAnswer } from "./openai/stream-answer.ts";
import type { AnswerEncoder } from "./openai/stream-answer.ts";
import { glassFor, wantsGlass, wantsPerson } from "./journal/glass-lines.ts";
import { itemsIn, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import { mayApprove } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";
import type { RouteCall, Reply, Surface } from "../http/route.ts";
import { selectHand } from "./hand-selector.ts";
import { Witnesses } from "./question-witnesses.ts";
import { BUNNY_UUID } from "../catalog/agent.ts";
import type { StoredAgent } from "../catalog/agent.ts";

/** Dependencies of this surface. */
export interface ChatDependencies extends ApprovalRights {
  readonly runs: Runs;
  readonly agents: AgentCatalog;
  readonly threads: Threads;
  readonly hands: Pick<HandCatalog, "select" | "tools">;
  /** The folder that the local hand works in. */
  readonly workspace: string;
  /** In production only administrators see how an intent was analysed. */
  readonly production: boolean;
  readonly now?: () => number;
}

interface Chat extends ChatDependencies {
  readonly witnesses: Witnesses;
}

const MODEL = {
  type: "object",
  properties: { id: { type: "string" }, object: { type: "string" } },
  required: ["id", "object"],
};

/** Chat completions: in a stored conversation, and without one, where the model is the name of an agent. */
export function openaiSurface(given: ChatDependencies): Surface {
  const deps = { ...given, witnesses: new Witnesses() };
  const scope = "runs";
  const produces = ["text/event-stream", NDJSON_TYPE];
  return {
    name: "openai",
    faultBody: (fault) => chatFault(fault),
    routes: [
      {
        method: "POST",
        path: "/v1/conversations/{thread_uuid}/messages",
        summary: "Say something in a conversation and get the answer.",
        scope,
        body: CHAT_REQUEST,
        answer: CHAT_RESPONSE,
        produces,
        handle: (call) => inThread(deps, call),
      },
      {
        method: "POST",
        path: "/v1/chat/completions",
        summary: "Talk to an agent; the caller keeps the conversation.",
        scope,
        body: CHAT_REQUEST,
        answer: CHAT_RESPONSE,
        produces,
        handle: (call) => withoutThread(deps, call),
      },
      {
        method: "GET",
        path: "/v1/models",
        summary: "The agents, as models that a chat can name.",
        scope,
        answer: { type: "object", properties: { data: { type: "array", items: MODEL } }, required: ["data"] },
        query: pageQuery(),
        handle: async (call) => {
          const [page, id] = [pageOf(call), ({ uuid }: StoredAgent): string => uuid];
          const json = (shown: readonly StoredAgent[]): Json => ({ object: "list", data: shown.map(modelOf) });
          return pageReply(itemsIn(await deps.agents.list(), page, id), page, { id, json });
        },
      },
      {
        method: "GET",
        path: "/v1/models/{model}",
        summary: "One agent, as a model that a chat can name.",
        scope,
        answer: MODEL,
        handle: async ({ params }) => ({ json: modelOf(await deps.agents.find(params["model"] ?? "")) }),
      },
    ],
  };
}

function modelOf({ name, createdAt }: StoredAgent): JsonObject {
  return { id: name, object: "model", created: Math.floor(createdAt / 1000), owned_by: "vidro" };
}

async function inThread(deps: Chat, call: RouteCall): Promise<Reply> {
  const thread = await deps.threads.find(call.params["thread_uuid"] ?? "", call.caller.owner);
  const where = selectHand(deps.hands, thread.hand, call.caller);
  return converse(deps, call, { ...(await deps.threads.cast(thread)), ...where });
}

async function withoutThread(deps: Chat, call: RouteCall): Promise<Reply> {
  const { model } = call.body;
  const agent = await deps.agents.find(typeof model === "string" ? model : BUNNY_UUID);
  return converse(deps, call, { agent, ...(agent.tools === null ? {} : { tools: agent.tools }) });
}

async function converse(
  deps: Chat,
  call: RouteCall,
  cast: Pick<ChatSetting, "agent" | "tools" | "thread" | "sampling" | "hand">,
): Promise<Reply> {
  const { runs, workspace, now = Date.now } = deps;
  const { owner } = call.caller;
  const asked = readRequest(call.body);
  await assertChoice(deps, asked, cast);
  const sampling = { ...cast.sampling, ...asked.sampling };
  const agent = cast.agent!;
  const prompt = asked.system === "" ? agent.prompt : `${agent.prompt}\n\n${asked.system}`;
  const setting: ChatSetting = {
    ...cast,
    owner,
    token: call.caller.tokenId,
    workspace,
    agent: { ...agent, prompt },
    callerTools: asked.callerTools,
    // With the choice `none` no tools are offered at all: not every model obeys the setting.
    ...(asked.choice === "none" ? { tools: [], callerTools: [] } : {}),
    ...(asked.choice === undefined ? {} : { choice: asked.choice }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    interactive: wantsPerson(call),
    ...(call.key === undefined ? {} : { key: call.key }),
  };
  const { tokenId } = call.caller;
  const wasShown = (run: string): boolean => deps.witnesses.has(tokenId, run);
  const client = { wasShown, mayApprove: mayApprove(call.caller, deps) };
  const place = await findAnswerStart(runs, { asked, setting, client });
  deps.witnesses.show(tokenId, place.run);
  const answering = { ...place, form: asked.form, model: agent.name, at: now() };
  const encoder = encoderFor(call, { answering, asked, production: deps.production });
  if (encoder !== undefined)
    return { stream: (response) => streamAnswer(response, { runs, ...place, encoder, signal: call.signal }) };
  const json: Json = await wholeAnswer(runs, answering, call);
  return { json, headers: { "x-run-id": place.run } };
}

/** The encoder that the caller asks for: a glass box, chunks of text, or undefined for the answer alone. */
function encoderFor(
  call: RouteCall,
  { answering, asked, production }: { answering: AnswerContext; asked: ChatInput; production: boolean },
): AnswerEncoder | undefined {
  if (wantsGlass(call)) return glassAnswer(answering, glassFor(call, production));
  return asked.stream ? new ChunkEncoder(answering, asked) : undefined;
}

/** Refuses a choice of a tool that neither the caller nor the agent has. */
async function assertChoice(
  { hands }: ChatDependencies,
  asked: ChatInput,
  { tools: belt, hand }: Pick<ChatSetting, "tools" | "hand">,
): Promise<void> {
  const { choice } = asked;
  if (typeof choice !== "object" || asked.callerTools.some((tool) => tool.name === choice.tool)) return;
  const names = belt ?? (await hands.tools(hand)).map((tool) => tool.name);
  if (names.includes(choice.tool)) return;
  throw new Fault("BAD_ARGUMENTS", `The tool ${choice.tool} is to be called, but it is not among the tools.`);
}
