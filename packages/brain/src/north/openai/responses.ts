import { Fault, isObject } from "@vidro/core";
import { NDJSON_TYPE } from "@vidro/aon/boxes";
import type { FetchImage, Json, JsonObject, Turn } from "@vidro/core";
import type { StoredResponses } from "../../catalog/responses.ts";
import type { RouteCall, Reply, Route } from "../../http/route.ts";
import { glassFor, wantsGlass } from "../journal/glass-lines.ts";
import { wholeAnswer } from "./answer.ts";
import type { WholeAnswer } from "./answer.ts";
import { asksToStop, beginAnswer, castModel, castThread, stopOnDisconnect } from "./begin-answer.ts";
import type { AnswerDependencies, Cast } from "./begin-answer.ts";
import { refusalAt } from "./caller-tools.ts";
import { withFetchedImages } from "./fetched-images.ts";
import { glassAnswer } from "./glass-answer.ts";
import { ResponseEncoder } from "./responses/encoder.ts";
import { answerOf, itemsAt, readProgress, turnItems, turnsOfResponse, turnsUntil } from "./responses/journal-answer.ts";
import { readEarlier, readResponseRequest } from "./responses/request.ts";
import type { ResponseInput } from "./responses/request.ts";
import { ITEM_LIST, RESPONSE, RESPONSE_REQUEST } from "./responses/schema.ts";
import { isThoughtId, readItemId, responseId, responseShape, wholeProgress } from "./responses/shape.ts";
import type { ResponseAnswer } from "./responses/shape.ts";
import { streamAnswer } from "./stream-answer.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** Dependencies of the routes of responses. */
export interface ResponseDependencies extends AnswerDependencies {
  readonly responses: StoredResponses;
  /** Fetches images that messages name by an address of the web; absent where none is fetched. */
  readonly fetchImage?: FetchImage | undefined;
  /** In production only administrators see how an intent was analysed. */
  readonly production: boolean;
}

/** Makes, shows, stops and deletes responses: one more view of the runs that chat completions show. */
export function responseRoutes(deps: ResponseDependencies): readonly Route[] {
  const scope = "runs";
  const one = "/v1/responses/{response_id}";
  const common = { scope, answer: RESPONSE } as const;
  const produces = ["text/event-stream", NDJSON_TYPE];
  return [
    {
      ...common,
      method: "POST",
      path: "/v1/responses",
      summary: "Get a response of an agent.",
      body: RESPONSE_REQUEST,
      produces,
      handle: (call) => respond(deps, call),
    },
    {
      ...common,
      method: "GET",
      path: one,
      summary: "A stored response, as far as it is.",
      query: { type: "object", additionalProperties: false, properties: { stream: { type: "boolean" } } },
      produces: ["text/event-stream"],
      handle: (call) => show(deps, call),
    },
    {
      ...common,
      method: "DELETE",
      path: one,
      summary: "Delete a stored response; its run stays in the journal.",
      answer: { type: "object", properties: { id: { type: "string" }, deleted: { type: "boolean" } } },
      handle: async ({ params, caller }) => {
        const id = params["response_id"] ?? "";
        await deps.responses.delete(id, caller.owner);
        return { json: { id, object: "response", deleted: true } };
      },
    },
    {
      ...common,
      method: "POST",
      path: `${one}/cancel`,
      summary: "Stop the run of a response; one that is over stays as it is.",
      handle: (call) => cancel(deps, call),
    },
    {
      ...common,
      method: "GET",
      path: `${one}/input_items`,
      summary: "What a response was made from, newest first.",
      answer: ITEM_LIST,
      query: ITEM_QUERY,
      handle: (call) => listInput(deps, call),
    },
  ];
}

const ITEM_QUERY: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    order: { type: "string", enum: ["asc", "desc"], default: "desc" },
    after: { type: "string", minLength: 1, maxLength: 256 },
  },
};

async function respond(deps: ResponseDependencies, call: RouteCall): Promise<Reply> {
  asksToStop(call.headers);
  const { asked, cast } = await readCall(deps, call);
  const answering = { ...(await beginAnswer(deps, call, { asked, cast })), echo: asked.echo };
  const { run, after, model, at } = answering;
  const { owner } = call.caller;
  const { echo } = asked;
  if (asked.store)
    await deps.responses.put({ id: responseId(answering), owner, run, after, model, createdAt: at, echo });
  const headers = { "x-run-id": run, ...leftOutHeader(asked) };
  if (asked.background && !asked.stream)
    return { json: responseShape(answering, await readProgress(deps.runs, answering, owner)), headers };
  const attended = stopOnDisconnect(deps.runs, run, call);
  const encoder = encoderFor(call, { answering, asked, production: deps.production });
  if (encoder !== undefined) return streamReply(deps, { call, answering, encoder, headers, attended });
  const whole = await wholeAnswer(deps.runs, answering, call).finally(attended);
  return { json: responseShape(answering, wholeProgress(answering, whole)), headers };
}

