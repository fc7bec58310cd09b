import { asFault, RUN_LIMITS } from "@vidro/core";
import type { Fault } from "@vidro/core";
import type { Log } from "../observe/log.ts";
import type { Runs } from "./runs.ts";

/**
 * What happens to runs that were open when the daemon started: they are resumed, or wait until a client asks for them.
 */
export type OnRestart = "resume" | "hold";

/** A run that could not be resumed. */
interface ResumeFailure {
  readonly run: string;
  readonly fault: Fault;
}

/** Result of one sweep. */
export interface SweepResult {
  readonly resumed: number;
  /** Failures that were not reported by an earlier sweep. */
  readonly refused: readonly ResumeFailure[];
}

/** Dependencies of the sweeper. */
interface SweeperDependencies {
  readonly runs: Pick<Runs, "undriven" | "resume">;
  readonly log: Log;
  readonly now: () => number;
}

/**
 * Resumes, every few seconds, the open runs that no living process drives: those of a process that was killed, and
 * those whose loop ended because the store refused their entries [G9].
 */
export class LeaseSweeper {
  readonly #deps: SweeperDependencies;
  /** Runs that could not be resumed, and when to try again. */
  readonly #refused = new Map<string, { readonly code: string; readonly restMs: number; readonly againAt: number }>();
  /** Runs that wait until a client asks for them. */
  readonly #held = new Set<string>();
  /** Fault code of the last sweep, when it failed. */
  #trouble: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(deps: SweeperDependencies) {
    this.#deps = deps;
  }

  /** Number of open runs known to have no driver: they could not be resumed, or are held. */
  get withoutDriver(): number {
    return this.#refused.size + this.#held.size;
  }

  /** Starts sweeping; resolves when the runs that were open are resumed, or held. */
  async start(onRestart: OnRestart): Promise<void> {
    if (onRestart === "resume") await this.#tell();
    else for (const run of await this.#deps.runs.undriven()) this.#held.add(run);
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.#tell().finally(() => (this.#sweeping = undefined));
    }, RUN_LIMITS.sweepMs).unref();
  }

  /** Stops sweeping. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  /** Resumes every open run without a driver, except runs that are held or failed a moment ago. */
  async sweep(): Promise<SweepResult> {
    const { runs, now } = this.#deps;
    const undriven = await runs.undriven();
    this.#forgetBut(new Set(undriven));
    const refused: ResumeFailure[] = [];
    let resumed = 0;
    for (const run of undriven) {
      if (this.#held.has(run) || (this.#refused.get(run)?.againAt ?? 0) > now()) continue;
      try {
        await runs.resume(run, { waitsForHand: true });
        this.#refused.delete(run);
        resumed += 1;
      } catch (thrown) {
        const fault = asFault(thrown);
        // Another process was faster.
        if (fault.code !== "RUN_BUSY" && this.#refuse(run, fault)) refused.push({ run, fault });
      }
    }
    return { resumed, refused };
  }

  #forgetBut(undriven: ReadonlySet<string>): void {
    for (const run of this.#held) if (!undriven.has(run)) this.#held.delete(run);
    for (const run of this.#refused.keys()) if (!undriven.has(run)) this.#refused.delete(run);
  }

  /** Remembers that a run could not be resumed; true when its fault is a new one. */
  #refuse(run: string, fault: Fault): boolean {
    const known = this.#refused.get(run);
    const restMs = Math.min((known?.restMs ?? RUN_LIMITS.refusedMs / 2) * 2, RUN_LIMITS.refusedCapMs);
    this.#refused.set(run, { code: fault.code, restMs, againAt: this.#deps.now() + restMs });
    return known?.code !== fault.code;
  }

  async #tell(): Promise<void> {
    const { log } = this.#deps;
    try {
      const { resumed, refused } = await this.sweep();
      this.#trouble = undefined;
      if (resumed > 0) log("runs.resumed", { runs: resumed });
      for (const { run, fault } of refused)
        log("run.resume_failed", { run_id: run, code: fault.code, reason: fault.message });
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      if (code !== this.#trouble) log("runs.search_failed", { code, reason: message });
      this.#trouble = code;
    }
  }
}
