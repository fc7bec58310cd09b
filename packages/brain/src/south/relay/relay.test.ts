import assert from "node:assert/strict";
import { describe, it, mock, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Fault, RELAY_LIMITS } from "@vidro/core";
import type { Action, ActionEnd, Bus, JsonObject, Order } from "@vidro/core";
import { memoryBus } from "../../bus/memory-bus.ts";
import { memoryStore } from "../../stores/memory.ts";
import type { HandLink } from "../link.ts";
import type { OwnLink } from "../register/hand-register.ts";
import { HandPresence } from "./hand-presence.ts";
import { RelayCalls } from "./relay-calls.ts";
import { RelayServer } from "./relay-server.ts";
import { openSignedMessages } from "./signed-messages.ts";
import type { SignedMessages } from "./signed-messages.ts";

let places = 0;

/** Brains of one store and one bus, each with its messages. */
async function brains(count: number): Promise<{ bus: Bus; messages: SignedMessages }[]> {
  places += 1;
  const { records } = memoryStore();
  const made: { bus: Bus; messages: SignedMessages }[] = [];
  for (let index = 0; index < count; index += 1) {
    const bus = memoryBus(`memory:relay-${places}`);
    made.push({ bus, messages: await openSignedMessages(bus, records) });
  }
  return made;
}

const ACTION: Action = { id: "act_1", tool: "shell", input: { command: "true" }, callId: "c" };
const ORDER = { action: ACTION, epoch: 1, run: "run_1", ttlMs: 1000 } as Order;
const DONE: ActionEnd = { type: "finished", outcome: { kind: "value", text: "done" } };

/** A connection of a hand that does as a test says. */
function linkOf(perform: HandLink["perform"]): HandLink & { readonly acknowledged: string[] } {
  const acknowledged: string[] = [];
  return {
    acknowledged,
    perform,
    judge: async () => ({ code: "BAD_ARGUMENTS", message: "no" }),
    acknowledge: (action) => void acknowledged.push(action),
    close: () => undefined,
  };
}

/** A brain that calls, and one that has the hand. */
async function pair(t: TestContext, own: HandLink | undefined) {
  const [here, there] = await brains(2);
  assert.ok(here && there);
  const calls = new RelayCalls(here.messages, here.bus.brain);
  const server = new RelayServer({
    messages: there.messages,
    brain: there.bus.brain,
    ownLink: (hand) => (hand === "web-1" ? own : undefined),
  });
  t.after(() => {
    calls.close();
    server.close();
  });
  return { calls, server, link: calls.linkTo(there.bus.brain, "web-1"), here, there };
}

const never = new AbortController().signal;

describe("messages between brains", () => {
  it("are heard with the name of their brain, and only on their topic", async () => {
    const [one, two] = await brains(2);
    const heard: string[] = [];
    two?.messages.hear("a", (message, from) => heard.push(`${JSON.stringify(message["n"])} ${from}`));
    one?.messages.send("a", { n: 1 });
    one?.messages.send("b", { n: 2 });
    await turn();
    assert.deepEqual(heard, [`1 ${one?.bus.brain}`]);
  });

  it("of programs that do not know the store's key are not heard, whatever they change", async () => {
    const [one, two] = await brains(2);
    assert.ok(one && two);
    const heard: JsonObject[] = [];
    two.messages.hear("a", (message) => heard.push(message));
    const seen: string[] = [];
    const stranger = memoryBus(`memory:relay-${places}`);
    stranger.subscribe("a", (text) => seen.push(text));
    one.messages.send("a", { n: 1 });
    await turn();
    assert.equal(heard.length, 1);
    const [signed = ""] = seen;
    // The same bytes from another sender, on another topic, with other words, cut, or without a signature.
    two.messages.hear("b", (message) => heard.push(message));
    for (const text of [signed, signed.replace('"n":1', '"n":2'), signed.slice(0, 64), '{"n":1}', "", "x".repeat(64)])
      for (const topic of ["a", "b"]) stranger.publish(topic, text);
    await turn();
    assert.equal(heard.length, 1);
  });

  it("that are too long for the bus are refused by name", async () => {
    const [one] = await brains(1);
    assert.throws(() => one?.messages.send("a", { text: "x".repeat(50_000_000) }), { code: "PAYLOAD_TOO_LARGE" });
  });
});

