import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { REGISTER_LIMITS } from "@vidro/core";
import type { FaultReport, HandDescription } from "@vidro/core";
import { openStore } from "../../stores/stores.ts";
import { HandRegister } from "./hand-register.ts";
import { BareLink, Landscape } from "../hosts.fixture.ts";
import type { HandLink } from "../link.ts";

const ANA = { owner: "ana", admin: false };
const BEN = { owner: "ben", admin: false };
const ROOT = { owner: "root", admin: true };

/** Bars a hand by another process. */
async function elsewhere(file: string, word: string, id: string): Promise<void> {
  const script = join(import.meta.dirname, "revoker.fixture.ts");
  await promisify(execFile)(process.execPath, ["--conditions=vidro-source", script, file, word, id]);
}

/** A link that resolves when it is hung up on. */
class Phone extends BareLink {
  readonly #hungUp = Promise.withResolvers<FaultReport>();
  readonly hungUp = this.#hungUp.promise;

  override close(why: FaultReport): void {
    super.close(why);
    this.#hungUp.resolve(why);
  }
}

test("a hand is known to the next brain as it was, away until it comes back with a higher epoch", async () => {
  await using land = new Landscape();
  const first = await land.register();
  const { description, hand } = await land.host("web1", { tags: ["web", "eu"] });
  const { epoch } = await first.hands.attach(description, new BareLink(hand));
  assert.deepEqual([epoch, first.hands.find("web1", ANA).state], [1, "ok"]);
  await first.hands.close();
  await first.store.journal.close();

  const { hands } = await land.register();
  const { state, lastSeenAt, createdAt, ...rest } = hands.find("web1", ANA);
  assert.deepEqual(rest, description);
  assert.equal(state, "down");
  assert.ok(lastSeenAt > 0 && createdAt > 0);
  assert.equal((await hands.attach(description, new BareLink(hand))).epoch, 2);
});

test("F29 of two hands with one identity the newest wins, the older is hung up on, and the log tells", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1");
  const [old, young] = [new BareLink(hand), new BareLink(hand)];
  const before = await hands.attach(description, old);
  const after = await hands.attach(description, young);
  assert.deepEqual(
    old.closes.map(({ code }) => code),
    ["CONFLICT"],
  );
  before.detach();
  assert.equal(after.hand.link, young, "the older one's end does not take the newer one away");
  assert.equal(hands.find("web1", ANA).state, "ok");
  const alerts = land.log.filter(({ level }) => level === "warn");
  assert.deepEqual(
    alerts.map((line) => line["agent_id"]),
    [description.id],
  );
});

test("F29 of two that come at the same time one is let in, and the other is told why not", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1");
  const links = [new BareLink(hand), new BareLink(hand)];
  const came = await Promise.allSettled(links.map((link) => hands.attach(description, link)));
  assert.deepEqual(
    came.map((one) => (one.status === "fulfilled" ? one.value.epoch : (one.reason as FaultReport).code)),
    ["CONFLICT", 2],
  );
  assert.equal(land.log.filter(({ level }) => level === "warn").length, 1);
});

test("a hand is its owner's: no other owner sees it or takes its identity, and an administrator sees all", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const [one, other] = [await land.host("web1"), await land.host("web2", { owner: "ben" })];
  await hands.attach(one.description, new BareLink(one.hand));
  await hands.attach(other.description, new BareLink(other.hand));
  const names = (asker: typeof ANA): string[] => hands.list(asker).map(({ name }) => name);
  assert.deepEqual([names(ANA), names(BEN), names(ROOT)], [["web1"], ["web2"], ["web1", "web2"]]);
  assert.throws(() => hands.find("web1", BEN), { code: "NOT_FOUND" });
  assert.throws(() => hands.select(one.description.id, BEN), { code: "NOT_FOUND" });
  await assert.rejects(hands.attach({ ...one.description, owner: "ben" }, new BareLink(one.hand)), {
    code: "FORBIDDEN",
  });
  assert.equal(hands.find("web1", ANA).owner, "ana");
});

test("a revoked hand is hung up on at once and never let in again, by no brain", async () => {
  await using land = new Landscape();
  const first = await land.register();
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  const attached = await first.hands.attach(description, link);
  await first.hands.revoke(description.id, "The disk was sold.");
  assert.deepEqual(
    link.closes.map(({ code }) => code),
    ["HAND_REVOKED"],
  );
  attached.detach();
  const row = first.hands.find("web1", ANA);
  assert.deepEqual([row.state, row.barred, row.why], ["down", "revoked", "The disk was sold."]);
  await first.hands.revoke(description.id, "Again.");
  await assert.rejects(first.hands.release(description.id), { code: "HAND_REVOKED" });
  await assert.rejects(first.hands.quarantine(description.id, "x"), { code: "HAND_REVOKED" });
  await first.hands.close();
  await first.store.journal.close();

  const { hands } = await land.register();
  await assert.rejects(hands.attach(description, new BareLink(hand)), { code: "HAND_REVOKED" });
  assert.throws(() => hands.select("web1", ANA), { code: "HAND_REVOKED" });
});

