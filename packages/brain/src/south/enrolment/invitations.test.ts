import assert from "node:assert/strict";
import { test } from "node:test";
import { SOUTHBOUND_LIMITS } from "@vidro/core";
import { formatInvitationProof } from "@vidro/core/wire/enrolment";
import { openStore } from "../../stores/stores.ts";
import { Invitations } from "./invitations.ts";

const WHO = { owner: "ada", name: "web-1", tags: ["web"] };

async function invitationsAt(now: () => number) {
  const { records } = await openStore("memory", "");
  return { records, invitations: new Invitations(records, now) };
}

test("an invitation says once whom it is for, and its secret is kept nowhere", async () => {
  const { records, invitations } = await invitationsAt(Date.now);
  const made = await invitations.make(WHO);
  const proof = formatInvitationProof({ ...made, fingerprint: "" });
  const kept = JSON.stringify(await records.list("invitation", { limit: 10 }));
  assert.ok(!kept.includes(made.secret));
  await invitations.check(proof);
  assert.deepEqual(await invitations.redeem(proof), WHO);
  await assert.rejects(invitations.redeem(proof), { code: "INVALID_TOKEN" });
  await assert.rejects(invitations.check(proof), { code: "INVALID_TOKEN" });
});

test("of many who come with one invitation at the same time, a single one gets it", async () => {
  const { invitations } = await invitationsAt(Date.now);
  const proof = formatInvitationProof({ ...(await invitations.make(WHO)), fingerprint: "" });
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => invitations.redeem(proof)));
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
});

test("an unknown invitation, a wrong secret and one that is too old are refused in the same words", async () => {
  let now = 0;
  const { invitations } = await invitationsAt(() => now);
  const made = await invitations.make(WHO, 1000);
  const wrong = formatInvitationProof({ ...made, secret: "A".repeat(43), fingerprint: "" });
  const unknown = formatInvitationProof({ id: "0".repeat(32), secret: made.secret, fingerprint: "" });
  const said = new Set<string>();
  const refused = async (proof: string): Promise<void> => {
    await assert.rejects(invitations.redeem(proof), (fault: Error) => said.add(fault.message) !== undefined);
  };
  for (const proof of [wrong, unknown, "", "rubbish"]) await refused(proof);
  now = 1000;
  await refused(formatInvitationProof({ ...made, fingerprint: "" }));
  assert.equal(said.size, 1);
});

test("an invitation lives for an hour at most, and no more than a bound are open", async () => {
  let now = 0;
  const { records, invitations } = await invitationsAt(() => now);
  for (const lifeMs of [0, -1, SOUTHBOUND_LIMITS.invitationMs + 1, Number.NaN])
    await assert.rejects(invitations.make(WHO, lifeMs), { code: "BAD_REQUEST" });
  for (let made = 0; made < SOUTHBOUND_LIMITS.invitations; made++) await invitations.make(WHO);
  await assert.rejects(invitations.make(WHO), { code: "RATE_LIMITED" });
  now = SOUTHBOUND_LIMITS.invitationMs;
  await invitations.make(WHO);
  assert.equal((await records.list("invitation", { limit: 10 })).length, 1, "those before are forgotten");
});