describe("a call of a hand that is connected to another brain", () => {
  it("gives the hand's end, and its output on the way", async (t) => {
    const { link } = await pair(
      t,
      linkOf(async (order, hear) => {
        assert.deepEqual(order, ORDER);
        hear("stdout", "one ");
        hear("stderr", "two");
        return DONE;
      }),
    );
    const heard: string[] = [];
    const ended = await link.perform(ORDER, (stream, chunk) => heard.push(`${stream}:${chunk}`), never);
    assert.deepEqual(ended, DONE);
    assert.deepEqual(heard, ["stdout:one ", "stderr:two"]);
  });

  it("gives the hand's refusal of a plan, and passes on what is acknowledged", async (t) => {
    const own = linkOf(async () => DONE);
    const { link } = await pair(t, own);
    assert.deepEqual(await link.judge(ACTION), { code: "BAD_ARGUMENTS", message: "no" });
    link.acknowledge("act_1");
    await turn();
    assert.deepEqual(own.acknowledged, ["act_1"]);
  });

  it("reads a whole output through the other brain, and tells why it cannot", async (t) => {
    const part = { data: "YWI=", bytes: 2 };
    const asked: unknown[] = [];
    const readSpool = async (...words: readonly unknown[]) => (asked.push(words), part);
    const keeping = await pair(t, { ...linkOf(async () => DONE), readSpool });
    assert.deepEqual(await keeping.link.readSpool?.("act_1", 7), part);
    assert.deepEqual(asked, [["act_1", 7]]);
    const bare = await pair(
      t,
      linkOf(async () => DONE),
    );
    await assert.rejects(async () => bare.link.readSpool?.("act_1", 0), { code: "NOT_FOUND" });
    const lying = await pair(t, { ...linkOf(async () => DONE), readSpool: async () => ({ data: "<b>", bytes: 2 }) });
    const lie = (await lying.link.readSpool?.("act_1", 0)) ?? {};
    assert.equal("code" in lie && lie.code, "TOOL_FAILED");
  });

  it("gives the facts of the hand's host, and none of a hand that tells none", async (t) => {
    const facts = { system: "Debian 13", shell: "bash" };
    const telling = await pair(t, { ...linkOf(async () => DONE), surroundings: async () => facts });
    assert.deepEqual(await telling.link.surroundings?.(), facts);
    const silent = await pair(
      t,
      linkOf(async () => DONE),
    );
    assert.deepEqual(await silent.link.surroundings?.(), {});
  });

  it("fails by name when the hand is not connected there any more, or its link fails", async (t) => {
    const { link } = await pair(t, undefined);
    await assert.rejects(
      link.perform(ORDER, () => undefined, never),
      { code: "HAND_UNAVAILABLE" },
    );
    const broken = await pair(
      t,
      linkOf(async () => {
        throw new Fault("HAND_UNAVAILABLE", "cut");
      }),
    );
    await assert.rejects(
      broken.link.perform(ORDER, () => undefined, never),
      { code: "HAND_UNAVAILABLE", message: "cut" },
    );
  });

  it("is stopped there when it is stopped here, and its end still comes", async (t) => {
    const begun = Promise.withResolvers<void>();
    const { link } = await pair(
      t,
      linkOf(async (_order, _hear, signal) => {
        begun.resolve();
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "stopped" } };
      }),
    );
    const stop = new AbortController();
    const ending = link.perform(ORDER, () => undefined, stop.signal);
    await begun.promise;
    stop.abort();
    assert.equal((await ending).type, "unknown");
    assert.equal((await link.perform(ORDER, () => undefined, AbortSignal.abort())).type, "unknown");
  });

  it("does not believe an end that is none", async (t) => {
    const { link } = await pair(
      t,
      linkOf(async () => ({ type: "finished", outcome: { kind: "magic" } }) as unknown as ActionEnd),
    );
    const ended = await link.perform(ORDER, () => undefined, never).catch((thrown: Fault) => thrown.code);
    assert.notDeepEqual(ended, { type: "finished", outcome: { kind: "magic" } });
  });

  it("is given up when the other brain gives no sign of it, and not while it does", async (t) => {
    const end = Promise.withResolvers<ActionEnd>();
    const { link, calls, server } = await pair(
      t,
      linkOf(() => end.promise),
    );
    let now = performance.now();
    mock.method(performance, "now", () => now);
    t.after(() => mock.restoreAll());
    const performing = link.perform(ORDER, () => undefined, never);
    await turn();
    for (let beat = 0; beat < 5; beat += 1) {
      now += RELAY_LIMITS.beatMs;
      server.tend();
      await turn();
      calls.tend();
    }
    now += RELAY_LIMITS.silentMs + 1;
    calls.tend();
    await assert.rejects(performing, {
      code: "HAND_UNAVAILABLE",
      message: /The brain that it is connected to is away/,
    });
    end.resolve(DONE);
  });
});

