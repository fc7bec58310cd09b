import type { Entry, HealTried, LiveEvent, Sampling, ToolChoice, Turn, Usage } from "./event.ts";
import type { FaultReport } from "./fault.ts";
import type { JsonObject } from "./json.ts";
import type { Action, ActionEnd, Judgement, ToolSpec } from "./tool.ts";

/*
 * The whole hexagon on one page. The engine knows nothing else of the world.
 * No stream of a port throws: it ends with exactly one terminal event, also when it is aborted.
 */

// ---------------------------------------------------------------------------------------------- the journal

/** Where a run stands, as the store lists it. */
export type RunStatus = "running" | "asking" | "finished" | "failed" | "aborted";

/** A run in a list. */
export interface RunHead {
  readonly id: string;
  /** Whose run it is. */
  readonly owner: string;
  readonly thread: string;
  readonly task: string;
  readonly status: RunStatus;
  readonly seq: number;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Why its journal cannot be read, where the file is damaged: then `seq` and `updatedAt` are not known. */
  readonly damaged?: string;
}

/** The right to append to a run; a higher epoch ends every lower one. */
export interface Lease {
  readonly run: string;
  readonly epoch: number;
}

/** Who asks for a lease: a process that can be told dead from alive on its own host. */
export interface LeaseHolder {
  readonly host: string;
  readonly boot: string;
  readonly pid: number;
  /** Start time of that pid, so that a pid that was reused is not taken for its predecessor. */
  readonly started: string;
}

/** What a new run is called. */
export interface NewRun {
  readonly id: string;
  readonly owner: string;
  readonly thread: string;
  /** The caller's idempotency key: the same key of the same owner gives the same run. */
  readonly key?: string;
}

/**
 * The truth: an append-only list of entries for each run.
 * Rejections are Faults. What `append` resolved survives kill -9 and power loss.
 */
