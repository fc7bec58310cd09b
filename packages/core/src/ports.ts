import type { Surroundings } from "./run-facts.ts";
import type { Entry, HealTried, LiveEvent, Turn, Usage } from "./event.ts";
import type { FaultReport } from "./fault.ts";
import type { JsonObject } from "./json.ts";
import type { Sampling, ToolChoice } from "./sampling.ts";
import type { UsageTotal } from "./spending.ts";
import type { VendorParts } from "./reply-parts.ts";
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
  /** Why the journal cannot be read; set when the file is damaged, and `seq` and `updatedAt` are unknown then. */
  readonly damaged?: string;
}

/** The right to append to a run; a higher epoch ends every lower one. */
export interface Lease {
  readonly run: string;
  readonly epoch: number;
}

/** The process that asks for a lease. On the same host it can be checked whether it still lives. */
export interface LeaseHolder {
  readonly host: string;
  readonly boot: string;
  readonly pid: number;
  /** Start time of the process, which distinguishes it from a later one with the same pid. */
  readonly started: string;
}

/** Ids and owner of a new run. */
export interface NewRun {
  readonly id: string;
  readonly owner: string;
  readonly thread: string;
  /** The caller's idempotency key: the same key of the same owner gives the same run. */
  readonly key?: string;
  /** What only one open run of an owner may have: while it is open, another create with the same gives that run. */
  readonly sole?: string;
  /** Records that are made in the commit of the run, or not at all; one that is there stays as it is. */
  readonly beside?: readonly NewRecord[];
}

/**
 * The append-only list of entries of each run.
 * Rejections are Faults. What `append` resolved survives kill -9 and power loss.
 */
