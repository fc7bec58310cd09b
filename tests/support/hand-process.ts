import { createInterface } from "node:readline";
import type { Action, HandEvent, Order } from "@vidro/core";
import { localHand, type ProbePoint } from "@vidro/hands";

/*
 * A hand in a process of its own, so that tests can kill it: ND-JSON requests on stdin, ND-JSON answers on stdout.
 * Started with one argument, a HandProcessOptions as JSON. It says `{"ready":true}` first.
 */

/** What the process is told when it starts. */
export interface HandProcessOptions {
  readonly workspace: string;
  readonly state: string;
  /** Kill this process with SIGKILL, as a crash would, when an action first comes to this point. */
  readonly crashAt?: ProbePoint;
  /** What its policy says of everything; default: allow. */
  readonly decision?: "allow" | "ask" | "deny";
}

/** A request; `id` comes back with every answer to it. */
export type HandRequest =
  | { readonly id: number; readonly type: "judge"; readonly action: Action }
  | { readonly id: number; readonly type: "perform"; readonly order: Order }
  | { readonly id: number; readonly type: "abort"; readonly perform: number }
  | { readonly id: number; readonly type: "acknowledge"; readonly action: string };

/** An answer: events while an action is carried out, and one last value for each request. */
export type HandAnswer =
  | { readonly id: number; readonly event: HandEvent }
  | { readonly id: number; readonly value: unknown };

const options: HandProcessOptions = JSON.parse(process.argv[2] ?? "{}");
const decision = options.decision ?? "allow";

const hand = await localHand({
  id: "child",
  workspace: options.workspace,
  state: options.state,
  policy: { version: "test", judge: () => ({ decision, rule: "test", class: "code-exec", reason: "It is a test." }) },
  probe: (point) => {
    if (point === options.crashAt) process.kill(process.pid, "SIGKILL");
  },
});

const aborts = new Map<number, AbortController>();

function answer(message: HandAnswer | { ready: true; tools: unknown }): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function perform(id: number, order: Order): Promise<null> {
  const abort = new AbortController();
  aborts.set(id, abort);
  for await (const event of hand.perform(order, abort.signal)) answer({ id, event });
  aborts.delete(id);
  return null;
}

async function serve(request: HandRequest): Promise<unknown> {
  switch (request.type) {
    case "judge":
      return hand.judge(request.action);
    case "perform":
      return perform(request.id, request.order);
    case "abort":
      aborts.get(request.perform)?.abort();
      return null;
    case "acknowledge":
      await hand.acknowledge(request.action);
      return null;
  }
}

answer({ ready: true, tools: hand.tools });
for await (const line of createInterface({ input: process.stdin })) {
  const request: HandRequest = JSON.parse(line);
  void serve(request).then((value) => answer({ id: request.id, value }));
}
await hand.close();