export interface Journal {
  /**
   * Makes a run with its first entries and a lease on it, in one commit.
   * A key that is known gives the run it belongs to, unchanged and without a lease.
   */
  create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }>;
  /**
   * Appends entries whose first `seq` must follow the last one (else CONFLICT) under a lease that still holds
   * (else LEASE_LOST). Calls are carried out in order; those of one turn of the event loop share one commit.
   * Entries that are there already, to the letter, are left as they are: a call whose outcome is not known
   * (COMMIT_UNKNOWN) may be repeated.
   */
  append(lease: Lease, entries: readonly Entry[]): Promise<void>;
  /** The entries with `seq` greater than `after`, in order, at most `limit`. Rejects with JOURNAL_CORRUPT where the chain is broken or the file is damaged, with STORE_NEWER at an entry of a type that this version does not know. */
  read(run: string, after: number, limit: number): Promise<readonly Entry[]>;
  /** Where a run stands. */
  head(run: string): Promise<RunHead | undefined>;
  /**
   * Newest first, those begun before the run `after` when it is given; NOT_FOUND when there is no such run. A run whose
   * journal is damaged is in it and says so, and the others are not affected.
   */
  list(filter: {
    readonly open?: boolean;
    readonly owner?: string;
    readonly thread?: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly RunHead[]>;
  /** Open runs that no living process drives, oldest first: their lease was given back, has run out, or its holder is dead. */
  undriven(limit: number): Promise<readonly string[]>;
  /** Takes over a run that nobody drives: RUN_BUSY while its holder lives and its lease has not run out. */
  lease(run: string, holder: LeaseHolder): Promise<Lease>;
  /** Holds the lease for another term; LEASE_LOST when somebody else has it. */
  renew(lease: Lease): Promise<void>;
  /** Gives the lease back; harmless when it is lost already. */
  release(lease: Lease): Promise<void>;
  /** Calls `wake` after each commit that touched the run, also by another process; returns how to stop. */
  watch(run: string, wake: () => void): () => void;
  /** Checks the hash chain of a run: how many entries are sound, and where the first break is. */
  verify(run: string): Promise<{ readonly entries: number; readonly brokenAt?: number; readonly reason?: string }>;
  /** Commits what is waiting and closes. */
  close(): Promise<void>;
}

// ---------------------------------------------------------------------------------------------- records

/** A thing that is kept beside the journals: a token, an agent, a thread, an answer that may be asked for again. */
export interface StoredRecord {
  readonly kind: string;
  readonly id: string;
  readonly owner: string;
  readonly body: JsonObject;
  /** Grows by one with each change. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Small durable things by kind and id. Rejections are Faults; what `put` resolved survives kill -9 and power loss. */
export interface Records {
  get(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** Makes or replaces a record; CONFLICT when `version` is given and it is not the one that is there (0: none). */
  put(record: Pick<StoredRecord, "kind" | "id" | "owner" | "body">, version?: number): Promise<StoredRecord>;
  /** Whether there was one to delete. */
  delete(kind: string, id: string): Promise<boolean>;
  /** Oldest first, or newest first, those behind `after` when it is given; NOT_FOUND when there is no such record. */
  list(
    kind: string,
    filter: {
      readonly owner?: string;
      readonly after?: string;
      readonly limit: number;
      readonly order?: "oldest" | "newest";
    },
  ): Promise<readonly StoredRecord[]>;
  /** Calls `wake` after each change of a record of the kind, also by another process; returns how to stop. */
  watch(kind: string, wake: () => void): () => void;
}

// ---------------------------------------------------------------------------------------------- the model

/** All that a model gets. */
export interface ModelRequest {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolSpec[];
  /** What the model must or must not call in this reply; left to the model without it. */
  readonly choice?: ToolChoice;
  readonly sampling?: Sampling;
}

/** A tool call as the model made it; `input` is the raw text when it was no JSON object. */
export interface ModelCall {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject | string;
}

/** All that a model gives. */
export interface ModelReply {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage: Usage;
  /** It ended because it was as long as it may be. */
  readonly cutShort?: true;
  /** Whether the model is known to call tools natively, also where this reply has no call. */
  readonly native?: true;
}

/**
 * What a model streams; `replied` and `failed` are terminal. Deltas join to the text of the reply, and say as it does
 * that the model calls tools natively; `healed` means that another answer begins, and voids those before it.
 */
export type ModelEvent =
  | { readonly type: "delta"; readonly text: string; readonly native?: true }
  | { readonly type: "healed"; readonly heal: HealTried }
  | { readonly type: "replied"; readonly reply: ModelReply }
  | { readonly type: "failed"; readonly fault: FaultReport };

/** Anything that decides what to do next. */
export interface Model {
  /** As a person would name it: `openai/gpt-5`, `offline`. */
  readonly name: string;
  /** Streams one answer; an aborted call ends with `failed`. */
  call(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

// ---------------------------------------------------------------------------------------------- the hand

/** An order to a hand. */
export interface Order {
  readonly action: Action;
  /** The plan hash that a person approved, when the verdict was to ask. */
  readonly approved?: string;
  /** Epoch of the brain's lease; a hand refuses one that is lower than the highest it has seen for that run. */
  readonly epoch: number;
  readonly run: string;
  /** The order is void this long after the hand received it; with 0 it begins nothing and asks what is known. */
  readonly ttlMs: number;
  /** Where the ledger stood that judged the action: one that does not go on from there may have lost its outcome. */
  readonly ledger?: string;
  /** Whose order it is, at a hand that takes orders of several: what one began is nothing that another is told of. */
  readonly by?: string;
  /** The brain's signature over the approval, for a hand that has pinned the brain's key. */
  readonly warrant?: string;
  /** Why the approval does not count, as the hand's end of the link has found. */
  readonly unproven?: FaultReport;
}

/** What a hand streams; all but `output` are terminal. */
export type HandEvent =
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly chunk: string }
  | ActionEnd;

/** Anything that executes. */
export interface Hand {
  readonly id: string;
  /** The folder in which the hand works. */
  readonly workspace: string;
  /** The tools it offers. */
  readonly tools: readonly ToolSpec[];
  /** The public key of the receipts that it signs, in hexadecimal digits; a hand without a key signs none. */
  readonly receiptKey?: string;
  /** Freezes and judges an action without doing anything: the judgement, or the fault that the action would meet. */
  judge(action: Action): Promise<Judgement | FaultReport>;
  /**
   * Does the action at most once for all time: a second order under the same id gets the first one's outcome,
   * `unknown` when that cannot be known, also because another ledger judged it. Aborting ends the whole process tree
   * before the terminal event; an order whose signal is aborted already ends what an earlier one began, and begins
   * nothing.
   */
  perform(order: Order, signal: AbortSignal): AsyncIterable<HandEvent>;
  /** Who ordered has the outcome on disk: the hand may forget it after its retention time. */
  acknowledge(action: string, by?: string): Promise<void>;
  /**
   * Calls `wake` when a hand that was away is there again, or has said how an action ended that nobody waited for any
   * more; returns how to stop. A hand that is always there has none.
   */
  watch?(wake: () => void): () => void;
  /** Ends every process of the hand, then returns. */
  close(): Promise<void>;
}

// ---------------------------------------------------------------------------------------------- what is live

/** A live event, and the last entry that came before it. */
export interface LiveItem {
  readonly after: number;
  readonly event: LiveEvent;
}

/** Live events of runs in this process, for whoever watches. */
export interface LiveBus {
  /** Tells everybody who watches the run; nobody is waited for. */
  publish(run: string, live: LiveItem): void;
  /** Calls `hear` for each live event; returns how to stop. */
  watch(run: string, hear: (live: LiveItem) => void): () => void;
}
