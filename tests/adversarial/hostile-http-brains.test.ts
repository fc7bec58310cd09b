import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Action, ActionEnd, HandEvent, Order } from "@vidro/core";
import { POLL_PATH } from "@vidro/core/wire/agent-http";
import { formatWarrant, warrantText } from "@vidro/core/wire/warrant";
import { openAuthority } from "../../packages/brain/src/south/enrolment/authority.ts";
import { until } from "../support/daemon-process.ts";
import { signedHost, SignedBrain, type SwappedReply } from "../support/signed-http-harness.ts";
import { scratch } from "../support/tcp-hand.ts";

/*
 * A brain that has the keys of signed HTTP and not the key of the authority gives orders; and one that stands between
 * a brain and its hands gives out replies that the brain signed for another moment or another hand.
 */

/** What an approval claims to be for. */
interface Claim {
  readonly hand: string;
  readonly order: Pick<Order, "run" | "action" | "approved" | "ledger">;
  readonly expiresAt: number;
}

const touch = (id: string): Action => ({
  id,
  tool: "command",
  input: { command: "touch", args: ["made"] },
  callId: id,
});

test("over signed HTTP a hand takes no approval but what its brain's authority signed for it, this run, action and plan", async (t) => {
  const folder = scratch(t);
  const authority = await openAuthority({ folder: scratch(t), now: Date.now });
  const stranger = await openAuthority({ folder: scratch(t), now: Date.now });
  let forge: (claim: Claim) => string | undefined = () => undefined;
  const brain = await SignedBrain.open(t, folder, {
    warrants: async (hand, order) => {
      const warrant = forge({ hand, order, expiresAt: Date.now() + 60_000 });
      return { ...order, ...(warrant === undefined ? {} : { warrant }) };
    },
  });
  const { keyid, root } = await brain.enrol("far");
  const host = await signedHost(t, keyid, root, "ask");
  await host.join(brain.url, { ca: authority.certificate });
  const hand = await brain.hands.at("far");
  const action = touch("act_1");
  const judged = await hand.judge(action);
  assert.ok("hash" in judged && judged.verdict.decision === "ask", JSON.stringify(judged));
  const { hash: approved, ledger = "" } = judged;
  const made = join(host.workspace, "made");
  const end = async (more: Partial<Order> = {}): Promise<ActionEnd | undefined> => {
    const order = { action, run: "run_1", epoch: 1, ttlMs: 60_000, approved, ledger, ...more };
    return (await Array.fromAsync(hand.perform(order, new AbortController().signal))).at(-1) as ActionEnd | undefined;
  };
  const signed = ({ hand: to, order, expiresAt }: Claim, by = authority): string =>
    formatWarrant({ expiresAt, signature: by.sign(warrantText({ hand: to, order, expiresAt })) });
  const forgeries: readonly (readonly [string, typeof forge, string])[] = [
    ["nothing is signed", () => undefined, "APPROVAL_INVALID"],
    ["words", () => "yes", "APPROVAL_INVALID"],
    ["another key", (claim) => signed(claim, stranger), "APPROVAL_INVALID"],
    ["another hand", (claim) => signed({ ...claim, hand: "near" }), "APPROVAL_INVALID"],
    ["another run", (claim) => signed({ ...claim, order: { ...claim.order, run: "run_2" } }), "APPROVAL_INVALID"],
    [
      "another action",
      (claim) => signed({ ...claim, order: { ...claim.order, action: touch("act_2") } }),
      "APPROVAL_INVALID",
    ],
    [
      "another plan",
      (claim) => signed({ ...claim, order: { ...claim.order, approved: "0".repeat(64) } }),
      "APPROVAL_INVALID",
    ],
    [
      "another ledger",
      (claim) => signed({ ...claim, order: { ...claim.order, ledger: "elsewhere.0" } }),
      "APPROVAL_INVALID",
    ],
    ["the past", (claim) => signed({ ...claim, expiresAt: Date.now() - 1 }), "APPROVAL_EXPIRED"],
  ];
  for (const [what, forgery, code] of forgeries) {
    forge = forgery;
    const ended = await end();
    assert.equal(ended?.type === "failed" && ended.fault.code, code, `${what}: ${JSON.stringify(ended)}`);
    assert.ok(!existsSync(made), what);
  }
  forge = (claim) => signed(claim);
  const changed = await end({ approved: "0".repeat(64) });
  assert.equal(changed?.type === "failed" && changed.fault.code, "PLAN_CHANGED");
  assert.equal((await end())?.type, "finished");
  assert.ok(existsSync(made));
});

test("an order that the brain signed for another hand, or for an earlier question, is not carried out", async (t) => {
  let orders: SwappedReply | undefined;
  let given: SwappedReply | undefined;
  let isFor = "";
  let replays = 0;
  const brain = await SignedBrain.open(t, scratch(t), {
    swapReply({ path, signatureInput }, reply) {
      if (path !== POLL_PATH) return reply;
      if (reply.text.includes("act_theirs")) orders = reply;
      if (given === undefined || !signatureInput.includes(isFor)) return reply;
      replays += 1;
      return given;
    },
  });
  const [near, far] = [await brain.enrol("near"), await brain.enrol("far")];
  const hosts = [await signedHost(t, near.keyid, near.root), await signedHost(t, far.keyid, far.root)] as const;
  for (const host of hosts) await host.join(brain.url);
  const order = { action: touch("act_theirs"), run: "run_1", epoch: 1, ttlMs: 60_000 };
  const hand = await brain.hands.at("near");
  assert.equal((await Array.fromAsync(hand.perform(order, new AbortController().signal))).at(-1)?.type, "finished");
  const [made, elsewhere] = hosts.map(({ workspace }) => join(workspace, "made"));
  assert.ok(orders !== undefined && made !== undefined && elsewhere !== undefined);
  assert.ok(existsSync(made));
  rmSync(made);
  for (const keyid of [far.keyid, near.keyid]) {
    [given, isFor, replays] = [orders, keyid, 0];
    // An order that is given makes the hand's open poll be answered.
    void (await brain.hands.at(keyid === far.keyid ? "far" : "near")).judge(touch("act_wake"));
    await until("the reply was given twice", () => replays >= 2);
    given = undefined;
    assert.ok(!existsSync(made) && !existsSync(elsewhere), keyid);
  }
  const own = { ...order, action: touch("act_own") };
  for (const name of ["near", "far"]) {
    // A hand that refused what it was given connects again; an order in between cannot reach it, and is given again.
    let ended: HandEvent | undefined;
    do ended = (await Array.fromAsync((await brain.hands.at(name)).perform(own, new AbortController().signal))).at(-1);
    while (ended?.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");
    assert.equal(ended?.type, "finished", `${name} goes on working: ${JSON.stringify(ended)}`);
  }
});
