import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { isTerminalAonEvent } from "./event.ts";
import { JSON_TYPE, NDJSON_TYPE, varyWithAccept } from "./negotiate.ts";
import { sendProbe } from "./probe.ts";
import type { ProbeAnswer, Probe } from "./probe.ts";

/** The four clauses of the contract's §7. */
export const CLAUSES = {
  accept: "Accept is honoured strictly",
  fallback: "Clients that do not send the header get plain JSON",
  ndjson: "The NDJSON is valid, line by line",
  healing: "At least one healing is tried before a failure",
} as const;

/** A clause's name. */
export type Clause = keyof typeof CLAUSES;

/** The result for one clause; unknown when the answers did not show it. */
export interface ClauseFinding {
  readonly clause: Clause;
  readonly title: string;
  readonly state: "ok" | "fail" | "unknown";
  /** Observations and advice. */
  readonly notes: readonly string[];
}

/** The server and the routes to check. */
export interface CheckOptions {
  /** A route that succeeds. */
  readonly url: string;
  /** A route that always fails, so that its healing can be checked. */
  readonly failingUrl?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Kind = "json" | "ndjson" | "none";

/** Accept headers with the kind of answer that they must get. */
const TRIALS: readonly (readonly [accept: string, kind: Kind])[] = [
  [JSON_TYPE, "json"],
  [NDJSON_TYPE, "ndjson"],
  ["APPLICATION/X-NDJSON", "ndjson"],
  [`${NDJSON_TYPE};q=0, ${JSON_TYPE}`, "json"],
  [`${NDJSON_TYPE};q=0.1, ${JSON_TYPE};q=0.9`, "json"],
  [`${JSON_TYPE};q=0.1, ${NDJSON_TYPE};q=0.9`, "ndjson"],
  [`${NDJSON_TYPE}-other, ${JSON_TYPE}`, "json"],
  ["image/png", "none"],
];

/** Checks a server against the four clauses with about ten requests. Rejects when it cannot be reached. */
export async function checkServer(options: CheckOptions): Promise<readonly ClauseFinding[]> {
  const { url, method = "GET", headers = {}, body } = options;
  const to = (target: string, accept?: string): Probe => {
    const withAccept = accept === undefined ? headers : { ...headers, Accept: accept };
    return { url: new URL(target), method, headers: withAccept, body };
  };
  const trials: (readonly [string, Kind, ProbeAnswer])[] = [];
  for (const [accept, kind] of TRIALS) trials.push([accept, kind, await sendProbe(to(url, accept))]);
  const bare = [await sendProbe(to(url)), await sendProbe(to(url, "*/*"))];
  const stream = trials.find(([accept]) => accept === NDJSON_TYPE)?.[2];
  const failing = options.failingUrl === undefined ? undefined : await sendProbe(to(options.failingUrl, NDJSON_TYPE));
  const streams = [stream, failing].filter((each) => each !== undefined);
  return [
    findingFor(
      "accept",
      trials.flatMap(([accept, kind, answer]) => wrongKind(accept, kind, answer)),
      trials.flatMap(([, kind, answer]) => advice(kind, answer)),
    ),
    findingFor(
      "fallback",
      bare.flatMap((answer) => wrongKind("no Accept or */*", "json", answer)),
    ),
    findingFor("ndjson", streams.flatMap(wrongLines)),
    healingOf(streams, options.failingUrl !== undefined),
  ];
}

function findingFor(clause: Clause, wrong: readonly string[], better: readonly string[] = []): ClauseFinding {
  const state = wrong.length === 0 ? "ok" : "fail";
  return { clause, title: CLAUSES[clause], state, notes: [...new Set([...wrong, ...better])] };
}

/** Advice: what HTTP recommends and the contract does not require. */
function advice(wanted: Kind, { status, headers }: ProbeAnswer): string[] {
  const vary = headers.vary ?? "";
  return [
    ...(varyWithAccept(vary) === vary ? [] : ["Advice: send Vary: Accept, or caches may mix answers up."]),
    ...(wanted !== "none" || status === 406 ? [] : ["Advice: answer 406 when Accept takes neither type."]),
  ];
}

function kindOf({ headers, body }: ProbeAnswer): Kind {
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === NDJSON_TYPE) return "ndjson";
  return type === JSON_TYPE && parseOrUndefined(body) !== undefined ? "json" : "none";
}

function wrongKind(accept: string, wanted: Kind, answer: ProbeAnswer): string[] {
  const kind = kindOf(answer);
  // HTTP allows an answer of another type, but a stream must only be sent when it was asked for.
  const isRight = wanted === "none" ? kind !== "ndjson" : kind === wanted;
  if (isRight) return [];
  const got = `${answer.headers["content-type"] ?? "no content type"} with status ${answer.status}`;
  return [`Accept: ${accept} got ${got}. Answer in ${wanted === "ndjson" ? "NDJSON" : "JSON"}.`];
}

function linesOf({ body }: ProbeAnswer): string[] {
  return body.split("\n").filter((line) => line.trim() !== "");
}

function eventsOf(answer: ProbeAnswer): JsonObject[] {
  return linesOf(answer)
    .map((line) => parseOrUndefined(line))
    .filter((event) => isObject(event));
}

function wrongLines(answer: ProbeAnswer): string[] {
  if (kindOf(answer) !== "ndjson") return [`An answer to Accept: ${NDJSON_TYPE} is no NDJSON.`];
  const lines = linesOf(answer);
  const events = eventsOf(answer);
  const wrong: string[] = [];
  if (events.length < lines.length) wrong.push(`${lines.length - events.length} lines are no JSON objects.`);
  const types = events.map((event) => ({ type: typeof event["type"] === "string" ? event["type"] : "" }));
  if (types.some(({ type }) => type === "")) wrong.push("Some lines have no type.");
  const ends = types.filter((event) => isTerminalAonEvent(event)).length;
  if (ends !== 1) wrong.push(`There are ${ends} terminal events. Send exactly one result or error.`);
  else if (!isTerminalAonEvent(types.at(-1) ?? { type: "" })) wrong.push("Something comes after the terminal event.");
  if (!answer.isWhole) wrong.push("The stream was cut off.");
  return wrong;
}

/** Checks that a stream with an error has a healing; unknown when no stream has either. */
function healingOf(streams: readonly ProbeAnswer[], hasFailing: boolean): ClauseFinding {
  const all = streams.map((answer) => eventsOf(answer).map((event) => event["type"]));
  const isShown = all.some((types) => types.includes("healing"));
  const isMissed = all.some((types) => types.includes("error") && !types.includes("healing"));
  if (isMissed) return findingFor("healing", ["A stream ends in an error, and nothing was tried before."]);
  if (isShown) return findingFor("healing", []);
  const note = hasFailing
    ? "The failing route did not fail, so there was nothing to heal."
    : "Nothing failed, so nothing was healed. Give a route that fails: --failing <url>";
  return { clause: "healing", title: CLAUSES.healing, state: "unknown", notes: [note] };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
