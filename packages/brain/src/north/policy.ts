import { asFault, CHAT_LIMITS, Fault, FOLLOW_LIMITS, REVIEW_LIMITS } from "@vidro/core";
import type { Action, Entry, JsonObject } from "@vidro/core";
import { changedVerdicts } from "@vidro/core/policy";
import type { ChangedVerdict, HomePolicy, PastTally } from "@vidro/core/policy";
import type { Reply, Route, RouteCall, Surface } from "../http/route.ts";
import type { Runs } from "../run/runs.ts";
import { plainFault } from "./ops.ts";

/* The policy of the brain's own machine. It says what runs without a question, so that only an administrator sees it. */

/** Dependencies of this surface. */
export interface PolicyDependencies {
  /** Absent when no hand works on the brain's own machine. */
  readonly policy?: HomePolicy;
  readonly runs: Pick<Runs, "list" | "read">;
}

/** Shows, tries and changes the policy of the brain's own machine. */
export function policySurface(deps: PolicyDependencies): Surface {
  const policy = (): HomePolicy => ownPolicy(deps.policy);
  return {
    name: "policy",
    faultBody: plainFault,
    routes: [
      route("GET /v1/policy", { summary: "The policy of the brain's own machine, and its rules", answer: SHOWN }, () =>
        show(policy()),
      ),
      route(
        "PUT /v1/policy",
        { summary: "Put another policy in its place; its examples are tried first", body: REPLACE, answer: SHOWN },
        async ({ body }) => {
          const { source, version } = body as { readonly source: JsonObject; readonly version: string };
          await ofDraft(policy().replace(source, version));
          return show(policy());
        },
      ),
      route(
        "POST /v1/policy/check",
        { summary: "Try all examples of a draft; nothing is changed", body: CHECK, answer: CHECKED },
        async ({ body }) => ({ json: { ...(await ofDraft(policy().check(body["source"] as JsonObject))) } }),
      ),
      route(
        "POST /v1/policy/explain",
        { summary: "What the policy or a draft says of an action, and why; runs nothing", body: EXPLAIN, answer: SAID },
        (call) => explain(policy(), call),
      ),
      route(
        "POST /v1/policy/history",
        { summary: "Past actions that the policy or a draft would decide otherwise", body: HISTORY, answer: PAST },
        (call) => history(policy(), deps.runs, call),
      ),
    ],
  };
}

function ownPolicy(policy: HomePolicy | undefined): HomePolicy {
  if (policy !== undefined) return policy;
  throw new Fault("NOT_FOUND", "No hand works on the brain's own machine; other hosts have policies of their own.");
}

async function show(policy: HomePolicy): Promise<Reply> {
  const { file, isHost, version, source, rules, added, warning = null } = await policy.show();
  const shown = rules.map((rule) => ({ added: added.has(rule.id), rule }));
  return { json: { file, host: isHost, version, warning, source, rules: shown } as unknown as JsonObject };
}

async function explain(policy: HomePolicy, { body }: RouteCall): Promise<Reply> {
  const { tool, input, source } = body as { tool: string; input: JsonObject; source?: JsonObject };
  const action: Action = { id: "act_explain", tool, input, callId: "" };
  const { verdict, plan, hash, findings } = await ofDraft(policy.explain(action, source));
  return { json: { ...verdict, plan, hash, findings } as unknown as JsonObject };
}

async function history(
  policy: HomePolicy,
  runs: PolicyDependencies["runs"],
  { body, signal }: RouteCall,
): Promise<Reply> {
  const { source } = body as { readonly source?: JsonObject };
  const tally: PastTally = { judged: 0, elsewhere: 0, homeless: 0 };
  const shown: ChangedVerdict[] = [];
  let count = 0;
  const past = { list: runs.list.bind(runs), entries: (run: string) => entriesOf(runs, run) };
  const policyAt = await ofDraft(policy.judges(source));
  if (source !== undefined) await ofDraft(policy.check(source));
  for await (const one of changedVerdicts(past, { policyAt, tally, limit: REVIEW_LIMITS.searchedRuns })) {
    if (signal.aborted) break;
    count += 1;
    if (shown.length < REVIEW_LIMITS.shownVerdicts) shown.push(one);
  }
  return { json: { ...tally, count, changed: shown } as unknown as JsonObject };
}

async function* entriesOf(runs: PolicyDependencies["runs"], run: string): AsyncGenerator<Entry> {
  for (let after = 0; ; after += FOLLOW_LIMITS.batch) {
    const entries = await runs.read(run, after, FOLLOW_LIMITS.batch);
    yield* entries;
    if (entries.length < FOLLOW_LIMITS.batch) return;
  }
}

/** A draft that cannot be used is a mistake of its sender; the policy in force is as it was. */
async function ofDraft<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (thrown) {
    const fault = asFault(thrown);
    throw fault.code === "BAD_POLICY" ? new Fault("BAD_REQUEST", fault.message, { cause: thrown }) : thrown;
  }
}

function route(
  name: `${Route["method"]} /${string}`,
  about: Pick<Route, "summary" | "body" | "answer">,
  handle: Route["handle"],
): Route {
  const [method, path] = name.split(" ") as [Route["method"], string];
  return { method, path, scope: "admin", ...about, handle };
}

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };
const SOURCE = { type: "object", description: "A policy as its file has it." };
const DECISION = { enum: ["allow", "ask", "deny"] };
const VERDICT = { decision: DECISION, rule: TEXT, class: TEXT, reason: TEXT };
const FINDING = object({ rule: TEXT, decision: DECISION, matched: { type: "boolean" }, why: TEXT });
const SHOWN = object({
  file: TEXT,
  host: { type: "boolean", description: "The host's own policy counts, which only root changes." },
  version: TEXT,
  warning: { type: ["string", "null"] },
  source: SOURCE,
  rules: { type: "array", items: object({ added: { type: "boolean" }, rule: { type: "object" } }) },
});
const CHECKED = object({ rules: COUNT, examples: COUNT });
const SAID = object({ ...VERDICT, plan: { type: "object" }, hash: TEXT, findings: { type: "array", items: FINDING } });
const CHANGED = object({
  run: TEXT,
  seq: COUNT,
  plan: { type: "object" },
  was: object(VERDICT),
  now: object(VERDICT),
});
const PAST = object({
  judged: COUNT,
  elsewhere: COUNT,
  homeless: COUNT,
  count: COUNT,
  changed: { type: "array", items: CHANGED },
});
const REPLACE = closedObject({ source: SOURCE, version: { type: "string", maxLength: 128 } }, ["source", "version"]);
const CHECK = closedObject({ source: SOURCE }, ["source"]);
const TOOL = { type: "string", minLength: 1, maxLength: CHAT_LIMITS.nameChars };
const EXPLAIN = closedObject({ tool: TOOL, input: { type: "object" }, source: SOURCE }, ["tool", "input"]);
const HISTORY = closedObject({ source: SOURCE }, []);

function object(properties: JsonObject): JsonObject {
  return { type: "object", required: Object.keys(properties), properties };
}

function closedObject(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}
