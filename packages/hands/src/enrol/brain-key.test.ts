import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Order } from "@vidro/core";
import { formatWarrant, parseWarrant, warrantText } from "@vidro/core/wire/warrant";
import { openAuthority } from "../../../brain/src/south/enrolment/authority.ts";
import type { Authority } from "../../../brain/src/south/enrolment/authority.ts";
import { orderFor, scratch } from "../scratch.fixture.ts";
import { checkApproval, readBrainKey } from "./brain-key.ts";
import type { BrainKey } from "./brain-key.ts";

const NOW = 1_700_000_000_000;
const EXPIRES = NOW + 60_000;

interface Stage {
  readonly authority: Authority;
  readonly key: BrainKey;
}

async function stage(t: TestContext): Promise<Stage> {
  const authority = await openAuthority({ folder: scratch(t), now: Date.now });
  return { authority, key: readBrainKey(authority.certificate, "h1") };
}

/** An order that `authority` approved for the hand h1. */
function approved(authority: Authority, more: Partial<Order> = {}, expiresAt = EXPIRES): Order {
  const action = { id: "a1", tool: "shell", input: { command: "ls" }, callId: "c" };
  const order = orderFor(action, { approved: "plan-hash", ledger: "mark", ...more });
  const signature = authority.sign(warrantText({ hand: "h1", order, expiresAt }));
  return { ...order, warrant: formatWarrant({ expiresAt, signature }) };
}

function faultIn(order: Order): string | undefined {
  return order.unproven?.code;
}

test("an approval that the brain signed for this hand and plan is accepted", async (t) => {
  const { authority, key } = await stage(t);
  const order = approved(authority);
  assert.equal(checkApproval(order, key, NOW), order);
});

test("an order without approval is left alone, whatever warrant it has", async (t) => {
  const { key } = await stage(t);
  const order = orderFor({ id: "a1", tool: "shell", input: {}, callId: "c" }, { warrant: "rubbish" });
  assert.equal(checkApproval(order, key, NOW), order);
  assert.equal(checkApproval(order, undefined, NOW), order);
});

test("an approval moved to another run, action, plan, ledger or hand is invalid", async (t) => {
  const { authority, key } = await stage(t);
  const order = approved(authority);
  for (const changed of [
    { run: "other" },
    { action: { ...order.action, id: "a2" } },
    { approved: "another-plan" },
    { ledger: "another-mark" },
    { ledger: "" },
  ])
    assert.equal(
      faultIn(checkApproval({ ...order, ...changed }, key, NOW)),
      "APPROVAL_INVALID",
      JSON.stringify(changed),
    );
  assert.equal(faultIn(checkApproval(order, { ...key, hand: "h2" }, NOW)), "APPROVAL_INVALID");
  assert.equal(faultIn(checkApproval(order, { ...key, hand: "tcp:h1" }, NOW)), "APPROVAL_INVALID");
});

test("a later expiry than the signed one is invalid, not extended", async (t) => {
  const { authority, key } = await stage(t);
  const order = approved(authority);
  const { signature } = parseWarrant(order.warrant ?? "") ?? { signature: "" };
  const warrant = formatWarrant({ expiresAt: EXPIRES + 1, signature });
  assert.equal(faultIn(checkApproval({ ...order, warrant }, key, NOW)), "APPROVAL_INVALID");
});

test("an approval ends at its expiry by the host's clock, to the millisecond, and the fault names both times", async (t) => {
  const { authority, key } = await stage(t);
  const order = approved(authority);
  assert.equal(faultIn(checkApproval(order, key, EXPIRES - 1)), undefined);
  const late = checkApproval(order, key, EXPIRES);
  assert.equal(faultIn(late), "APPROVAL_EXPIRED");
  assert.ok(late.unproven?.message.includes(new Date(EXPIRES).toISOString()));
});

test("the key of another brain approves nothing", async (t) => {
  const [{ authority }, other] = [await stage(t), await stage(t)];
  assert.equal(faultIn(checkApproval(approved(authority), other.key, NOW)), "APPROVAL_INVALID");
});

test("a hand that knows no brain accepts no approval", async (t) => {
  const { authority } = await stage(t);
  assert.equal(faultIn(checkApproval(approved(authority), undefined, NOW)), "APPROVAL_INVALID");
});

test("a missing or malformed warrant is invalid and does not throw", async (t) => {
  const { authority, key } = await stage(t);
  const { warrant = "", ...order } = approved(authority);
  for (const broken of [
    undefined,
    "",
    ".",
    warrant.slice(1),
    warrant.slice(0, -1),
    `${warrant}A`,
    `-${warrant}`,
    warrant.replace(".", ".."),
    `1e3.${"A".repeat(86)}`,
    `${EXPIRES}.${"A".repeat(86)}`,
    `9999999999999999.${"A".repeat(86)}`,
  ]) {
    const checked = checkApproval({ ...order, ...(broken === undefined ? {} : { warrant: broken }) }, key, NOW);
    assert.equal(faultIn(checked), "APPROVAL_INVALID", String(broken));
    assert.equal(checked.approved, "plan-hash");
  }
});

test("an approval over the empty plan hash is still checked", async (t) => {
  const { authority, key } = await stage(t);
  assert.equal(faultIn(checkApproval(approved(authority, { approved: "" }), key, NOW)), undefined);
  const { warrant: _, ...unsigned } = approved(authority, { approved: "" });
  assert.equal(faultIn(checkApproval(unsigned, key, NOW)), "APPROVAL_INVALID");
});

test("what is no certificate is refused with the command that prints one", () => {
  for (const text of ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "\0"])
    assert.throws(() => readBrainKey(text, "h1"), { code: "BAD_REQUEST", message: /vidro hands authority/ });
});
