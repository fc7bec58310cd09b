import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { textIn } from "@vidro/core";
import type { Hand, JsonObject } from "@vidro/core";
import { tamperFrames, tamperWebSocket, replayRequests } from "../support/message-tamperer.ts";
import type { Tamper } from "../support/message-tamperer.ts";
import { insisted, markOrder, IN_PROCESS_LINKS } from "../support/in-process-links.ts";
import type { InProcessLink, Target } from "../support/in-process-links.ts";

/* Messages that come twice, in another order, or late. */

/** Whether a message orders something, or says how it ended, on whatever wire. */
const isOrder = ({ method, type, act, t }: JsonObject): boolean =>
  method === "tool.run" || type === "run_tool" || (act === "RUN_TOOL" && t === "req");
const isEnd = ({ method, type, act, t, ok, action_id: action }: JsonObject): boolean =>
  type === "tool_result" ||
  (act === "RUN_TOOL" && t === "res") ||
  (typeof ok === "boolean" && method === undefined && typeof action === "string");
const matters = (message: JsonObject): boolean => isOrder(message) || isEnd(message);

/** A request of the protocol with frames is another one under another id; a message of the others has none of its own. */
const copyOf = (message: JsonObject): JsonObject =>
  isOrder(message) && message["t"] === "req" ? { ...message, id: `${textIn(message, "id")}-again` } : message;

const twice: Tamper = (message) => (matters(message) ? [message, copyOf(message)] : [message]);

/** Of two orders, and of two ends, the second goes first. */
function swapped(): Tamper {
  const held: { [kind: string]: JsonObject | undefined } = {};
  return (message) => {
    if (!matters(message)) return [message];
    const kind = isOrder(message) ? "order" : "end";
    const before = held[kind];
    held[kind] = before === undefined ? message : undefined;
    return before === undefined ? [] : [message, before];
  };
}

/** What was said last is said once more after the next. */
function late(): Tamper {
  const last: { [kind: string]: JsonObject | undefined } = {};
  return (message) => {
    if (!matters(message)) return [message];
    const kind = isOrder(message) ? "order" : "end";
    const before = last[kind];
    last[kind] = message;
    return before === undefined ? [message] : [message, copyOf(before)];
  };
}

const MEDDLES: { readonly [what: string]: () => Tamper } = { twice: () => twice, swapped, late };
const WIRES = {
  "agent-ws": tamperWebSocket,
  "executor-ws": tamperWebSocket,
  "agent-tcp": tamperFrames,
} as const;

/** Gives orders two at a time; each has its own end, the same whenever it is asked for, and one effect. */
async function obeys({ hand, marks }: InProcessLink): Promise<void> {
  const given: string[] = [];
  for (let pair = 0; pair < 4; pair += 1) {
    const orders = [markOrder(), markOrder()];
    const ends = await Promise.all(orders.map((order) => insisted(hand, order)));
    for (const [index, { action }] of orders.entries()) {
      given.push(`${action.input.n}`);
      const end = ends[index];
      assert.ok(end?.type === "finished", JSON.stringify(end));
      assert.deepEqual(end.outcome, { kind: "value", text: `marked ${action.input.n}`, data: { n: action.input.n } });
    }
    assert.deepEqual(await Promise.all(orders.map((order) => insisted(hand, order))), ends);
    await acknowledged(hand, orders);
  }
  assert.deepEqual(marks().toSorted(), given.toSorted());
}

async function acknowledged(hand: Hand, orders: readonly ReturnType<typeof markOrder>[]): Promise<void> {
  for (const { action } of orders) await hand.acknowledge(action.id);
}

for (const [name, between] of Object.entries(WIRES) as [keyof typeof WIRES, typeof tamperWebSocket][])
  for (const [what, meddle] of Object.entries(MEDDLES))
    test(`F17 F18 ${name}: orders and ends that come ${what} have the same answers and one effect each`, async (t: TestContext) => {
      let passed = 0;
      const meddling = meddle();
      const counted: Tamper = (message) => {
        if (matters(message)) passed += 1;
        return meddling(message);
      };
      await obeys(await IN_PROCESS_LINKS[name](t, (target: Target) => between(t, target, counted)));
      assert.ok(passed >= 32, `${passed} orders and ends were meddled with`);
    });

test("F17 agent-http: a signed request that comes twice is refused the second time, and has one effect", async (t) => {
  const statuses: number[] = [];
  await obeys(
    await IN_PROCESS_LINKS["agent-http"](t, (target) => replayRequests(t, target, (status) => statuses.push(status))),
  );
  assert.ok(statuses.length >= 16);
  assert.deepEqual([...new Set(statuses)], [401]);
});
