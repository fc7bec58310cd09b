import { randomUUID } from "node:crypto";
import { Fault, WORKER_LIMITS } from "@vidro/core";
import type { WorkerMessage, WorkerParams } from "@vidro/core/wire/worker";
import type { AnswerForm } from "./engine/engine.ts";

/** A conversation with the model. */
export interface WorkerSession {
  readonly id: string;
  readonly params: WorkerParams;
  /** The grammar of its answers, when it has tools. */
  readonly form?: AnswerForm;
  messages: readonly WorkerMessage[];
  /** The slot that has evaluated it last. */
  slot?: number;
  /** Ends the generation that is under way. */
  generation?: AbortController;
  usedAt: number;
}

/** The sessions of a worker, bounded: those that were idle for longest are closed first. */
export class WorkerSessions {
  readonly #open = new Map<string, WorkerSession>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many sessions are open. */
  get size(): number {
    this.#closeIdle();
    return this.#open.size;
  }

  /** Opens a session; MODEL_RATE_LIMITED when all the others are generating. */
  create(params: WorkerParams, form: AnswerForm | undefined): WorkerSession {
    this.#closeIdle();
    if (this.#open.size >= WORKER_LIMITS.sessions) {
      const oldest = [...this.#open.values()].find(({ generation }) => generation === undefined);
      if (oldest === undefined)
        throw new Fault("MODEL_RATE_LIMITED", `${WORKER_LIMITS.sessions} sessions generate already.`);
      this.#open.delete(oldest.id);
    }
    const session: WorkerSession = {
      id: randomUUID(),
      params,
      ...(form === undefined ? {} : { form }),
      messages: [],
      usedAt: this.#now(),
    };
    this.#open.set(session.id, session);
    return session;
  }

  /** The session of that id, which counts as used now; MODEL_UNAVAILABLE when it is unknown. */
  find(id: string): WorkerSession {
    this.#closeIdle();
    const session = this.#open.get(id);
    if (session === undefined) throw new Fault("MODEL_UNAVAILABLE", `unknown session ${id.slice(0, 64)}`);
    this.#use(session);
    return session;
  }

  /** The generation of a session is over: it counts as used until now, unless it was closed meanwhile. */
  endGeneration(session: WorkerSession): void {
    delete session.generation;
    if (this.#open.has(session.id)) this.#use(session);
  }

  /** Closes a session and ends its generation. */
  close(id: string): void {
    const session = this.find(id);
    this.#open.delete(id);
    session.generation?.abort();
  }

  /** Ends every generation. */
  abortAll(): void {
    for (const { generation } of this.#open.values()) generation?.abort();
  }

  #use(session: WorkerSession): void {
    this.#open.delete(session.id);
    this.#open.set(session.id, session);
    session.usedAt = this.#now();
  }

  /** Sessions are in the order of their use. */
  #closeIdle(): void {
    for (const { id, usedAt, generation } of this.#open.values()) {
      if (this.#now() - usedAt < WORKER_LIMITS.idleMs) return;
      if (generation === undefined) this.#open.delete(id);
    }
  }
}

/**
 * A conversation with one more exchange; beyond the bound its oldest messages are dropped, but neither the system's nor
 * the newest, which the engine refuses by name when it is too long.
 */
export function extendConversation(
  messages: readonly WorkerMessage[],
  ...more: readonly WorkerMessage[]
): readonly WorkerMessage[] {
  const all = [...messages, ...more];
  const kept = all[0]?.role === "system" ? 1 : 0;
  let chars = all.reduce((sum, { content }) => sum + content.length, 0);
  while (chars > WORKER_LIMITS.conversationChars || all.length > WORKER_LIMITS.messages) {
    if (all.length <= kept + 1) break;
    const [dropped] = all.splice(kept, 1);
    chars -= dropped?.content.length ?? 0;
  }
  return all;
}
