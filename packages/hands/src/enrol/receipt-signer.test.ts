import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { endFacts, endWords, receiptText } from "@vidro/core";
import type { ActionEnd, Output, Receipt } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { openReceiptSigner } from "./receipt-signer.ts";

const OF = { run: "r1", action: "a1", plan: "p", at: 1_700_000_000_000, ledger: "mark" };
const stdout: Output = { text: "out", bytes: 3, truncated: false, sha256: "aa" };
const stderr: Output = { text: "", bytes: 0, truncated: false, sha256: "bb" };
const FINISHED: ActionEnd = {
  type: "finished",
  outcome: { kind: "process", exitCode: 0, signal: null, timedOut: false, durationMs: 5, stdout, stderr },
};

/** Verifies with the public key in the receipt, as an auditor would: raw Ed25519 keys have this prefix in SPKI. */
function isSigned({ signature, ...unsigned }: Receipt): boolean {
  const key = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(unsigned.key, "hex")]);
  const spki = createPublicKey({ key, format: "der", type: "spki" });
  return verify(null, Buffer.from(receiptText(unsigned)), spki, Buffer.from(signature, "hex"));
}

test("a receipt verifies with the key in it, and no other value of any field does", (t) => {
  const receipt = openReceiptSigner(scratch(t)).sign(OF, FINISHED);
  assert.ok(isSigned(receipt));
  for (const field of ["run", "action", "plan", "outcome", "words", "ledger"] as const)
    assert.ok(!isSigned({ ...receipt, [field]: `${receipt[field]}x` }), field);
  assert.ok(!isSigned({ ...receipt, at: receipt.at + 1 }));
});

test("fields cannot be moved into each other: the signed text keeps them apart", (t) => {
  const signer = openReceiptSigner(scratch(t));
  const receipt = signer.sign({ ...OF, run: "r", action: '1","a' }, FINISHED);
  assert.ok(!isSigned({ ...receipt, run: 'r","1', action: "a" }));
});

test("every fact of an end changes its digest; its words have a digest of their own", (t) => {
  const signer = openReceiptSigner(scratch(t));
  const { outcome, words } = signer.sign(OF, FINISHED);
  if (FINISHED.type !== "finished" || FINISHED.outcome.kind !== "process") return assert.fail();
  const process = FINISHED.outcome;
  for (const changed of [
    { exitCode: 1 },
    { exitCode: null },
    { signal: "SIGKILL" },
    { timedOut: true },
    { durationMs: 6 },
    { stdout: { ...stdout, sha256: "cc" } },
    { stderr: { ...stderr, bytes: 1 } },
    { stdout: stderr, stderr: stdout },
  ]) {
    const other = signer.sign(OF, { type: "finished", outcome: { ...process, ...changed } });
    assert.notEqual(other.outcome, outcome, JSON.stringify(changed));
  }
  const redacted = { ...process, stdout: { ...stdout, text: "[redacted]" } };
  const said = signer.sign(OF, { type: "finished", outcome: redacted });
  assert.equal(said.outcome, outcome, "redaction of words leaves the facts valid");
  assert.notEqual(said.words, words);
});

test("failures, unknown ends and values have facts that differ", () => {
  const fault = { code: "TOOL_FAILED", message: "no" } as const;
  const ends: readonly ActionEnd[] = [
    FINISHED,
    { type: "failed", fault },
    { type: "unknown", fault },
    { type: "failed", fault: { ...fault, code: "FORBIDDEN" } },
    { type: "finished", outcome: { kind: "value", text: "no" } },
  ];
  assert.equal(new Set(ends.map(endFacts)).size, ends.length);
  assert.notEqual(endWords({ type: "failed", fault }), endWords({ type: "unknown", fault }));
  assert.notEqual(endWords({ type: "unknown", fault }), endWords({ type: "unknown", fault, partial: "some" }));
});

test("the key survives a restart, is private to the user, and leaves no draft behind", (t) => {
  const state = scratch(t);
  const first = openReceiptSigner(state);
  assert.equal(openReceiptSigner(state).key, first.key);
  assert.equal(statSync(join(state, "receipt-key")).mode & 0o777, 0o600);
  assert.equal(statSync(join(state, "receipt-key")).size, 32);
  assert.deepEqual(readdirSync(state), ["receipt-key"]);
  assert.match(first.key, /^[0-9a-f]{64}$/);
});

test("two folders have two keys, and a copied folder the same", (t) => {
  const [one, other] = [scratch(t), scratch(t)];
  const first = openReceiptSigner(one);
  assert.notEqual(openReceiptSigner(other).key, first.key);
  writeFileSync(join(other, "receipt-key"), readFileSync(join(one, "receipt-key")));
  assert.equal(openReceiptSigner(other).key, first.key);
});

test("a key of another length is refused and left as it is: a hand must not sign under a second key", (t) => {
  const state = scratch(t);
  const file = join(state, "receipt-key");
  for (const length of [0, 31, 33, 64]) {
    writeFileSync(file, Buffer.alloc(length));
    assert.throws(() => openReceiptSigner(state), {
      code: "LEDGER_UNWRITABLE",
      message: new RegExp(`has ${length} bytes`),
    });
    assert.equal(statSync(file).size, length);
  }
});

test("a folder that is missing, or a key that is a folder or a broken link, is a fault that names the file", (t) => {
  const state = scratch(t);
  assert.throws(() => openReceiptSigner(join(state, "none")), {
    code: "LEDGER_UNWRITABLE",
    message: /none\/receipt-key/,
  });
  mkdirSync(join(state, "receipt-key"));
  assert.throws(() => openReceiptSigner(state), { code: "LEDGER_UNWRITABLE" });
  rmSync(join(state, "receipt-key"), { recursive: true });
  symlinkSync(join(state, "nowhere"), join(state, "receipt-key"));
  assert.throws(() => openReceiptSigner(state), { code: "LEDGER_UNWRITABLE" });
  assert.deepEqual(readdirSync(state), ["receipt-key"], "no draft is left");
  chmodSync(state, 0o700);
});