test("what another process revokes is cut off here, and holds for a hand that this one has never seen", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1");
  const link = new Phone(hand);
  await hands.attach(description, link);
  await elsewhere(land.file, "revoke", description.id);
  assert.equal((await link.hungUp).code, "HAND_REVOKED");

  const other = await land.register();
  await other.store.records.delete("hand", description.id);
  const blank = await land.register();
  assert.deepEqual(blank.hands.list(ROOT), []);
  await assert.rejects(blank.hands.attach(description, new BareLink(hand)), { code: "HAND_REVOKED" });
});

test("a hand in quarantine stays connected and gets no work until it is released", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1", { tags: ["web"] });
  const { hand: remote } = await hands.attach(description, new BareLink(hand));
  const action = { id: "act_1", tool: "working_directory", input: {}, callId: "c" };
  await hands.quarantine(description.id, "It behaves oddly.");
  assert.deepEqual([hands.find("web1", ANA).state, hands.find("web1", ANA).why], ["degraded", "It behaves oddly."]);
  assert.equal(((await remote.judge(action)) as FaultReport).code, "HAND_QUARANTINED");
  assert.throws(() => hands.select("web1", ANA), { code: "HAND_QUARANTINED" });
  assert.throws(() => hands.select("tag:web", ANA), { code: "HAND_UNAVAILABLE" });
  await hands.quarantine(description.id, "It still does.");
  assert.equal(hands.find("web1", ANA).why, "It still does.");
  await hands.release(description.id);
  const { state, why } = hands.find("web1", ANA);
  assert.deepEqual([state, why], ["ok", undefined]);
  assert.ok("verdict" in (await remote.judge(action)));
});

test("a quarantine that another process lays and lifts is heeded here", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1");
  await hands.attach(description, new BareLink(hand));
  const changed = (): Promise<unknown> =>
    new Promise<void>((resolve) => {
      const push = land.log.push.bind(land.log);
      land.log.push = (...lines) => {
        if (lines.some(({ event }) => event === "hand.restriction_changed")) resolve();
        return push(...lines);
      };
    });
  const barred = changed();
  await elsewhere(land.file, "quarantine", description.id);
  await barred;
  assert.equal(hands.find("web1", ANA).barred, "quarantined");
  const released = changed();
  await elsewhere(land.file, "release", description.id);
  await released;
  assert.equal(hands.find("web1", ANA).barred, undefined);
});

test("hands are counted by their state, and who was revoked does not count", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const attached = [];
  for (const name of ["a", "b", "c", "d"]) {
    const { description, hand } = await land.host(name);
    attached.push(await hands.attach(description, new BareLink(hand)));
  }
  assert.deepEqual(hands.count(), { ok: 4, degraded: 0, down: 0 });
  attached[0]!.detach();
  await hands.quarantine("hand-b", "x");
  await hands.revoke("hand-c", "x");
  assert.deepEqual(hands.count(), { ok: 1, degraded: 1, down: 1 });
});

test("F30 a host that is enrolled again under its name is another hand, and the name means the one that may work", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1");
  await hands.attach(description, new BareLink(hand));
  const again: HandDescription = { ...description, id: "hand-web1-again" };
  await hands.attach(again, new BareLink(hand));
  assert.throws(() => hands.find("web1", ANA), { code: "CONFLICT", message: /hand-web1, hand-web1-again/ });
  await hands.revoke(description.id, "It was set up anew.");
  assert.equal(hands.find("web1", ANA).id, again.id);
  assert.equal(hands.find(description.id, ANA).barred, "revoked");
});

test("that a hand was seen is written down now and then, not at each sign of life", async () => {
  await using land = new Landscape();
  let now = 1_000_000;
  const { hands, store } = await land.register(() => now);
  const { description, hand } = await land.host("web1");
  const attached = await hands.attach(description, new BareLink(hand));
  const written = async (): Promise<unknown> => {
    // What is put before this is on the disk when this is.
    await store.records.put({ kind: "other", id: "x", owner: "ana", body: {} });
    return (await store.records.get("hand", description.id))?.body["lastSeenAt"];
  };
  now += REGISTER_LIMITS.seenMs - 1;
  attached.seen();
  assert.equal(hands.find("web1", ANA).lastSeenAt, now);
  assert.equal(await written(), 1_000_000);
  now += 1;
  attached.seen();
  assert.equal(await written(), now);
});

