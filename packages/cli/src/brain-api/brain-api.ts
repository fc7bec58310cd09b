import type { FollowItem, StartRequest } from "@vidro/brain";
import type { Entry, RunHead } from "@vidro/core";

/**
 * What this process is to a run. driver: its questions and its end are this process's business. partner: the brain
 * drives it for somebody else, and a person here may answer. onlooker: another process drives it, and is asked there.
 */
export type Part = "driver" | "partner" | "onlooker";

/** What a run is started with: as the brain takes it, with its agent by uuid or name, and its hands by a selector. */
interface TaskRequest extends Omit<StartRequest, "agent" | "hand"> {
  readonly agent?: string;
  /** The words that choose its hands. */
  readonly hand?: string;
}

/** What the commands ask of a brain, be it in this process or behind a wire. Rejections are Faults. */
export interface Waist {
  /** Starts a run, or finds the one that its key belongs to. */
  start(request: TaskRequest): Promise<{ readonly run: RunHead; readonly existed: boolean }>;
  /** What this process is to the run from now on; one that nobody drives goes on. */
  join(run: string): Promise<Part>;
  /** Every entry after `after` and what is live, to the terminal entry; ends early when the signal fires. */
  follow(run: string, after: number, signal: AbortSignal): AsyncIterable<FollowItem>;
  /** The entries as they are now, up to `last`. */
  entries(run: string, last?: number): AsyncIterable<Entry>;
  /** Answers the open question of a run. */
  answer(run: string, answer: { readonly text: string; readonly by: string; readonly question: string }): Promise<void>;
  /** Ends a run; resolves when it is over. */
  abort(run: string, reason: string): Promise<void>;
  /** Where a run stands; NOT_FOUND when there is none. */
  find(run: string): Promise<RunHead>;
  /** Runs, newest first, from behind the run `after` on. */
  list(filter: {
    readonly open?: boolean;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly RunHead[]>;
  /** Drives nothing any more; open runs go on elsewhere or later. */
  letGo(): Promise<void>;
}
