import assert from "node:assert/strict";
import { generateKeyPairSync, hash, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { test } from "node:test";
import { endFacts, endOfEvent, endWords, receiptText } from "@vidro/core";
import type { Event, Json, JsonObject, Output, Receipt } from "@vidro/core";
import { REDACTED } from "@vidro/core/redact";
import type { OutcomeEvent } from "@vidro/core/run";
import { entry, startedEvent } from "../stores/journal.fixture.ts";
import { checkReceipt, keysByHand, outcomeIn, OutcomeReader } from "./receipt-check.ts";
import type { OutcomeOnRecord } from "./receipt-check.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const KEY = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
const keys = keysByHand([
  { hand: "h1", key: KEY, since: 100 },
  { hand: "h1", key: "an older key", since: 100 },
]);
const stdout: Output = { text: "out", bytes: 3, truncated: false, sha256: "aa" };
const FINISHED: OutcomeEvent = {
  type: "action.finished",
  action: "a1",
  outcome: { kind: "process", exitCode: 0, signal: null, timedOut: false, durationMs: 5, stdout, stderr: stdout },
};

/** An outcome with the receipt that the hand signed for it. */
function signed(event: OutcomeEvent, more: Partial<Receipt> = {}, secret: KeyObject = privateKey): OutcomeOnRecord {
  const ended = endOfEvent(event);
  const unsigned = {
    run: "r1",
    action: event.action,
    plan: "p1",
    outcome: hash("sha256", endFacts(ended)),
    words: hash("sha256", endWords(ended)),
    at: 200,
    ledger: "m",
    key: KEY,
    ...more,
  };
  const signature = sign(null, Buffer.from(receiptText(unsigned)), secret).toString("hex");
  return {
    run: "r1",
    seq: 9,
    at: 300,
    hands: ["h1"],
    plan: "p1",
    event: { ...event, receipt: { ...unsigned, signature } },
  };
}

function whyWrong(outcome: OutcomeOnRecord): string | undefined {
  const verdict = checkReceipt(outcome, keys);
  return typeof verdict === "string" ? undefined : verdict.wrong;
}

test("an outcome as the hand signed it is sound, of every kind", () => {
  const fault = { code: "TOOL_FAILED", message: "no" } as const;
  for (const event of [
    FINISHED,
    { type: "action.finished", action: "a1", outcome: { kind: "value", text: "t", data: { a: 1 } } },
    { type: "action.failed", action: "a1", fault },
    { type: "action.unknown", action: "a1", fault, partial: "so far" },
  ] as const satisfies readonly OutcomeEvent[])
    assert.equal(checkReceipt(signed(event), keys), "sound", event.type);
});

test("facts that were changed after the signature are found", () => {
  const outcome = signed(FINISHED);
  const { event } = outcome;
  assert.ok(event.type === "action.finished" && event.outcome.kind === "process");
  const forged = { ...event, outcome: { ...event.outcome, exitCode: 1 } };
  assert.match(whyWrong({ ...outcome, event: forged }) ?? "", /not the outcome that the hand signed/);
  const failed: OutcomeEvent = { type: "action.failed", action: "a1", fault: { code: "TOOL_FAILED", message: "x" } };
  const receipt = event.receipt === undefined ? {} : { receipt: event.receipt };
  assert.match(whyWrong({ ...outcome, event: { ...failed, ...receipt } }) ?? "", /not the outcome/);
});

test("other words are wrong, unless a secret was removed from them", () => {
  const outcome = signed(FINISHED);
  const { event } = outcome;
  assert.ok(event.type === "action.finished" && event.outcome.kind === "process");
  const said = (text: string): OutcomeOnRecord => {
    if (event.outcome.kind !== "process") return outcome;
    return { ...outcome, event: { ...event, outcome: { ...event.outcome, stdout: { ...stdout, text } } } };
  };
  assert.match(whyWrong(said("other")) ?? "", /other words/);
  assert.equal(checkReceipt(said(`out ${REDACTED}`), keys), "redacted");
});

test("a receipt of another run, action or plan does not count", () => {
  assert.match(whyWrong(signed(FINISHED, { run: "r2" })) ?? "", /action a1 of run r2/);
  assert.match(whyWrong(signed(FINISHED, { action: "a2" })) ?? "", /action a2 of run r1/);
  assert.match(whyWrong(signed(FINISHED, { plan: "p2" })) ?? "", /another plan/);
  assert.match(
    whyWrong(signed(FINISHED, { plan: "" })) ?? "",
    /another plan/,
    "only an unknown outcome may have no plan",
  );
  const unknown: OutcomeEvent = {
    type: "action.unknown",
    action: "a1",
    fault: { code: "OUTCOME_UNKNOWN", message: "" },
  };
  assert.equal(checkReceipt(signed(unknown, { plan: "" }), keys), "sound");
});

test("only a key of one of the run's own hands counts, and its signature has to hold", () => {
  assert.match(whyWrong({ ...signed(FINISHED), hands: ["h2"] }) ?? "", /not one of its hand's/);
  assert.equal(checkReceipt({ ...signed(FINISHED), hands: ["h2", "h1"] }, keys), "sound");
  const other = generateKeyPairSync("ed25519");
  assert.match(whyWrong(signed(FINISHED, {}, other.privateKey)) ?? "", /signature is wrong/);
  const bad = keysByHand([{ hand: "h1", key: "zz", since: 0 }]);
  assert.match(String(Object.values(checkReceipt(signed(FINISHED, { key: "zz" }), bad))), /signature is wrong/);
});

test("a receipt is due once every hand of the run had shown its key", () => {
  const outcome: OutcomeOnRecord = { run: "r1", seq: 9, at: 300, hands: ["h1"], event: FINISHED };
  assert.equal(checkReceipt(outcome, keys), "missing");
  assert.equal(checkReceipt({ ...outcome, at: 99 }, keys), "none");
  assert.equal(checkReceipt({ ...outcome, at: 100 }, keys), "missing");
  assert.equal(checkReceipt({ ...outcome, hands: ["h1", "h2"] }, keys), "none");
  assert.equal(checkReceipt({ ...outcome, hands: [] }, keys), "none");
  const failed: OutcomeEvent = { type: "action.failed", action: "a1", fault: { code: "FORBIDDEN", message: "" } };
  assert.equal(checkReceipt({ ...outcome, event: failed }, keys), "none", "what was refused was never on the ledger");
});

test("the reader joins an outcome to the plan that was judged for that action, and to no other", () => {
  const reader = new OutcomeReader("r1");
  const judged = (action: string, plan: string): Event =>
    ({ type: "policy.judged", action, hash: plan }) as unknown as Event;
  const started = { ...startedEvent("t"), hand: "h1,h2" } as Event;
  assert.equal(reader.read(entry(1, started)), undefined);
  assert.equal(reader.read(entry(2, judged("a1", "p1"))), undefined);
  assert.deepEqual(reader.read(entry(3, FINISHED))?.plan, "p1");
  const other = reader.read(entry(4, { ...FINISHED, action: "a2" }));
  assert.deepEqual([other?.plan, other?.hands], [undefined, ["h1", "h2"]]);
});

/** A line of an export as it is read from a file that anyone may have written. */
function line(change: (fields: JsonObject) => Json): Json {
  const { run, seq, at, hands, plan = "", event } = signed(FINISHED);
  return change(JSON.parse(JSON.stringify({ run, seq, at, hands, plan, event })) as JsonObject);
}

test("a line of an export that holds no outcome is passed over", () => {
  for (const text of [null, 5, "x", [], {}, { run: "r1" }]) assert.equal(outcomeIn(text), undefined);
  assert.equal(outcomeIn(line((fields) => ({ ...fields, event: { type: "run.started" } }))), undefined);
  assert.equal(outcomeIn(line((fields) => ({ ...fields, hands: "h1" }))), undefined);
});

test("a line of an export whose outcome or receipt is malformed is wrong, and does not end the check", () => {
  const changes: readonly ((event: JsonObject) => JsonObject)[] = [
    (event) => ({ ...event, receipt: null }),
    (event) => ({ ...event, receipt: "none" }),
    (event) => ({ ...event, receipt: {} }),
    (event) => ({ ...event, outcome: null }),
    (event) => ({ ...event, outcome: { kind: "process" } }),
    ({ type = "", action = "", receipt = "" }) => ({ type, action, receipt }),
    (event) => ({ ...event, type: "action.failed" }),
    (event) => ({ ...event, type: "action.unknown", fault: "x" }),
  ];
  for (const change of changes) {
    const found = outcomeIn(line((fields) => ({ ...fields, event: change(fields["event"] as JsonObject) })));
    assert.ok(found !== undefined);
    assert.notEqual(whyWrong(found), undefined, JSON.stringify(found.event).slice(0, 200));
  }
  const unnamed = outcomeIn(line((fields) => ({ ...fields, hands: [5, null] })));
  assert.ok(unnamed !== undefined && whyWrong(unnamed) !== undefined);
});

test("a sound line of an export stays sound", () => {
  const found = outcomeIn(line((fields) => fields));
  assert.ok(found !== undefined);
  assert.equal(checkReceipt(found, keys), "sound");
});