test("a hand that came for one session is forgotten a week after it left, and others are not", async () => {
  await using land = new Landscape();
  let now = 1_000_000;
  const { hands, store } = await land.register(() => now);
  const { description, hand } = await land.host("web1");
  const visitor: HandDescription = { ...description, id: "session-1", name: "cli", gateway: "executor-ws" };
  for (const one of [description, visitor]) (await hands.attach(one, new BareLink(hand))).detach();
  now += REGISTER_LIMITS.visitorMs + 1;
  const ids = (known: HandRegister): string[] => known.list(ANA).map(({ id }) => id);
  assert.deepEqual(ids(hands), ["session-1", description.id]);
  await hands.attach({ ...visitor, id: "session-2" }, new BareLink(hand));
  assert.deepEqual(ids(hands), ["session-2", description.id]);
  assert.equal(await store.records.get("hand", "session-1"), undefined);
});

test("G7 a register that is full forgets the hand that has been away the longest, and never one that is here", async () => {
  const { records } = await openStore("memory", "");
  let now = 1;
  const hands = new HandRegister({ records, log: () => undefined, now: () => now });
  const link: HandLink = {
    judge: () => Promise.reject(new Error("unused")),
    perform: () => Promise.reject(new Error("unused")),
    acknowledge: () => undefined,
    close: () => undefined,
  };
  const descriptionOf = (id: string): HandDescription => ({
    id,
    owner: "ana",
    name: id,
    gateway: "agent-ws",
    version: "1",
    workspace: "/",
    tools: [],
    tags: [],
  });
  const attached = [];
  for (let n = 0; n < REGISTER_LIMITS.known; n += 1) attached.push(await hands.attach(descriptionOf(`h${n}`), link));
  await assert.rejects(hands.attach(descriptionOf("one-more"), link), { code: "RATE_LIMITED" });
  attached[7]!.detach();
  await assert.rejects(hands.attach(descriptionOf("one-more"), link), { code: "RATE_LIMITED" });
  now += REGISTER_LIMITS.rememberedMs + 1;
  await hands.attach(descriptionOf("one-more"), link);
  assert.throws(() => hands.find("h7", ANA), { code: "NOT_FOUND" });
  assert.equal(hands.list(ANA).length, REGISTER_LIMITS.known);
  await assert.rejects(hands.at("h7"), { code: "NOT_FOUND" });
});

test("F33 G8 a hand that has seen a later epoch than this brain remembers is not let in, and costs no epoch", async () => {
  await using land = new Landscape();
  const { hands, store } = await land.register();
  const { description, hand } = await land.host("web1");
  await hands.attach(description, new BareLink(hand));
  for (const _ of [1, 2])
    await assert.rejects(hands.attach(description, new BareLink(hand), 2), {
      code: "STALE_EPOCH",
      message: /--restored/u,
    });
  assert.equal((await hands.attach(description, new BareLink(hand), 1)).epoch, 2);
  const restored = new HandRegister({ records: store.records, log: () => undefined, now: Date.now, floor: 1000 });
  await restored.load();
  assert.equal((await restored.attach(description, new BareLink(hand), 7)).epoch, 1000);
  assert.equal((await restored.attach(description, new BareLink(hand), 1000)).epoch, 1001);
});

test("a hand that was forgotten here comes in with an epoch behind the last that it saw", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  const { description, hand } = await land.host("web1");
  assert.equal((await hands.attach(description, new BareLink(hand), 41)).epoch, 42);
});

test("a hand that joined at one brain moves to another on the same store, and runs there find it", async () => {
  await using land = new Landscape();
  const [first, second, third] = [await land.register(), await land.register(), await land.register()];
  const { description, hand } = await land.host("web1", { tags: ["web"] });
  const { epoch } = await first.hands.attach(description, new BareLink(hand));
  const moved = await second.hands.attach(description, new BareLink(hand), epoch);
  assert.equal(moved.epoch, epoch + 1);
  const back = await first.hands.attach(description, new BareLink(hand), moved.epoch);
  assert.equal(back.epoch, moved.epoch + 1);
  assert.deepEqual((await third.hands.at(description.id)).tools, description.tools);
  assert.equal(third.hands.find("web1", ANA).state, "down");
  await first.hands.revoke("web1", "gone");
  await assert.rejects(second.hands.attach({ ...description, name: "web1" }, new BareLink(hand), back.epoch), {
    code: "HAND_REVOKED",
  });
});
