import type { StartRequest } from "@vidro/brain";
import type {
  AgentApi,
  AlwaysRecord,
  RunStreamItem,
  HandApi,
  HookApi,
  KeptToolApi,
  KnowledgeApi,
  ScheduleApi,
} from "@vidro/client";
import type { Entry, JsonObject, ReasoningEffort, RunHead, SpendingRow } from "@vidro/core";

/**
 * All that commands ask of a brain. `embedded.ts` opens the brain of this home in this process, `remote.ts` calls one
 * that listens; a command does not know which of the two it has. Rejections are Faults: what only a daemon can do is
 * BRAIN_UNREACHABLE for an embedded brain.
 */
export interface BrainApi {
  /** Which brain it is, for people. */
  readonly place: string;
  /** The setting `model` of this command, when the brain was started with another and decides with its own. */
  readonly unusedModel?: string;
  readonly runs: BrainRuns;
  readonly agents: Pick<AgentApi, "list" | "find" | "create" | "delete">;
  readonly hands: BrainHands;
  readonly knowledge: Pick<KnowledgeApi, keyof KnowledgeApi>;
  readonly keptTools: Pick<KeptToolApi, "list" | "remove" | "promote">;
  readonly hooks: Pick<HookApi, "list" | "add" | "remove">;
  readonly schedules: Pick<ScheduleApi, "list" | "add" | "remove">;
  /** Names of the tools that a run may use: those of this machine's hand, and the brain's own. */
  tools(): Promise<readonly string[]>;
  /** Which model decides and why; undefined when the brain does not say. */
  decider(): Promise<string | undefined>;
  /** Address of the daemon's HTTP server. */
  address(): Promise<string>;
  /** Address of the daemon's web console that signs a browser in, once and soon. */
  consoleLink(): Promise<string>;
  /** Address of a page that answers the open question of a run, once and without signing in. */
  answerLink(run: string): Promise<string>;
  /** What the daemon says of itself: readiness, its checks, and counts of runs and hands. */
  status(): Promise<DaemonStatus>;
}

/**
 * What this process is to a run. driver: it answers the run's questions and ends it. partner: the brain drives it for
 * another client, and a person here may answer. onlooker: another process drives it, and is asked there.
 */
export type RunRole = "driver" | "partner" | "onlooker";

/** What a run is started with: as the brain takes it, with its agent by uuid or name, and its hands by a selector. */
interface TaskRequest extends Omit<StartRequest, "agent" | "hand" | "sampling"> {
  readonly agent?: string;
  readonly hand?: string;
  /** How long the model thinks. */
  readonly effort?: ReasoningEffort;
}

/** What a run waits for: a brain or a hand, and since when, in milliseconds since the epoch. */
export interface Obstacle {
  readonly who: string;
  readonly what: "is down" | "does not answer";
  readonly since?: number;
}

/** The runs of a brain. */
export interface BrainRuns {
  /** Starts a run, or finds the one that its key belongs to. */
  start(request: TaskRequest): Promise<{ readonly run: RunHead; readonly existed: boolean }>;
  /** Starts a run with the prompt of another one up to an entry. */
  fork(run: string, how: { readonly at?: number; readonly text?: string; readonly model?: string }): Promise<RunHead>;
  /** Takes part in a run and tells in which role; a run without a driver is driven on. */
  join(run: string): Promise<RunRole>;
  /** Every entry after `after`, with live events, to the terminal entry; ends early when the signal fires. */
  follow(run: string, after: number, signal: AbortSignal): AsyncIterable<RunStreamItem>;
  /** The entries that there are now, up to `last`. */
  entries(run: string, last?: number): AsyncIterable<Entry>;
  /** Answers the open question of a run. */
  answer(run: string, answer: { readonly text: string; readonly by: string; readonly question: string }): Promise<void>;
  /** The rule that the answer "yes, always" would add, and the earlier actions that it would have allowed. */
  always(run: string): Promise<AlwaysRecord>;
  /** Says something to a run at work; the model is told with its next step. The same words under one id count once. */
  say(run: string, remark: { readonly id: string; readonly text: string; readonly by: string }): Promise<void>;
  /** Ends a run; resolves when it is over. */
  abort(run: string, reason: string): Promise<void>;
  /** Where a run stands; NOT_FOUND when there is none. */
  find(run: string): Promise<RunHead>;
  /** Runs, newest first, from behind the run `after` on. */
  list(filter: {
    readonly open?: boolean;
    readonly thread?: string;
    readonly ending?: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly RunHead[]>;
  /** What models used and cost by day or thread, newest first. */
  usage(
    by: "day" | "thread",
    filter: { readonly since: number; readonly limit: number },
  ): Promise<readonly SpendingRow[]>;
  /** What keeps a run on these hands from going on: the brain is silent, or a hand is away. Undefined: nothing. */
  obstacle(hands: string): Promise<Obstacle | undefined>;
  /** Stops driving runs and waiting for lost connections; open runs go on elsewhere or later. */
  detach(): Promise<void>;
}

/** The hands of a brain. */
export interface BrainHands extends Pick<
  HandApi,
  "list" | "find" | "revoke" | "quarantine" | "release" | "rotateKey" | "allowAddress" | "dial"
> {
  /** Makes an invitation for a host; its secret is given this once. */
  invite(invitation: InvitationRequest): Promise<JsonObject>;
}

/** Whom to invite, and for how long. */
interface InvitationRequest {
  readonly lifeMs: number;
  readonly name?: string;
  readonly tags?: readonly string[];
  /** The host has Vidro already. */
  readonly installed?: boolean;
}

/** A daemon's own report, as it came. */
interface DaemonStatus {
  /** The answer of `/readyz`. */
  readonly ready: JsonObject;
  /** The answer of `/agent/status`. */
  readonly agent: JsonObject;
}
