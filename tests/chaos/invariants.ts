import { isDeepStrictEqual } from "node:util";
import { isTerminal } from "@vidro/core";
import type { ActionStarted, Entry, Event } from "@vidro/core";
import type { JournalItem } from "../support/resumable-wires.ts";
import type { PlannedClient } from "./planned-client.ts";

/* What has to be true of every run whatever happened, by its journal, its marks and what was said to those who watched. */

/** A promise that was not kept. */
export interface Violation {
  readonly invariant: string;
  readonly what: string;
  /** The run that it is about. */
  readonly run?: string;
}

/** All that is known of one run in the end. */
export interface Known {
  readonly visitor: PlannedClient;
  readonly entries: readonly Entry[];
  /** The marks that were left on the host of the run, those of other runs too. */
  readonly marks: readonly string[];
}

/** How the actions of a run ended. */
export interface ActionCount {
  readonly started: number;
  readonly unknown: number;
}

/** Every violation of a run. */
export function violationsOf(known: Known): readonly Violation[] {
  const { visitor } = known;
  const named = visitor.run === undefined ? {} : { run: visitor.run };
  return Object.entries(CHECKS).flatMap(([invariant, check]) =>
    check(known).map((what) => ({ invariant, what: `${visitor.plan.key}: ${what}`, ...named })),
  );
}

/** How many actions of a run were started, and how many have an unknown outcome. */
export function actionsOf(entries: readonly Entry[]): ActionCount {
  const count = (type: Event["type"]): number => entries.filter(({ event }) => event.type === type).length;
  return { started: count("action.started"), unknown: count("action.unknown") };
}

const CHECKS: { readonly [invariant: string]: (known: Known) => readonly string[] } = {
  "a run that was acknowledged is there": ({ visitor, entries }) => {
    if (visitor.run === undefined) return ["it could not be begun, also after everything was whole again"];
    return [...visitor.wrongs, ...(entries.length === 0 ? [`${visitor.run} is lost`] : [])];
  },
  "entries are numbered without a gap": ({ entries }) =>
    entries.flatMap(({ seq }, at) => (seq === at + 1 ? [] : [`entry ${at + 1} is number ${seq}`])),
  "a run is over or waits for an answer by name": ({ entries }) => openness(entries),
  "each action that was started has one outcome": ({ entries }) => outcomeMisfits(entries),
  "each effect happens at most once, and as its outcome says": ({ entries, marks }) => effectMisfits(entries, marks),
  "followers see every entry in its place": ({ visitor, entries }) =>
    visitor.followers.flatMap(({ seen, wire }) => sightMisfits(seen, entries).map((what) => `${wire.name}: ${what}`)),
  "what was acknowledged is in the journal": ({ visitor, entries }) => promiseMisfits(visitor, entries),
};

function openness(entries: readonly Entry[]): readonly string[] {
  const last = entries.at(-1)?.event;
  if (last === undefined || isTerminal(last) || last.type === "question.asked") return [];
  return [`its last entry is ${last.type}, and nothing follows`];
}

function outcomes(entries: readonly Entry[], action: string): readonly Event[] {
  return entries
    .map(({ event }) => event)
    .filter(
      (event) =>
        (event.type === "action.finished" || event.type === "action.failed" || event.type === "action.unknown") &&
        event.action === action,
    );
}

function startsOf(entries: readonly Entry[]): readonly ActionStarted[] {
  return entries.flatMap(({ event }) => (event.type === "action.started" ? [event] : []));
}

function outcomeMisfits(entries: readonly Entry[]): readonly string[] {
  return startsOf(entries).flatMap(({ action }) => {
    const ends = outcomes(entries, action.id).map(({ type }) => type);
    // While a person is asked about an unknown outcome the true one may still arrive.
    const [first, second, ...more] = ends;
    const isSettledLate = first === "action.unknown" && second !== "action.unknown" && more.length === 0;
    return ends.length === 1 || (ends.length === 2 && isSettledLate && !isAnswered(entries, action.id))
      ? []
      : [`${action.id} has ${ends.length} outcomes (${ends.join(", ")})`];
  });
}

/** Whether a person has said how to go on without knowing what came of an action. */
function isAnswered(entries: readonly Entry[], action: string): boolean {
  const asked = entries.flatMap(({ event }) =>
    event.type === "question.asked" && event.about.kind === "unknown" && event.about.action === action
      ? [event.id]
      : [],
  );
  return entries.some(({ event }) => event.type === "question.answered" && asked.includes(event.id));
}

function markOf({ action }: ActionStarted): string {
  const [key, step] = (action.input["args"] ?? []) as readonly string[];
  return `${key}.${step}`;
}

function effectMisfits(entries: readonly Entry[], marks: readonly string[]): readonly string[] {
  return startsOf(entries).flatMap((start) => {
    const mark = markOf(start);
    const times = marks.filter((one) => one === mark).length;
    const end = outcomes(entries, start.action.id).at(-1);
    const said = `${mark} (${start.action.id}) happened ${times} times and is ${end?.type ?? "open"}`;
    if (times > 1) return [said];
    if (end?.type === "action.failed" && times > 0) return [`${said}: ${end.fault.code}`];
    const isWhole = end?.type === "action.finished" && end.outcome.kind === "process" && end.outcome.exitCode === 0;
    return isWhole && times !== 1 ? [said] : [];
  });
}

function sightMisfits(seen: readonly JournalItem[], entries: readonly Entry[]): readonly string[] {
  return seen.flatMap((item, at) => {
    if (item.seq !== at + 1) return [`after ${at} came ${item.seq}`];
    const entry = entries[at];
    return isDeepStrictEqual({ ...item }, { ...entry }) ? [] : [`entry ${item.seq} is not what the journal has`];
  });
}

function promiseMisfits(visitor: PlannedClient, entries: readonly Entry[]): readonly string[] {
  const events = entries.map(({ event }) => event);
  return visitor.promised.flatMap((promise) => {
    if (promise.kind === "abort")
      return events.some((event) => isTerminal(event)) ? [] : ["an abort that was acknowledged did not end it"];
    const isKept = events.some(
      (event) => event.type === "question.answered" && event.id === promise.question && event.answer === promise.answer,
    );
    return isKept ? [] : [`the answer ${promise.answer} to ${promise.question} is lost`];
  });
}