export interface Journal {
  /**
   * Creates a run with its first entries and a lease on it, in one commit.
   * With a known idempotency key, or what an open run has as its `sole`, it returns that run, unchanged and without a
   * lease.
   */
  create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }>;
  /**
   * Appends entries whose first `seq` must follow the last one (else CONFLICT) under a lease that still holds
   * (else LEASE_LOST). Calls are carried out in order; those of one turn of the event loop share one commit.
   * Appending identical entries again is a no-op, so that a call that ended with COMMIT_UNKNOWN can be repeated.
   * The records `beside` are made in the same commit, or not at all; one that is there stays as it is.
   */
  append(lease: Lease, entries: readonly Entry[], beside?: readonly NewRecord[]): Promise<void>;
  /** The entries with `seq` greater than `after`, in order, at most `limit`. Rejects with JOURNAL_CORRUPT where the chain is broken or the file is damaged, with STORE_NEWER at an entry of a type that this version does not know. */
  read(run: string, after: number, limit: number): Promise<readonly Entry[]>;
  /** Status and position of a run. */
  head(run: string): Promise<RunHead | undefined>;
  /**
   * Newest first; with `after`, only runs older than that one (NOT_FOUND when there is no such run). A run with a damaged
   * journal is listed with `damaged`, and the others are not affected.
   */
  list(filter: {
    readonly open?: boolean;
    readonly owner?: string;
    readonly thread?: string;
    /** Only runs whose id ends so. */
    readonly ending?: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly RunHead[]>;
  /** Open runs without a driver, oldest first: the lease was released or has expired, or its holder is dead. */
  undriven(limit: number): Promise<readonly string[]>;
  /** Takes the lease of a run: RUN_BUSY while its holder lives and the lease has not expired. */
  lease(run: string, holder: LeaseHolder): Promise<Lease>;
  /** Extends the lease for another term; LEASE_LOST when another holder has it. */
  renew(lease: Lease): Promise<void>;
  /** Releases the lease; a no-op when it is lost already. */
  release(lease: Lease): Promise<void>;
  /** Calls `wake` after each commit to the run, also by another process. Returns a function that stops it. */
  watch(run: string, wake: () => void): () => void;
  /** Checks the hash chain of a run: the number of valid entries, and the first break. */
  verify(run: string): Promise<{ readonly entries: number; readonly brokenAt?: number; readonly reason?: string }>;
  /** Commits pending entries and closes. */
  close(): Promise<void>;
}

/** How far the seals of a store have a run. */
export interface RunSealReport {
  /** Seals that have the run. */
  readonly seals: number;
  /** SHA-256 of the key that they are checked with. */
  readonly key: string;
  /** The last entry that is sealed; 0 for none. */
  readonly upTo: number;
  /** When it was sealed; undefined when none is. */
  readonly at: number | undefined;
}

/** Checks the seals that have this run against it, but not whether all seals are there, and reports each difference. */
export type CheckRunSeals = (run: string, tell: (finding: string) => void) => RunSealReport;

// ---------------------------------------------------------------------------------------------- spending

/** The spending of a day or thread of one owner. */
export interface SpendingRow extends UsageTotal {
  /** The day as `2026-12-01` in UTC, or the id of the thread. */
  readonly key: string;
  readonly owner: string;
  /** When the last entry was counted, in milliseconds since the epoch. */
  readonly updatedAt: number;
}

/**
 * What models used and cost, summed up by day and by thread. Each entry of a journal is counted once, in the commit that
 * appends it. Deleting a run changes no day; a thread is forgotten with its last run.
 */
export interface SpendingSums {
  /** The sum of a day of UTC (`2026-12-01`) or a thread, of all owners. */
  sum(by: "day" | "thread", key: string): Promise<UsageTotal>;
  /** Sums whose last entry is not older than `since`, newest first, at most `limit`; of all owners unless one is named. */
  list(
    by: "day" | "thread",
    filter: { readonly owner?: string; readonly since: number; readonly limit: number },
  ): Promise<readonly SpendingRow[]>;
}

// ---------------------------------------------------------------------------------------------- records

/** A record stored beside the journals: a token, an agent, a thread, an answer kept for its idempotency key. */
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

/** A record to be stored. */
export type NewRecord = Pick<StoredRecord, "kind" | "id" | "owner" | "body">;

/** Small durable records by kind and id. Rejections are Faults; a resolved `put` survives kill -9 and power loss. */
export interface Records {
  get(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** Creates or replaces a record; CONFLICT when `version` is given and is not the stored one (0: no record). */
  put(record: NewRecord, version?: number): Promise<StoredRecord>;
  /** Resolves to whether the record existed. */
  delete(kind: string, id: string): Promise<boolean>;
  /** Lists in the given order; with `after`, only records behind that one (NOT_FOUND when there is no such record). */
  list(
    kind: string,
    filter: {
      readonly owner?: string;
      readonly after?: string;
      readonly limit: number;
      readonly order?: "oldest" | "newest";
    },
  ): Promise<readonly StoredRecord[]>;
  /** Calls `wake` after each change of a record of the kind, also by another process. Returns a function that stops it. */
  watch(kind: string, wake: () => void): () => void;
}

// ---------------------------------------------------------------------------------------------- the model

/** The input of one call of a model. */
export interface ModelRequest {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolSpec[];
  /** What the model must or must not call in this reply; when absent, the model chooses. */
  readonly choice?: ToolChoice;
  readonly sampling?: Sampling;
  /** The model has called tools natively in this run, so that its text is prose. */
  readonly native?: true;
  /** Names of the models whose servers refused tools in this run. */
  readonly inText?: readonly string[];
  /** The last turn asks for a summary of the conversation. */
  readonly isSummary?: true;
  /** The place of this call in a trace, for the model's server. */
  readonly traceparent?: string;
}

/** A tool call as the model made it; `input` is the raw text when it is not a JSON object. */
export interface ModelCall {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject | string;
  /** The model wrote the call into its text: it is no sign that it calls tools natively. */
  readonly written?: true;
}

/** The result of one call of a model. */
export interface ModelReply {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage: Usage;
  /** The reply reached its token limit and is incomplete. */
  readonly cutShort?: true;
  /** The model is known to call tools natively, even if this reply has no call. */
  readonly native?: true;
  /** Tokens of the model's window, where its server names them. */
  readonly window?: number;
  /** The reply in the parts that the vendor gave it, in order; each call of `calls` is one of them. */
  readonly parts?: VendorParts;
  /** The text is an answer that says that the task was not done: not understood, refused or failed. */
  readonly unmet?: true;
}

/**
 * What a model streams; `replied` and `failed` are terminal. Deltas join to the text of the reply and carry the same
 * `native` flag, thinking to that among its parts; `healed` starts another answer and voids what came before it.
 */
export type ModelEvent =
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "delta"; readonly text: string; readonly native?: true }
  | { readonly type: "healed"; readonly heal: HealTried }
  | { readonly type: "replied"; readonly reply: ModelReply }
  | { readonly type: "failed"; readonly fault: FaultReport };

/** A model: it decides the next step of a run. */
export interface Model {
  /** Display name: `openai/gpt-5`, `offline`. */
  readonly name: string;
  /** Tokens of its window, where it is known. */
  readonly window?: number;
  /** Its replies carry their cost. */
  readonly isPriced?: true;
  /** It costs nothing, so that no bound on costs concerns it. */
  readonly isFree?: true;
  /** It can write a summary of its conversation. */
  readonly summarises?: true;
  /** It takes PDFs as files; for others their text is enough, and the files are not kept. */
  readonly takesPdfs?: true;
  /** Streams one answer; an aborted call ends with `failed`. */
  call(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

// ---------------------------------------------------------------------------------------------- the hand

/** An order to a hand. */
export interface Order {
  readonly action: Action;
  /** Hash of the plan that a person approved; set when the verdict was to ask. */
  readonly approved?: string;
  /** Epoch of the brain's lease; a hand refuses an epoch lower than the highest it has seen for that run. */
  readonly epoch: number;
  readonly run: string;
  /** The order expires this long after the hand received it. 0 makes it a recall: it starts nothing. */
  readonly ttlMs: number;
  /** Mark of the ledger that judged the action; a ledger that does not know this mark may have lost the outcome. */
  readonly ledger?: string;
  /** Who ordered, at a hand that serves several brains; actions of one are not visible to another. */
  readonly by?: string;
  /** It ends a process of a run that is over: kept for a hand that is away, until the hand has carried it out. */
  readonly isEnding?: true;
  /** The brain's signature over the approval, for a hand that has pinned the brain's key. */
  readonly warrant?: string;
  /** Why the hand's end of the link rejects the approval. */
  readonly unproven?: FaultReport;
  /** The place of this order in a trace. */
  readonly traceparent?: string;
}

/** What a hand streams; all but `output` are terminal. */
export type HandEvent =
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly chunk: string }
  | ActionEnd;

/** A piece of the whole output of a process, as the hand has spooled it. */
export interface SpoolPart {
  /** The bytes in base64; none at the end of the spool. */
  readonly data: string;
  /** Size of the whole spool. */
  readonly bytes: number;
}

/** A hand: it executes actions. */
export interface Hand {
  readonly id: string;
  /** The folder in which the hand works. */
  readonly workspace: string;
  /** The tools it offers. */
  readonly tools: readonly ToolSpec[];
  /** Public key of the receipts that it signs, in hexadecimal digits; absent when it signs none. */
  readonly receiptKey?: string;
  /** Facts about its host and workspace for the prompt of a run; never rejects. Absent when it cannot be asked. */
  surroundings?(): Promise<Surroundings>;
  /** Freezes an action into a plan and judges it, without an effect. Resolves to a fault when there is no plan. */
  judge(action: Action): Promise<Judgement | FaultReport>;
  /**
   * Carries the action out at most once: a second order under the same id gets the first one's outcome, or `unknown`
   * when the ledger does not know it. Aborting ends the whole process tree before the terminal event; an order whose
   * signal is aborted already stops what an earlier order started, and starts nothing.
   */
  perform(order: Order, signal: AbortSignal): AsyncIterable<HandEvent>;
  /**
   * Adds the rule that `judge` named to the hand's policy and gives its id; only a hand whose policy belongs to the
   * brain's own user has it. PLAN_CHANGED when the action has another plan than the approved one by now.
   */
  allowAlways?(action: Action, approved: string): Promise<string | FaultReport>;
  /** The spooled output of an action from a byte on, as far as one message holds; a fault when it is not kept. */
  readSpool?(action: Action, from: number): Promise<SpoolPart | FaultReport>;
  /** Tells the hand that the outcome is on the brain's disk: the hand may delete it after its retention time. */
  acknowledge(action: string, by?: string): Promise<void>;
  /**
   * Calls `wake` when the hand is connected again, or has reported the end of an action that no order waits for.
   * Returns a function that stops it. A hand that cannot be disconnected has no `watch`.
   */
  watch?(wake: () => void): () => void;
  /** Whether processes run in the background that end when the hand is closed. */
  isKeeping?(): boolean;
  /** Ends every process of the hand that is not kept, then returns. */
  close(): Promise<void>;
}

// ---------------------------------------------------------------------------------------------- what is live

/** A live event, and the last entry that came before it. */
export interface LiveItem {
  readonly after: number;
  readonly event: LiveEvent;
}

/** Delivers live events of runs to followers in this process. */
export interface LiveBus {
  /** Passes the event to every follower of the run, without waiting for them; one without text is dropped. */
  publish(run: string, live: LiveItem): void;
  /** Calls `hear` for each live event of the run, and at once for what a model has said since the last entry. Returns a function that stops it. */
  watch(run: string, hear: (live: LiveItem) => void): () => void;
}
