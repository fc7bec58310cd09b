import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import type { ActionEnd, Hand, HandEvent, Order, Plan, ProcessOutcome } from "@vidro/core";
import { BackgroundProcesses } from "./background/background-processes.ts";
import { localHand } from "./hand.ts";
import type { LocalHandOptions } from "./hand-options.ts";
import type { HandContext, ToolExecution } from "./tools/tool.ts";

/** A folder that is gone after the test. */
export function scratch(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "vidro-hand-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A context in a scratch folder, with what processes need and no sandbox. */
export function contextIn(folder: string): HandContext {
  const [workspace, state] = [join(folder, "workspace"), join(folder, "state")];
  for (const path of [workspace, state]) mkdirSync(path, { recursive: true });
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
  return {
    workspace,
    state,
    reserved: () => [state],
    memoryBytes: () => HAND_LIMITS.treeBytes,
    privateHosts: () => [],
    sandbox: async () => undefined,
    secrets: () => undefined,
    background: new BackgroundProcesses(() => state),
    env,
    judge: (plan) => policyOf("allow").judge(plan),
  };
}

/** Work on a context that collects what is told live. */
export function executionOf<P extends Plan>(
  context: HandContext,
  plan: P,
  more: Partial<ToolExecution<P>> = {},
): ToolExecution<P> & { live: string[] } {
  const live: string[] = [];
  const output = (_stream: string, chunk: string): void => void live.push(chunk);
  const signal = new AbortController().signal;
  return {
    plan,
    context,
    action: "act_1",
    run: "run_1",
    spool: join(context.state, "spool.out"),
    signal,
    output,
    live,
    ...more,
  };
}

/** A hand in a scratch folder whose policy allows everything unless it is told otherwise; closed after the test. */
export async function handIn(t: TestContext, folder: string, more: Partial<LocalHandOptions> = {}): Promise<Hand> {
  const { workspace, state } = contextIn(folder);
  const hand = await localHand({ id: "test", workspace, state, policy: policyOf("allow"), ...more });
  t.after(() => hand.close());
  return hand;
}

/** A policy with one answer. */
export function policyOf(decision: "allow" | "ask" | "deny"): LocalHandOptions["policy"] {
  const verdict = { decision, rule: "test-rule", class: "code-exec", reason: "The test wants it so." } as const;
  return { version: "test", judge: () => verdict };
}

/** An order for a shell line under an id. */
export function shellOrder(id: string, command: string, more: Partial<Order> = {}): Order {
  return orderFor({ id, tool: "shell", input: { command }, callId: "call" }, more);
}

/** An order for an action. */
export function orderFor(action: Order["action"], more: Partial<Order> = {}): Order {
  return { action, epoch: 1, run: "run_1", ttlMs: 60_000, ...more };
}

/** Everything that a hand says to an order. */
export async function eventsOf(hand: Hand, order: Order, signal = new AbortController().signal): Promise<HandEvent[]> {
  return Array.fromAsync(hand.perform(order, signal));
}

/** How an order ends; fails unless that is the one terminal event, and the last. */
export async function endOf(hand: Hand, order: Order, signal?: AbortSignal): Promise<ActionEnd> {
  const terminal = (await eventsOf(hand, order, signal)).filter((event) => event.type !== "output");
  const [ended] = terminal;
  if (ended === undefined || terminal.length !== 1) throw new Error(`${terminal.length} terminal events`);
  return ended;
}

/** The process outcome of an order that finished. */
export function processOf(ended: ActionEnd): ProcessOutcome {
  if (ended.type !== "finished" || ended.outcome.kind !== "process") throw new Error(JSON.stringify(ended));
  return ended.outcome;
}

/** The code of the fault that ended an order. */
export function codeOf(ended: ActionEnd): string {
  if (ended.type === "finished") throw new Error(JSON.stringify(ended));
  return ended.fault.code;
}