describe("the presence of hands on several brains", () => {
  /** A register that remembers what it was told. */
  function register() {
    const own: OwnLink[] = [];
    const listeners = new Set<(one: OwnLink) => void>();
    const attached = new Map<string, number>();
    const links = new Map<HandLink, string>();
    return {
      own,
      attached,
      link: (one: OwnLink) => {
        const index = own.findIndex(({ hand }) => hand === one.hand);
        if (index !== -1) own.splice(index, 1);
        if (one.epoch !== undefined) own.push(one);
        for (const notify of listeners) notify(one);
      },
      hands: {
        ownLinks: () => own,
        onLink: (notify: (one: OwnLink) => void) => {
          listeners.add(notify);
          return () => listeners.delete(notify);
        },
        attachRelayed: async (hand: string, epoch: number, link: HandLink) => {
          links.set(link, hand);
          attached.set(hand, epoch);
        },
        detachRelayed: (hand: string, link: HandLink) => {
          if (links.get(link) === hand) attached.delete(hand);
        },
      },
    };
  }

  async function cluster(t: TestContext, count: number) {
    const made = (await brains(count)).map(({ bus, messages }) => {
      const side = register();
      const calls = new RelayCalls(messages, bus.brain);
      const report = (thrown: unknown): void => assert.fail(String(thrown));
      const presence = new HandPresence({ messages, calls, hands: side.hands, report });
      t.after(() => presence.close());
      return { ...side, presence, messages };
    });
    const settle = async (): Promise<void> => {
      for (let turns = 0; turns < 5; turns += 1) await turn();
    };
    return { made, settle };
  }

  it("is known to the others when a hand connects, and gone when it leaves", async (t) => {
    const { made, settle } = await cluster(t, 3);
    const [one, two, three] = made;
    for (const { presence } of made) presence.announce();
    await settle();
    one?.link({ hand: "web-1", epoch: 1 });
    await settle();
    assert.deepEqual([two?.attached.get("web-1"), three?.attached.get("web-1")], [1, 1]);
    assert.equal(one?.attached.has("web-1"), false);
    one?.link({ hand: "web-1", epoch: undefined });
    await settle();
    assert.deepEqual([two?.attached.size, three?.attached.size], [0, 0]);
  });

  it("is learnt by a brain that comes later, and by one that missed a change", async (t) => {
    const { made, settle } = await cluster(t, 2);
    const [one, two] = made;
    assert.ok(one && two);
    one.own.push({ hand: "web-1", epoch: 3 });
    two.presence.announce();
    await settle();
    assert.deepEqual([...two.attached], [["web-1", 3]]);
    // A change that no message told of: the next beat shows that one is missing.
    one.own.push({ hand: "web-2", epoch: 1 });
    one.link({ hand: "web-3", epoch: 1 });
    one.presence.tend();
    await settle();
    two.presence.announce();
    await settle();
    assert.deepEqual([...two.attached.keys()].sort(), ["web-1", "web-2", "web-3"]);
  });

  it("moves with a hand that connects to another brain", async (t) => {
    const { made, settle } = await cluster(t, 3);
    const [one, two, three] = made;
    for (const { presence } of made) presence.announce();
    await settle();
    one?.link({ hand: "web-1", epoch: 1 });
    await settle();
    two?.link({ hand: "web-1", epoch: 2 });
    await settle();
    assert.equal(three?.attached.get("web-1"), 2);
    assert.equal(one?.attached.get("web-1"), 2);
  });

  it("ends with a brain that leaves or falls silent", async (t) => {
    const { made, settle } = await cluster(t, 2);
    const [one, two] = made;
    assert.ok(one && two);
    let now = performance.now();
    mock.method(performance, "now", () => now);
    t.after(() => mock.restoreAll());
    one.own.push({ hand: "web-1", epoch: 1 });
    one.presence.announce();
    await settle();
    assert.equal(two.attached.size, 1);
    now += RELAY_LIMITS.silentMs + 1;
    two.presence.tend();
    assert.equal(two.attached.size, 0);
    one.presence.announce();
    await settle();
    assert.equal(two.attached.size, 1);
    one.presence.close();
    await settle();
    assert.equal(two.attached.size, 0);
  });
});
