import { createHash, randomUUIDv7 } from "node:crypto";
import { EXECUTOR_LIMITS, Fault, RUN_LIMITS } from "@vidro/core";
import type { Journal, JsonObject, Records, RunHead } from "@vidro/core";
import type { ExecutorGateway } from "@vidro/core/wire/executor-gateway";
import type { Handshake } from "@vidro/core/wire/executor-ws";
import type { Runs } from "../../run/runs.ts";
import { openAction } from "./open-action.ts";

/** What sessions are kept in. */
interface SessionsWorld {
  readonly runs: Runs;
  readonly gateway: Pick<ExecutorGateway<never>, "sessionsSeenBefore" | "forget">;
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
/** The sessions of executors: one session is one executor, at most one task, and as many connections as it takes. */
export class Sessions {
  readonly #world: SessionsWorld;
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

  /** The action of a run that was started and has no recorded end. */
  openAction(run: string): Promise<string | undefined> {
    return openAction(this.#world.journal, run);
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
    if (run !== undefined && !isOpen(run)) await this.#world.gateway.forget(session);
  }

  /** Forgets executors that were away for longer than any order is waited for, unless their task is still open. */
  async sweep(): Promise<void> {
    const { gateway, runs, now } = this.#world;
    this.#sweptAt = now();
    for (const session of gateway.sessionsSeenBefore(now() - RUN_LIMITS.handMs)) {
      const [open] = await runs.list({ thread: session, open: true, limit: 1 });
      if (open === undefined) await gateway.forget(session);
    }
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
