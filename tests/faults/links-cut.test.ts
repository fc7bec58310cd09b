import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ActionEnd, Hand, Order } from "@vidro/core";
import { FaultProxy } from "../support/fault-proxy.ts";
import type { Direction } from "../support/fault-proxy.ts";
import { insisted, markOrder, IN_PROCESS_LINKS } from "../support/in-process-links.ts";
import type { InProcessLink } from "../support/in-process-links.ts";

/* Links whose bytes come in pieces, or not at all. */

type Name = keyof typeof IN_PROCESS_LINKS;

/** A link whose every byte goes through a wire that can fail. */
async function proxied(t: TestContext, name: Name): Promise<InProcessLink & { readonly proxy: FaultProxy }> {
  let made: FaultProxy | undefined;
  const link = await IN_PROCESS_LINKS[name](t, async ({ port }) => {
    made = await new FaultProxy({ port }).open();
    return made.port;
  });
  const proxy = made ?? assert.fail("nothing is between the two");
  t.after(() => proxy.close());
  return { ...link, proxy };
}

/** One order and its end, and that the brain has it. */
async function exchanged(hand: Hand, order: Order): Promise<ActionEnd> {
  const ended = await insisted(hand, order);
  await hand.acknowledge(order.action.id);
  return ended;
}

/** Bytes that go one way in the longest of some exchanges, all that follows the end included. */
async function lengthOf({ hand, proxy }: { hand: Hand; proxy: FaultProxy }, direction: Direction): Promise<number> {
  let longest = 0;
  for (let times = 0; times < 5; times += 1) {
    proxy.cutAfter(direction, Number.POSITIVE_INFINITY);
    await exchanged(hand, markOrder());
    longest = Math.max(longest, proxy.passed(direction));
  }
  return longest;
}

/** Bytes between two cuts. A hand that signs its messages may send 1000 at once, and then fifty in a second. */
const STEP_BYTES: { readonly [name in Name]: number } = {
  "agent-ws": 1,
  "agent-http": 7,
  "executor-ws": 1,
  "agent-tcp": 1,
};

for (const [name, step] of Object.entries(STEP_BYTES) as [Name, number][])
  test(`F9 ${name}: a reset after each ${step === 1 ? "byte" : `${step}th byte`} of an order and its result, both ways, costs no effect and makes none twice`, async (t) => {
    const link = await proxied(t, name);
    const { hand, proxy, marks } = link;
    const before = marks().length;
    let cuts = 0;
    for (const direction of ["up", "down"] as const) {
      const length = await lengthOf(link, direction);
      for (let bytes = 0; bytes <= length; bytes += step) {
        proxy.cutAfter(direction, bytes);
        const order = markOrder();
        const ended = await exchanged(hand, order);
        assert.equal(ended.type, "finished", `${direction} ${bytes}: ${JSON.stringify(ended)}`);
        assert.equal(marks().at(-1), `${order.action.input.n}`);
        cuts += 1;
      }
    }
    const done = marks().slice(before);
    assert.equal(new Set(done).size, done.length, "no effect came twice");
    assert.ok(proxy.connections > cuts / 2, `${proxy.connections} connections for ${cuts} cuts`);
    t.diagnostic(
      `${name}: ${cuts} cuts, ${proxy.connections - 1} connections lost, ${done.length} effects, none twice`,
    );
  });

/** Orders one after the other, then some at once whose messages come together; their ends without what differs. */
async function answers(hand: Hand): Promise<readonly ActionEnd[]> {
  const alone = [markOrder(), markOrder(), markOrder()];
  const together = Array.from({ length: 6 }, () => markOrder());
  const ends: ActionEnd[] = [];
  for (const order of alone) ends.push(await insisted(hand, order));
  ends.push(...(await Promise.all(together.map((order) => insisted(hand, order)))));
  for (const [index, order] of [...alone, ...together].entries()) {
    assert.deepEqual(ends[index], {
      type: "finished",
      outcome: { kind: "value", text: `marked ${order.action.input.n}`, data: { n: order.action.input.n } },
    });
    assert.deepEqual(await insisted(hand, order), ends[index], "the same order has the same end");
  }
  return ends;
}

for (const name of Object.keys(IN_PROCESS_LINKS) as Name[])
  test(`F12 ${name}: whole frames, single bytes and frames that come together are read the same`, async (t) => {
    const { hand, proxy, marks } = await proxied(t, name);
    let given = 0;
    for (const pieceBytes of [Number.POSITIVE_INFINITY, 1, 3]) {
      proxy.split(pieceBytes);
      given += (await answers(hand)).length;
    }
    assert.equal(marks().length, given);
    assert.equal(new Set(marks()).size, given);
    assert.equal(await isJudged(hand), true);
  });

async function isJudged(hand: Hand): Promise<boolean> {
  return "verdict" in (await hand.judge(markOrder().action));
}
