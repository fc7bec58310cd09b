import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundledCommands } from "../../scripts/test-bundle.js";
import type { Action, FaultReport, Hand, HandEvent, Judgement, Order, ToolSpec } from "@vidro/core";
import type { HandAnswer, HandProcessOptions, HandRequest } from "./hand-process.ts";

const HAND_PROGRAM = bundledCommands().program("hand-process");

/** A request without the id that the link gives it. */
type Unnumbered = HandRequest extends infer R ? (R extends HandRequest ? Omit<R, "id"> : never) : never;

interface Link {
  readonly process: ChildProcess;
  readonly tools: readonly ToolSpec[];
  /** Whether nothing more can come from the process. */
  isCut(): boolean;
  /** Sends a request; its answers, ending early when the process dies. */
  ask(request: Unnumbered): { readonly id: number; readonly answers: AsyncIterable<HandAnswer> };
}

/**
 * A hand in a process of its own, which may be killed at any time: the next request starts another one on the same
 * state, and an order that was cut off is sent again under the same id, as a brain would.
 */
export function startChildHand(options: HandProcessOptions): ChildHand {
  return new ChildHand(options);
}

/** The hand that `startChildHand` gives: a Hand that can also be killed. */
export class ChildHand implements Hand {
  readonly id = "child";
  readonly workspace: string;
  tools: readonly ToolSpec[] = [];
  readonly #options: HandProcessOptions;
  #link: Promise<Link> | undefined;
  #closed = false;
  /** How many processes there have been. */
  starts = 0;

  constructor(options: HandProcessOptions) {
    this.workspace = options.workspace;
    this.#options = options;
  }

  /** The pid of the process that serves now, started if there is none. */
  async pid(): Promise<number> {
    return (await this.#connected()).process.pid ?? 0;
  }

  /** Kills the process the hard way; resolves when it is gone. */
  async kill(): Promise<void> {
    const link = await this.#link;
    if (link === undefined || isGone(link.process)) return;
    const gone = once(link.process, "exit");
    link.process.kill("SIGKILL");
    await gone;
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    return (await this.#value({ type: "judge", action })) as Judgement | FaultReport;
  }

  async *perform(order: Order, signal: AbortSignal): AsyncIterable<HandEvent> {
    for (;;) {
      const link = await this.#connected();
      const { id, answers } = link.ask({ type: "perform", order });
      const abort = (): void => void link.ask({ type: "abort", perform: id });
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      for await (const answer of answers) {
        if (!("event" in answer)) continue;
        yield answer.event;
        if (answer.event.type !== "output") return;
      }
      signal.removeEventListener("abort", abort);
    }
  }

  async acknowledge(action: string): Promise<void> {
    await this.#value({ type: "acknowledge", action });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const link = await this.#link;
    if (link === undefined || isGone(link.process)) return;
    const gone = once(link.process, "exit");
    link.process.stdin?.end();
    await gone;
  }

  async #value(request: Unnumbered): Promise<unknown> {
    for (;;) {
      const { answers } = (await this.#connected()).ask(request);
      for await (const answer of answers) if ("value" in answer) return answer.value;
    }
  }

  async #connected(): Promise<Link> {
    const before = this.#link;
    const link = await before;
    if (this.#closed) throw new Error("The hand is closed.");
    // Another caller that waited may have started the next process already.
    if (this.#link !== before) return this.#connected();
    if (link !== undefined && !link.isCut()) return link;
    // Only the first process crashes at the point that was asked for: the next ones see what it left behind.
    const { crashAt, ...sound } = this.#options;
    const options = this.starts === 0 && crashAt !== undefined ? { ...sound, crashAt } : sound;
    this.#link = connect(options);
    this.starts += 1;
    const connected = await this.#link;
    this.tools = connected.tools;
    return connected;
  }
}

function isGone(process: ChildProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}

async function connect(options: HandProcessOptions): Promise<Link> {
  const child = spawn(process.execPath, ["--enable-source-maps", HAND_PROGRAM, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // Writing to a process that was just killed is what these tests are about.
  child.stdin.on("error", () => undefined);
  const waiting = new Map<number, (answer: HandAnswer | undefined) => void>();
  const ready = Promise.withResolvers<readonly ToolSpec[]>();
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const message: HandAnswer | { ready: true; tools: readonly ToolSpec[] } = JSON.parse(line);
    if ("ready" in message) ready.resolve(message.tools);
    else waiting.get(message.id)?.(message);
  });
  let cut = false;
  lines.on("close", () => {
    cut = true;
    ready.reject(new Error("The hand's process ended before it was ready."));
    for (const give of waiting.values()) give(undefined);
  });
  const tools = await ready.promise;
  let last = 0;
  return {
    process: child,
    tools,
    isCut: () => cut,
    ask(request) {
      last += 1;
      const id = last;
      const answers = inbox(
        (give) => waiting.set(id, give),
        () => waiting.delete(id),
      );
      if (cut) waiting.get(id)?.(undefined);
      else child.stdin.write(`${JSON.stringify({ ...request, id })}\n`);
      return { id, answers };
    },
  };
}

/** A queue with one reader: values in order, until the one that ends it or undefined. */
async function* drain(queue: (HandAnswer | undefined)[], next: () => Promise<void>): AsyncGenerator<HandAnswer> {
  for (;;) {
    if (queue.length === 0) await next();
    const answer = queue.shift();
    if (answer === undefined) return;
    yield answer;
    if ("value" in answer) return;
  }
}

function inbox(
  open: (give: (answer: HandAnswer | undefined) => void) => void,
  close: () => void,
): AsyncIterable<HandAnswer> {
  const queue: (HandAnswer | undefined)[] = [];
  let wake = (): void => undefined;
  open((answer) => {
    queue.push(answer);
    if (answer === undefined || "value" in answer) close();
    wake();
  });
  return drain(queue, () => new Promise((resolve) => (wake = resolve)));
}
