import { randomUUIDv7 } from "node:crypto";
import { Fault, KNOWLEDGE_LIMITS, PAGE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { andOneMore, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { Reply, Route, RouteCall, Surface } from "../http/route.ts";
import type { Knowledge, KnowledgeEntry, KnowledgeStatus } from "../knowledge/knowledge.ts";
import { mayApprove, visibleOwner } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";
import { plainFault } from "./ops.ts";

/* Findings of runs and of people; each owner sees its own, an administrator those of all. */

/** Dependencies of this surface. */
export interface KnowledgeDependencies extends ApprovalRights {
  readonly knowledge: Omit<Knowledge, "close">;
}

/** Lists, searches, adds, verifies and removes entries of the knowledge. */
export function knowledgeSurface(deps: KnowledgeDependencies): Surface {
  const { knowledge } = deps;
  const routes: readonly Omit<Route, "scope">[] = [
    {
      method: "GET",
      path: "/v1/knowledge",
      summary: "What is known: newest first, or the best matches of `q` first",
      query: LIST,
      answer: ROWS,
      handle: (call) => list(deps, call),
    },
    {
      method: "POST",
      path: "/v1/knowledge",
      summary: "Keep a finding; `verified` takes the scope `approve`",
      body: INPUT,
      answer: ROW,
      status: 201,
      handle: (call) => add(deps, call),
    },
    {
      method: "GET",
      path: "/v1/knowledge/{id}",
      summary: "An entry of the knowledge",
      answer: ROW,
      handle: async (call) => ({ json: rowOf(await findNamed(deps, call)) }),
    },
    {
      method: "POST",
      path: "/v1/knowledge/{id}/verify",
      summary: "Mark an entry as checked by a person; takes the scope `approve`",
      answer: ROW,
      async handle(call) {
        refuseProgram(deps, call);
        const entry = await findNamed(deps, call);
        await knowledge.verify(entry.id, visibleOwner(call.caller));
        return { json: rowOf({ ...entry, status: "verified" }) };
      },
    },
    {
      method: "DELETE",
      path: "/v1/knowledge/{id}",
      summary: "Remove an entry of the knowledge",
      answer: ROW,
      async handle(call) {
        const entry = await findNamed(deps, call);
        await knowledge.remove(entry.id, visibleOwner(call.caller));
        return { json: rowOf(entry) };
      },
    },
  ];
  return { name: "knowledge", faultBody: plainFault, routes: routes.map((route) => ({ ...route, scope: "runs" })) };
}

async function list({ knowledge }: KnowledgeDependencies, call: RouteCall): Promise<Reply> {
  const page = pageOf(call);
  const { q: text, status, ending } = call.query;
  const owner = visibleOwner(call.caller);
  const part = {
    ...andOneMore(page),
    ...(owner === undefined ? {} : { owner }),
    ...(status === undefined ? {} : { status: status as KnowledgeStatus }),
  };
  const found = await (text === undefined
    ? knowledge.list({ ...part, ...(ending === undefined ? {} : { ending }) })
    : knowledge.search({ ...part, text }));
  return pageReply(found, page, { id: ({ id }) => id, json: (shown) => ({ entries: shown.map(rowOf) }) });
}

/** The fields of an entry that are given from outside. */
type EntryInput = Pick<KnowledgeEntry, "title"> & Partial<Pick<KnowledgeEntry, "tags" | "snippet" | "status">>;

async function add(deps: KnowledgeDependencies, call: RouteCall): Promise<Reply> {
  const { title, tags = [], snippet = "", status = "unverified" } = call.body as unknown as EntryInput;
  if (status === "verified") refuseProgram(deps, call);
  const { caller } = call;
  const entry: KnowledgeEntry = {
    id: `kb_${randomUUIDv7()}`,
    owner: caller.owner,
    title,
    tags,
    snippet,
    status,
    trust: mayApprove(caller, deps) ? "person" : "program",
    at: Date.now(),
  };
  await deps.knowledge.add(entry);
  return { json: rowOf(entry), status: 201, headers: { location: `/v1/knowledge/${entry.id}` } };
}

/** Verifying is a person's word, which a token gives by the same right as an approval. */
function refuseProgram(deps: ApprovalRights, { caller }: RouteCall): void {
  if (!mayApprove(caller, deps))
    throw new Fault("FORBIDDEN", "Only a person verifies knowledge; this token lacks the scope approve.");
}

async function findNamed({ knowledge }: KnowledgeDependencies, { params, caller }: RouteCall): Promise<KnowledgeEntry> {
  const id = params["id"] ?? "";
  const found = await knowledge.find(id, visibleOwner(caller));
  if (found === undefined)
    throw new Fault(
      "NOT_FOUND",
      `There is no entry ${JSON.stringify(id)} in the knowledge; GET /v1/knowledge lists them.`,
    );
  return found;
}

/** An entry as clients see it. */
function rowOf({ source, ...entry }: KnowledgeEntry): JsonObject {
  return { ...entry, source: source ?? null };
}

const STATUS = { enum: ["unverified", "verified"] };
const TEXT = { type: "string", minLength: 1, maxLength: KNOWLEDGE_LIMITS.titleChars };
const GIVEN = {
  title: { ...TEXT, pattern: "\\S" },
  tags: { type: "array", maxItems: KNOWLEDGE_LIMITS.tags, items: TEXT },
  snippet: { type: "string", maxLength: KNOWLEDGE_LIMITS.snippetChars, description: "What is worth knowing." },
  status: { ...STATUS, description: "Whether a person has checked it. Default: unverified." },
};
const LIST = pageQuery(
  { q: { ...TEXT, description: "Words; accents, capitals and plurals do not matter." }, status: STATUS, ending: TEXT },
  PAGE_LIMITS.runs,
);
const INPUT = { type: "object", additionalProperties: false, properties: GIVEN, required: ["title"] };
const ROW = {
  type: "object",
  properties: {
    ...GIVEN,
    id: TEXT,
    owner: TEXT,
    source: {
      type: ["object", "null"],
      description: "Where a model kept it; null when it was added from outside.",
      properties: { run: TEXT, seq: { type: "integer" } },
      required: ["run", "seq"],
    },
    trust: { enum: ["model", "person", "program"], description: "Who reported it." },
    at: { type: "integer", description: "Milliseconds since the epoch." },
  },
  required: ["id", "owner", "title", "tags", "snippet", "status", "source", "trust", "at"],
};
const ROWS = { type: "object", properties: { entries: { type: "array", items: ROW } }, required: ["entries"] };