/** Reads a request, with what it goes on from, and finds who answers it. */
async function readCall(
  deps: ResponseDependencies,
  call: RouteCall,
): Promise<{ readonly asked: ResponseInput; readonly cast: Cast }> {
  const { caller } = call;
  const { conversation, previous } = readEarlier(call.body);
  const input = await resolveItems(deps, call.body["input"], caller.owner);
  const fetching = { fetchImage: deps.fetchImage, signal: call.signal };
  const body = await withFetchedImages({ ...call.body, input }, fetching);
  const earlier = previous === undefined ? undefined : await before(deps, previous, caller.owner);
  const asked = readResponseRequest(body, earlier?.turns ?? []);
  if (earlier?.call !== undefined && asked.returned === undefined)
    throw refusalAt(`The call ${earlier.call} has no output: send its function_call_output first.`, "/input");
  const { model } = body as { model?: string | null };
  const cast =
    conversation === undefined
      ? await castModel(deps.agents, model)
      : await castThread(deps, await deps.threads.find(conversation, caller.owner), call);
  const budget = asked.mostActions === undefined ? {} : { budget: { actions: asked.mostActions } };
  return { asked, cast: { ...cast, ...budget, ...(earlier === undefined ? {} : { continues: earlier.thread }) } };
}

async function before(
  { runs, responses }: ResponseDependencies,
  id: string,
  owner: string,
): Promise<{ readonly turns: readonly Turn[]; readonly call: string | undefined; readonly thread: string }> {
  return turnsOfResponse(runs, await responses.find(id, owner));
}

/** The input with each reference replaced by the item that it names. */
async function resolveItems({ runs }: ResponseDependencies, input: Json | undefined, owner: string): Promise<Json> {
  if (!Array.isArray(input)) return input ?? null;
  const items: Json[] = [];
  for (const [index, item] of (input as readonly Json[]).entries()) {
    const { type, id, role, content } = isObject(item) ? item : {};
    // Some clients leave the type of a reference out.
    const isReference =
      type === "item_reference" || (type === undefined && role === undefined && content === undefined);
    if (!isReference || typeof id !== "string") {
      items.push(item);
      continue;
    }
    // Thinking is left out of the input, by its items as by references to them.
    if (isThoughtId(id)) continue;
    const place = readItemId(id);
    const found = place && (await itemsAt(runs, place, owner)).find((each) => each["id"] === id);
    if (found === undefined)
      throw new Fault("NOT_FOUND", `There is no item ${id}.`, { detail: { path: `/input/${index}` } });
    items.push(found);
  }
  return items;
}

/** The encoder that the caller asks for: a glass box, events, or undefined for the answer alone. */
function encoderFor(
  call: RouteCall,
  { answering, asked, production }: { answering: ResponseAnswer; asked: ResponseInput; production: boolean },
): AnswerEncoder | undefined {
  const shape = (whole: WholeAnswer): JsonObject => responseShape(answering, wholeProgress(answering, whole));
  if (wantsGlass(call)) return glassAnswer({ run: answering.run, shape }, glassFor(call, production));
  return asked.stream ? new ResponseEncoder(answering) : undefined;
}

/** A response on its way out as a stream. */
interface StreamedResponse {
  readonly call: RouteCall;
  readonly answering: ResponseAnswer;
  readonly encoder: AnswerEncoder;
  readonly headers: { readonly [name: string]: string };
  readonly attended: () => void;
}

function streamReply({ runs }: ResponseDependencies, streamed: StreamedResponse): Reply {
  const { call, answering, encoder, headers, attended } = streamed;
  const { run, after } = answering;
  return {
    stream(response) {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return streamAnswer(response, { runs, run, after, encoder, signal: call.signal }).finally(attended);
    },
  };
}

/** Says which tools of a request are not offered to the model. */
function leftOutHeader({ leftOut }: ResponseInput): { readonly [name: string]: string } {
  return leftOut.length === 0 ? {} : { "x-vidro-left-out": [...new Set(leftOut)].join(", ") };
}

async function show(deps: ResponseDependencies, call: RouteCall): Promise<Reply> {
  const { params, query, caller } = call;
  const answering = await answerOf(deps.runs, await deps.responses.find(params["response_id"] ?? "", caller.owner));
  if (query["stream"] !== "true")
    return { json: responseShape(answering, await readProgress(deps.runs, answering, caller.owner)) };
  const encoder = new ResponseEncoder(answering);
  return streamReply(deps, { call, answering, encoder, headers: {}, attended: () => undefined });
}

async function cancel(deps: ResponseDependencies, { params, caller }: RouteCall): Promise<Reply> {
  const { runs, responses } = deps;
  const stored = await responses.find(params["response_id"] ?? "", caller.owner);
  const { status } = await runs.find(stored.run, caller.owner);
  const answering = await answerOf(runs, stored);
  const progress = await readProgress(runs, answering, caller.owner);
  // A response that ended with a call or a question is whole, although its run goes on.
  if (progress.status === "in_progress" && (status === "running" || status === "asking"))
    await runs.abort(stored.run, "The client cancelled the response.");
  return { json: responseShape(answering, await readProgress(runs, answering, caller.owner)) };
}

async function listInput(deps: ResponseDependencies, { params, query, caller }: RouteCall): Promise<Reply> {
  const stored = await deps.responses.find(params["response_id"] ?? "", caller.owner);
  const { run, after } = stored;
  // The entry that the response begins with is the task, or the answer to the question before it.
  const items = [...turnItems(run, await turnsUntil(deps.runs, stored, after + 1))];
  if (query["order"] !== "asc") items.reverse();
  const from = query["after"] === undefined ? 0 : items.findIndex(({ id }) => id === query["after"]) + 1;
  if (query["after"] !== undefined && from === 0)
    throw new Fault("NOT_FOUND", "The list has no such item: begin without `after`.");
  const data = items.slice(from, from + Number(query["limit"]));
  const [first, last] = [data[0]?.["id"] ?? null, data.at(-1)?.["id"] ?? null];
  return {
    json: { object: "list", data, first_id: first, last_id: last, has_more: from + data.length < items.length },
  };
}
