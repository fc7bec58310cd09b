import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Event } from "@vidro/core";
import { JOURNAL_SSE } from "../support/resumable-wires.ts";
import type { JournalItem } from "../support/resumable-wires.ts";
import { violationsOf } from "./invariants.ts";
import type { Known } from "./invariants.ts";

/* The checks of a course see what they are there for: each case breaks one promise, and that one is named. */

const ACTION = { id: "act_1", tool: "command", input: { command: "mark", args: ["r1", "1", "0"] }, callId: "c" };
const OUTPUT = { text: "", bytes: 0, truncated: false, sha256: "" };
const STARTED: Event = { type: "action.started", action: ACTION, hand: "local" };
const FINISHED: Event = {
  type: "action.finished",
  action: "act_1",
  outcome: {
    kind: "process",
    exitCode: 0,
    signal: null,
    timedOut: false,
    durationMs: 1,
    stdout: OUTPUT,
    stderr: OUTPUT,
  },
};
const FAILED: Event = { type: "action.failed", action: "act_1", fault: { code: "TOOL_FAILED", message: "no" } };
const OVER: Event = { type: "run.finished", result: "done" };

interface Case {
  readonly events?: readonly Event[];
  readonly marks?: readonly string[];
  readonly seen?: (entries: readonly Entry[]) => readonly Entry[];
  readonly answered?: string;
}

function knownOf({ events = [STARTED, FINISHED, OVER], marks = ["r1.1"], seen = (all) => all, answered }: Case): Known {
  const entries = events.map((event, at): Entry => ({ seq: at + 1, at: 0, event }));
  const promised = answered === undefined ? [] : [{ kind: "answer", question: "q1", answer: answered }];
  const follower = { wire: JOURNAL_SSE, seen: seen(entries) as unknown as readonly JournalItem[] };
  const visitor = { plan: { key: "r1" }, run: "run_1", wrongs: [], promised, followers: [follower] };
  return { visitor: visitor as unknown as Known["visitor"], entries, marks };
}

const UNKNOWN: Event = { type: "action.unknown", action: "act_1", fault: { code: "OUTCOME_UNKNOWN", message: "?" } };
const ASKED: Event = {
  type: "question.asked",
  id: "q3",
  about: { kind: "unknown", action: "act_1" },
  text: "?",
  options: ["continue", "stop"],
  expiresAt: 1,
};
const ANSWERED: Event = { type: "question.answered", id: "q3", answer: "continue" };

const broken = (one: Case): readonly string[] => violationsOf(knownOf(one)).map(({ invariant }) => invariant);

test("a run that went as it should breaks nothing, nor one whose outcome became known while a person was asked", () => {
  assert.deepEqual(broken({}), []);
  assert.deepEqual(broken({ events: [STARTED, UNKNOWN, ASKED, FINISHED, OVER] }), []);
});

const EFFECT = "each effect happens at most once, and as its outcome says";
const CASES: { readonly [what: string]: readonly [Case, string] } = {
  "an effect that happened twice": [{ marks: ["r1.1", "r1.1"] }, EFFECT],
  "an effect that is said to be done and is not": [{ marks: [] }, EFFECT],
  "an effect that is said not to be done and is": [{ events: [STARTED, FAILED, OVER] }, EFFECT],
  "an action without an outcome": [{ events: [STARTED, OVER] }, "each action that was started has one outcome"],
  "an outcome after a person went on without it": [
    { events: [STARTED, UNKNOWN, ASKED, ANSWERED, FINISHED, OVER] },
    "each action that was started has one outcome",
  ],
  "a run without a driver": [{ events: [STARTED, FINISHED] }, "a run is over or waits for an answer by name"],
  "a follower that missed an entry": [{ seen: ([, ...rest]) => rest }, "followers see every entry in its place"],
  "a follower that was told something else": [
    { seen: (all) => all.map((entry) => ({ ...entry, at: 1 })) },
    "followers see every entry in its place",
  ],
  "an answer that was taken and is lost": [{ answered: "yes" }, "what was acknowledged is in the journal"],
};

for (const [what, [one, invariant]] of Object.entries(CASES))
  test(`${what} is found`, () => assert.deepEqual([...new Set(broken(one))], [invariant]));
