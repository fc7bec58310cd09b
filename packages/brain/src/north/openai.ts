import { NDJSON_TYPE } from "@vidro/aon/boxes";
import type { Json, JsonObject } from "@vidro/core";
import { completion, wholeAnswer } from "./openai/answer.ts";
import type { ChatAnswer, WholeAnswer } from "./openai/answer.ts";
import { asksToStop, beginAnswer, castModel, castThread, stopOnDisconnect } from "./openai/begin-answer.ts";
import type { Cast } from "./openai/begin-answer.ts";
import { ChunkEncoder } from "./openai/chunks.ts";
import { chatFault } from "./openai/fault-body.ts";
import { withFetchedImages } from "./openai/fetched-images.ts";
import { glassAnswer } from "./openai/glass-answer.ts";
import { readRequest } from "./openai/request.ts";
import type { ChatInput } from "./openai/request.ts";
import { responseRoutes } from "./openai/responses.ts";
import type { ResponseDependencies } from "./openai/responses.ts";
import { CHAT_REQUEST, CHAT_RESPONSE } from "./openai/schema.ts";
import { streamAnswer } from "./openai/stream-answer.ts";
import type { AnswerEncoder } from "./openai/stream-answer.ts";
import { glassFor, wantsGlass } from "./journal/glass-lines.ts";
import { itemsIn, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { RouteCall, Reply, Surface } from "../http/route.ts";
import { Witnesses } from "./question-witnesses.ts";
import type { StoredAgent } from "../catalog/agent.ts";

/** Dependencies of this surface. */
export type ChatDependencies = Omit<ResponseDependencies, "witnesses">;

const MODEL = {
  type: "object",
  properties: { id: { type: "string" }, object: { type: "string" } },
  required: ["id", "object"],
};

/** Chat completions and responses: in a stored conversation, and without one, where the model is an agent's name. */
export function openaiSurface(given: ChatDependencies): Surface {
  const deps = { ...given, witnesses: new Witnesses() };
  const scope = "runs";
  const produces = ["text/event-stream", NDJSON_TYPE];
  return {
    name: "openai",
    faultBody: (fault) => chatFault(fault),
    faultShape: "ChatFault",
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
      ...responseRoutes(deps),
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

async function inThread(deps: ResponseDependencies, call: RouteCall): Promise<Reply> {
  const thread = await deps.threads.find(call.params["thread_uuid"] ?? "", call.caller.owner);
  // The contract of this route adds the agent's tools to those of the caller.
  return converse(deps, call, { ...(await castThread(deps, thread, call)), hasHands: true });
}

async function withoutThread(deps: ResponseDependencies, call: RouteCall): Promise<Reply> {
  const { model } = call.body;
  return converse(deps, call, await castModel(deps.agents, typeof model === "string" ? model : null));
}

async function converse(deps: ResponseDependencies, call: RouteCall, cast: Cast): Promise<Reply> {
  const { runs } = deps;
  asksToStop(call.headers);
  const asked = readRequest(await withFetchedImages(call.body, { fetchImage: deps.fetchImage, signal: call.signal }));
  const answering = { ...(await beginAnswer(deps, call, { asked, cast })), ...formOf(asked) };
  const { run, after } = answering;
  const attended = stopOnDisconnect(runs, run, call);
  const encoder = encoderFor(call, { answering, asked, production: deps.production });
  if (encoder !== undefined)
    return {
      stream: (response) =>
        streamAnswer(response, { runs, run, after, encoder, signal: call.signal }).finally(attended),
    };
  const whole = await wholeAnswer(runs, answering, call).finally(attended);
  return { json: completion(answering, whole), headers: { "x-run-id": run } };
}

function formOf({ form, includeReasoning }: ChatInput): Pick<ChatAnswer, "form" | "includeReasoning"> {
  return { form, includeReasoning };
}

/** The encoder that the caller asks for: a glass box, chunks of text, or undefined for the answer alone. */
function encoderFor(
  call: RouteCall,
  { answering, asked, production }: { answering: ChatAnswer; asked: ChatInput; production: boolean },
): AnswerEncoder | undefined {
  const shape = (whole: WholeAnswer): JsonObject => completion(answering, whole);
  if (wantsGlass(call)) return glassAnswer({ run: answering.run, shape }, glassFor(call, production));
  return asked.stream ? new ChunkEncoder(answering, asked) : undefined;
}
