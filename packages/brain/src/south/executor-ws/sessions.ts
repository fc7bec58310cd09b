import { createHash, randomUUIDv7 } from "node:crypto";
import { EXECUTOR_LIMITS, Fault, RUN_LIMITS } from "@vidro/core";
import type { Journal, JsonObject, Records, RunHead } from "@vidro/core";
import type { Handshake } from "@vidro/core/wire/executor-ws";
import type { Runs } from "../../run/runs.ts";
import type { Hands } from "../register/hands.ts";
import { Memory, openAction } from "./memory.ts";

/** What sessions are kept in. */
export interface SessionsWorld {
  readonly runs: Runs;
  readonly hands: Hands;
  readonly records: Records;
  readonly journal: Journal;
  readonly now: () => number;
}

/** Where a handshake belongs: its session, and the run of that session when there is one already. */
export interface Place {
  /** The thread of its run, and the name of the executor. */
  readonly session: string;
  readonly run: RunHead | undefined;
  /** What the executor calls its task; the run's id without it. */
  readonly task: string | undefined;
}

const KIND = "handshake";
const HAND_PREFIX = "executor:";

/** The hand that is the executor of a session. */
export function handOf(session: string): string {
  return `${HAND_PREFIX}${session}`;
}

/** The sessions of executors: one session is one executor, at most one task, and as many connections as it takes. */
export class Sessions {
  readonly #world: SessionsWorld;
  readonly #memories = new Map<string, Memory>();
  #sweptAt = 0;

  constructor(world: SessionsWorld) {
    this.#world = world;
  }

  /** Finds where a handshake belongs; NOT_FOUND when it wants to go on with what is not its owner's, or not there. */
  async place(handshake: Handshake, owner: string, task: string | undefined): Promise<Place> {
    if (handshake.resume !== undefined) {
      const session = handshake.resume.session_id;
      const run = await this.#runOf(session, owner);
      if (run === undefined && !(await this.#isKept(session, owner)))
        throw new Fault("NOT_FOUND", `There is no session ${session} to go on with.`);
      return { session, run, task };
    }
    if (task === undefined) return { session: `thread_${randomUUIDv7()}`, run: undefined, task };
    const named = await this.#world.runs.find(task, owner).catch(() => undefined);
    if (named !== undefined) return { session: named.thread, run: named, task };
    // The same task of the same owner is the same session, also when the answer to the first handshake was lost.
    const digest = createHash("sha256")
      .update(JSON.stringify([owner, task]))
      .digest("hex")
      .slice(0, 32);
    const session = `thread_${digest}`;
    return { session, run: await this.#runOf(session, owner), task };
  }

  /** What is remembered of the executor of a session; in a new process, what the journal tells of it. */
  async memory({ session, run }: Place): Promise<Memory> {
    const known = this.#memories.get(session);
    if (known !== undefined) return known;
    const memory = new Memory();
    const open = run === undefined ? undefined : await openAction(this.#world.journal, run.id);
    if (open !== undefined) memory.gives(open);
    this.#memories.set(session, memory);
    return memory;
  }

  /** Keeps a handshake for an hour [004-05]. */
  async keep(session: string, owner: string, handshake: Handshake): Promise<void> {
    const { records } = this.#world;
    // Made anew, so that the oldest of all are those that were kept longest.
    await records.delete(KIND, session);
    await records.put({ kind: KIND, id: session, owner, body: handshake as unknown as JsonObject });
    for (const { id, updatedAt } of await records.list(KIND, { limit: EXECUTOR_LIMITS.removed }))
      if (this.#isOld(updatedAt)) await records.delete(KIND, id);
    if (this.#isOld(this.#sweptAt)) await this.sweep();
  }

  /** The executor of a session has left: it is forgotten when its task is over. */
  async left(session: string): Promise<void> {
    const [run] = await this.#world.runs.list({ thread: session, limit: 1 });
    if (run !== undefined && !isOpen(run)) await this.#forget(session);
  }

  /** Forgets executors that were away for longer than any order is waited for, unless their task is still open. */
  async sweep(): Promise<void> {
    const { hands, runs, now } = this.#world;
    this.#sweptAt = now();
    const before = now() - RUN_LIMITS.handMs;
    for (const { id, lastSeenAt } of hands.list({ owner: "", admin: true })) {
      if (!id.startsWith(HAND_PREFIX) || lastSeenAt >= before) continue;
      const session = id.slice(HAND_PREFIX.length);
      const [open] = await runs.list({ thread: session, open: true, limit: 1 });
      if (open === undefined) await this.#forget(session);
    }
  }

  async #forget(session: string): Promise<void> {
    const { hands } = this.#world;
    if (hands.isConnected(handOf(session))) return;
    this.#memories.delete(session);
    await hands.forget(handOf(session));
  }

  async #runOf(session: string, owner: string): Promise<RunHead | undefined> {
    const [run] = await this.#world.runs.list({ thread: session, owner, limit: 1 });
    return run;
  }

  async #isKept(session: string, owner: string): Promise<boolean> {
    const kept = await this.#world.records.get(KIND, session);
    return kept !== undefined && kept.owner === owner && !this.#isOld(kept.updatedAt);
  }

  #isOld(updatedAt: number): boolean {
    return updatedAt + EXECUTOR_LIMITS.keptMs <= this.#world.now();
  }
}

function isOpen({ status }: RunHead): boolean {
  return status === "running" || status === "asking";
}
