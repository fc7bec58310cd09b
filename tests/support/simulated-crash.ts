import type { Hand, Journal, Lease } from "@vidro/core";
import type { ProbePoint } from "@vidro/hands";

/*
 * A crash, simulated: at one chosen point everything of the old process stops for good. Nothing is thrown, since a
 * process that dies throws nothing; its promises just never settle, and a new process begins on the same disk.
 */

/** Where a process dies: before or after its n-th append, or at the n-th passing of a point of the hand. */
export type CrashPoint =
  | { readonly at: "append"; readonly nth: number; readonly when: "before" | "after" }
  | { readonly at: "hand"; readonly nth: number; readonly point: ProbePoint };

const NEVER = new Promise<never>(() => undefined);

/** One life of a process: ends at the crash point, or lives on when it never gets there. */
export class ProcessLife {
  /** Resolves at the crash. */
  readonly ended: Promise<void>;
  /** How many appends, and passings of each point of the hand, there were. */
  readonly passed = new Map<string, number>();
  readonly #point: CrashPoint | undefined;
  #dead = false;
  readonly #die: () => void;

  constructor(point?: CrashPoint) {
    this.#point = point;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#die = resolve;
  }

  /** The journal as this life sees it. */
  journal(real: Journal): Journal {
    const alive = <Result>(call: () => Promise<Result>): Promise<Result> => (this.#dead ? NEVER : call());
    return {
      ...bound(real),
      create: (run, entries, holder) => this.#pass("append", () => real.create(run, entries, holder)),
      append: (lease, entries, beside) => this.#pass("append", () => real.append(lease, entries, beside)),
      // Neither does a dead process look on, nor take a lease again.
      read: (run, after, limit) => alive(() => real.read(run, after, limit)),
      head: (run) => alive(() => real.head(run)),
      lease: (run, holder) => alive(() => real.lease(run, holder)),
      release: (lease: Lease) => alive(() => real.release(lease)),
      renew: (lease: Lease) => alive(() => real.renew(lease)),
    };
  }

  /** The hand as this life sees it. */
  hand(real: Hand): Hand {
    const isDead = (): boolean => this.#dead;
    return {
      id: real.id,
      workspace: real.workspace,
      tools: real.tools,
      judge: (action) => real.judge(action),
      async *perform(order, signal) {
        for await (const event of real.perform(order, signal)) yield isDead() ? await NEVER : event;
      },
      acknowledge: (action) => (this.#dead ? NEVER : real.acknowledge(action)),
      close: () => real.close(),
    };
  }

  /** A probe of the hand that dies at its point. */
  readonly probe = (point: ProbePoint): Promise<void> => {
    const count = this.#count(point);
    const here = this.#point?.at === "hand" && this.#point.point === point && this.#point.nth === count;
    return here ? this.#crash() : Promise.resolve();
  };

  async #pass<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#dead) return NEVER;
    const count = this.#count(name);
    const here = this.#point?.at === "append" && this.#point.nth === count ? this.#point.when : undefined;
    if (here === "before") return this.#crash();
    // The later appends of a dying process must not reach the disk either, so it is dead before it waits.
    if (here === "after") this.#dead = true;
    const result = await call();
    return here === "after" ? this.#crash() : result;
  }

  #count(name: string): number {
    const count = (this.passed.get(name) ?? 0) + 1;
    this.passed.set(name, count);
    return count;
  }

  #crash(): Promise<never> {
    this.#dead = true;
    this.#die();
    return NEVER;
  }
}

function bound(journal: Journal): Journal {
  return Object.fromEntries(
    ["create", "append", "read", "head", "list", "lease", "renew", "release", "watch", "verify", "close"].map(
      (name) => {
        const method = journal[name as keyof Journal] as (...args: unknown[]) => unknown;
        return [name, method.bind(journal)];
      },
    ),
  ) as unknown as Journal;
}
