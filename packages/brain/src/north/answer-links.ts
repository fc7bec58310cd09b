import { Fault, RUN_LIMITS, SESSION_LIMITS } from "@vidro/core";
import type { JsonObject, QuestionAsked, RunHead } from "@vidro/core";
import { SingleUseCodes } from "../auth/single-use-codes.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Reply, RouteCall, Surface } from "../http/route.ts";
import type { Runs } from "../run/runs.ts";
import { mayApprove, visibleOwner } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";
import { findOpenQuestion } from "./open-question.ts";
import type { QuestionWithPlan } from "./open-question.ts";
import { plainFault } from "./ops.ts";

/* Links that answer one question: the holder of a link sees that plan alone, and answers it once. */

/** Dependencies of this surface. */
export interface AnswerLinksDependencies extends ApprovalRights {
  readonly runs: Pick<Runs, "find" | "read" | "answer">;
  readonly tokens: Pick<Tokens, "callerOf">;
  /** The setting `answer_links`. */
  readonly answerLinks?: boolean;
}

/** The one plan that a link is for, and the token whose rights it has. */
interface LinkedQuestion {
  readonly run: string;
  readonly question: string;
  readonly hash: string;
  readonly tokenId: string;
}

/** Makes links to questions, shows what they ask, and takes their answers. */
export function answerLinksSurface(deps: AnswerLinksDependencies): Surface {
  const codes = new SingleUseCodes<LinkedQuestion>({
    lifeMs: SESSION_LIMITS.answerLinkMs,
    most: SESSION_LIMITS.answerLinks,
    now: Date.now,
  });
  return {
    name: "answer-links",
    faultBody: plainFault,
    routes: [
      {
        method: "POST",
        path: "/v1/runs/{run}/answer-links",
        summary: "A link that answers the open question of a run, once and without a sign-in",
        scope: "runs",
        answer: LINK,
        status: 201,
        handle: (call) => createAnswerLink(deps, codes, call),
      },
      {
        method: "POST",
        path: "/answer/question",
        summary: "What the link of a question asks; the link stays valid",
        scope: undefined,
        body: CODE,
        answer: ASKED,
        handle: async ({ body }) => showQuestion(deps, codes, body as { readonly code: string }),
      },
      {
        method: "POST",
        path: "/answer",
        summary: "Answer the question of a link, and use the link up",
        scope: undefined,
        body: ANSWER,
        answer: DONE,
        handle: async ({ body }) => takeAnswer(deps, codes, body as { readonly code: string; readonly answer: string }),
      },
    ],
  };
}

async function createAnswerLink(
  deps: AnswerLinksDependencies,
  codes: SingleUseCodes<LinkedQuestion>,
  { params, caller }: RouteCall,
): Promise<Reply> {
  if (deps.answerLinks !== true)
    throw new Fault(
      "FORBIDDEN",
      "Links that answer a question are off: set answer_links (VIDRO_ANSWER_LINKS=1) and restart the brain.",
    );
  if (!mayApprove(caller, deps)) throw new Fault("FORBIDDEN", "scope approve required");
  const head = await deps.runs.find(params["run"] ?? "", visibleOwner(caller));
  const { question } = await approvalOf(deps, head);
  const linked = { run: head.id, question: question.id, hash: hashIn(question), tokenId: caller.tokenId };
  const { code, expiresAt } = codes.create(linked);
  return { status: 201, json: { path: `/answer#code=${code}`, expires_at: new Date(expiresAt).toISOString() } };
}

/** The open approval of a run; CONFLICT when it asks for none. */
async function approvalOf({ runs }: AnswerLinksDependencies, head: RunHead): Promise<QuestionWithPlan> {
  const open = await findOpenQuestion(runs, head);
  if (open.question.about.kind !== "approval")
    throw new Fault("CONFLICT", "A link answers only a question about a plan; this one needs words.");
  return open;
}

function hashIn({ about }: QuestionAsked): string {
  return about.kind === "approval" ? about.hash : "";
}

/** The question of a link, if its run still asks it about the same plan and its maker still may approve. */
async function linkedQuestion(
  deps: AnswerLinksDependencies,
  linked: LinkedQuestion | undefined,
): Promise<{ readonly head: RunHead; readonly by: string } & QuestionWithPlan> {
  if (linked === undefined)
    throw new Fault("INVALID_TOKEN", "This link was used already or has expired: make another one in the console.");
  const maker = await deps.tokens.callerOf(linked.tokenId);
  if (!mayApprove(maker, deps)) throw new Fault("FORBIDDEN", "scope approve required");
  const head = await deps.runs.find(linked.run, visibleOwner(maker));
  const open = await approvalOf(deps, head);
  if (open.question.id !== linked.question || hashIn(open.question) !== linked.hash)
    throw new Fault("CONFLICT", "The question of this link is closed: the run asks about another plan now.");
  return { ...open, head, by: `${maker.owner} by a link` };
}

async function showQuestion(
  deps: AnswerLinksDependencies,
  codes: SingleUseCodes<LinkedQuestion>,
  { code }: { readonly code: string },
): Promise<Reply> {
  const { head, question, askedAt, action, verdict } = await linkedQuestion(deps, codes.find(code));
  const known = { ...(action === undefined ? {} : { action }), ...(verdict === undefined ? {} : { verdict }) };
  const shown = { task: head.task, asked_at: askedAt, question, ...known };
  return { json: shown as unknown as JsonObject };
}

/** Takes the code before anything is awaited, so that of two answers at once one counts. */
async function takeAnswer(
  deps: AnswerLinksDependencies,
  codes: SingleUseCodes<LinkedQuestion>,
  { code, answer }: { readonly code: string; readonly answer: string },
): Promise<Reply> {
  const { head, question, by } = await linkedQuestion(deps, codes.take(code));
  const text = answer === "yes" ? (question.options[0] ?? "yes") : answer;
  await deps.runs.answer(head.id, { text, by, question: question.id, mayApprove: true });
  return { json: { ok: true } };
}

const SECRET = { type: "string", minLength: 1, maxLength: 128 };
const CODE: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["code"],
  properties: { code: SECRET },
};
const ANSWER: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["code", "answer"],
  properties: {
    code: SECRET,
    answer: {
      type: "string",
      maxLength: RUN_LIMITS.answerChars,
      pattern: "^(?:yes|no|no: [^]*)$",
      description: "yes, no, or a no with its reason: `no: not today`.",
    },
  },
};
const LINK: JsonObject = {
  type: "object",
  required: ["path", "expires_at"],
  properties: {
    path: { type: "string", description: "To be appended to the address of the brain; it counts once." },
    expires_at: { type: "string", format: "date-time" },
  },
};
const ASKED: JsonObject = {
  type: "object",
  required: ["task", "asked_at", "question"],
  properties: {
    task: { type: "string" },
    asked_at: { type: "integer", description: "Milliseconds since the epoch." },
    question: { type: "object", description: "The event question.asked." },
    action: { type: "object", description: "The action that the plan is for." },
    verdict: { type: "object", description: "What policy said of the plan." },
  },
};
const DONE: JsonObject = { type: "object", required: ["ok"], properties: { ok: { const: true } } };
