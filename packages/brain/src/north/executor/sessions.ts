import { createHash, randomUUIDv7 } from "node:crypto";
import { EXECUTOR_LIMITS, Fault, RUN_LIMITS } from "@vidro/core";
import type { Bus, Journal, JsonObject, Records, RunHead } from "@vidro/core";
import type { ExecutorGateway } from "@vidro/core/wire/executor-gateway";
import type { Handshake } from "@vidro/core/wire/executor-ws";
import type { Runs } from "../../run/runs.ts";
import { openAction } from "./open-action.ts";

/** Dependencies of the executor sessions. */
interface SessionsDependencies {
  readonly runs: Runs;
  readonly gateway: Pick<ExecutorGateway<never>, "sessionsSeenBefore" | "forget">;
  readonly records: Records;
  readonly journal: Journal;
  readonly now: () => number;
  /** Keeps a copy of each handshake for programs that read the bus. */
  readonly bus?: Pick<Bus, "keep"> | undefined;
}

/** The session of a connection, and the run of that session if it has one. */
export interface ExecutorSession {
  /** Its id, which is also the thread of its run. */
  readonly session: string;
  readonly run: RunHead | undefined;
  /** The executor's own name of its task, when the path of the connection has it. */
  readonly task: string | undefined;
}

const KIND = "handshake";

/** The sessions of executors: one session is one executor, at most one task, and as many connections as it takes. */
export class ExecutorSessions {
  readonly #deps: SessionsDependencies;
  #checkedAt = 0;

  constructor(deps: SessionsDependencies) {
    this.#deps = deps;
  }

  /** The session that a handshake begins or resumes; NOT_FOUND when the owner has no session of that id to resume. */
  async find(handshake: Handshake, owner: string, task: string | undefined): Promise<ExecutorSession> {
    if (handshake.resume !== undefined) {
      const session = handshake.resume.session_id;
      const run = await this.#runOf(session, owner);
      if (run === undefined && !(await this.#hasHandshake(session, owner)))
        throw new Fault("NOT_FOUND", `There is no session ${session} to go on with.`);
      return { session, run, task };
    }
    if (task === undefined) return { session: `thread_${randomUUIDv7()}`, run: undefined, task };
    const named = await this.#deps.runs.find(task, owner).catch(() => undefined);
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
    return openAction(this.#deps.journal, run);
  }

  /** The hand or hands that a run works on. */
  async handOf(run: string): Promise<string | undefined> {
    const [first] = await this.#deps.journal.read(run, 0, 1);
    return first?.event.type === "run.started" ? first.event.hand : undefined;
  }

  /** Keeps a handshake for an hour [004-05]. */
  async keepHandshake(session: string, owner: string, handshake: Handshake): Promise<void> {
    const { records } = this.#deps;
    // Deleted first, so that records are listed in the order in which they were last kept.
    await records.delete(KIND, session);
    await records.put({ kind: KIND, id: session, owner, body: handshake as unknown as JsonObject });
    this.#deps.bus?.keep(`handshake:{${session}}`, JSON.stringify(handshake), EXECUTOR_LIMITS.keptMs);
    for (const { id, updatedAt } of await records.list(KIND, { limit: EXECUTOR_LIMITS.removed }))
      if (this.#isExpired(updatedAt)) await records.delete(KIND, id);
    if (this.#isExpired(this.#checkedAt)) await this.forgetAbsent();
  }

  /** Forgets the executor of a session when its task is over; called when it has disconnected. */
  async forgetIfDone(session: string): Promise<void> {
    const [run] = await this.#deps.runs.list({ thread: session, limit: 1 });
    if (run !== undefined && !isOpen(run)) await this.#deps.gateway.forget(session);
  }

  /** Forgets executors that were away for longer than any order waits for its hand, unless their task is open. */
  async forgetAbsent(): Promise<void> {
    const { gateway, runs, now } = this.#deps;
    this.#checkedAt = now();
    for (const session of gateway.sessionsSeenBefore(now() - RUN_LIMITS.handMs)) {
      const [open] = await runs.list({ thread: session, open: true, limit: 1 });
      if (open === undefined) await gateway.forget(session);
    }
  }

  async #runOf(session: string, owner: string): Promise<RunHead | undefined> {
    const [run] = await this.#deps.runs.list({ thread: session, owner, limit: 1 });
    return run;
  }

  async #hasHandshake(session: string, owner: string): Promise<boolean> {
    const kept = await this.#deps.records.get(KIND, session);
    return kept !== undefined && kept.owner === owner && !this.#isExpired(kept.updatedAt);
  }

  #isExpired(updatedAt: number): boolean {
    return updatedAt + EXECUTOR_LIMITS.keptMs <= this.#deps.now();
  }
}

function isOpen({ status }: RunHead): boolean {
  return status === "running" || status === "asking";
}
