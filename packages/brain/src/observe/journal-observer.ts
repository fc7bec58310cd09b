import { asFault } from "@vidro/core";
import type { ContextCompacted, Entry, Event, Journal, Outcome, Usage } from "@vidro/core";
import { forwardJournal } from "../stores/forward-journal.ts";
import type { Log, LogFields } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Receivers of what became durable. */
interface Observers {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Called at the end of each write to the journal, with what it threw, if it did. */
  readonly wrote?: (thrown?: unknown) => void;
}

/** Log fields of a run besides its id. */
interface RunNames {
  readonly session_id: string;
  readonly agent_id: string;
}

/** A run that this process has the lease of. */
interface LeasedRun {
  readonly names: RunNames | undefined;
  /** When its model call or action began; 0 when none is under way. */
  begunAt: number;
}

/** The same journal; each entry is counted and logged once it is durable. */
export function observeJournal(inner: Journal, observers: Observers): Journal {
  const { metrics } = observers;
  /** Runs that this process has the lease of. */
  const leased = new Map<string, LeasedRun>();
  const learn = (run: string, entries: readonly Entry[]): void =>
    void leased.set(run, { names: namesIn(entries), begunAt: 0 });
  // In a later turn of the event loop: callers that wait for the commit go on first.
  const note = (run: string, entries: readonly Entry[], known: LeasedRun | undefined): void => {
    setImmediate(() => {
      for (const { event, at } of entries) {
        count(event, metrics);
        if (known !== undefined) time({ event, at }, known, metrics);
        write(observers.log, event, { run_id: run, ...known?.names });
      }
    });
  };
  const tellLost = (run: string, thrown: unknown): void => {
    // Several writes under way fail together.
    if (asFault(thrown).code !== "LEASE_LOST" || !leased.delete(run)) return;
    observers.log("run.lease_lost", { run_id: run });
  };
  return {
    ...forwardJournal(inner),
    async create(run, entries, holder) {
      const made = await timeAppend(inner.create(run, entries, holder), observers);
      if (made.lease === undefined) return made;
      learn(run.id, entries);
      note(run.id, entries, leased.get(run.id));
      return made;
    },
    async append(lease, entries, beside) {
      // Looked up now: the lease may be released before the commit ends.
      const known = leased.get(lease.run);
      await timeAppend(inner.append(lease, entries, beside), observers).catch((thrown: unknown) => {
        tellLost(lease.run, thrown);
        throw thrown;
      });
      note(lease.run, entries, known);
    },
    async lease(run, holder) {
      const lease = await inner.lease(run, holder);
      // An unreadable run is refused later, when it is folded; here the lease must not get lost.
      learn(run, await inner.read(run, 0, 1).catch(() => []));
      return lease;
    },
    async renew(lease) {
      await inner.renew(lease).catch((thrown: unknown) => {
        tellLost(lease.run, thrown);
        throw thrown;
      });
    },
    async release(lease) {
      leased.delete(lease.run);
      await inner.release(lease);
    },
  };
}

/** Measures a commit and reports its end. */
async function timeAppend<Result>(commit: Promise<Result>, { metrics, wrote }: Observers): Promise<Result> {
  const begun = performance.now();
  try {
    const result = await commit;
    metrics.commit.observe((performance.now() - begun) / 1000);
    wrote?.();
    return result;
  } catch (thrown) {
    wrote?.(thrown);
    throw thrown;
  }
}

function namesIn([first]: readonly Entry[]): RunNames | undefined {
  return first?.event.type === "run.started"
    ? { session_id: first.event.thread, agent_id: first.event.hand }
    : undefined;
}

function count(event: Event, metrics: Metrics): void {
  switch (event.type) {
    case "run.started":
      metrics.ingest.inc({ kind: "task" });
      return metrics.runs.inc({ state: "started" });
    case "run.finished":
      return metrics.runs.inc({ state: "finished" });
    case "run.failed":
      return metrics.runs.inc({ state: "failed" });
    case "run.aborted":
      return metrics.runs.inc({ state: "aborted" });
    case "question.answered":
      return metrics.ingest.inc({ kind: "answer" });
    case "remark.made":
      return metrics.ingest.inc({ kind: "remark" });
    case "model.replied":
      metrics.steps.inc();
      metrics.modelCalls.inc({ outcome: "replied" });
      return countUsage(event.usage, metrics);
    case "model.failed":
      return metrics.modelCalls.inc({ outcome: "failed" });
    case "context.compacted":
      return countSummary(event, metrics);
    case "action.finished":
      return metrics.actions.inc({ outcome: isGood(event.outcome) ? "ok" : "error" });
    case "action.failed":
      return metrics.actions.inc({ outcome: "failed" });
    case "action.unknown":
      return metrics.actions.inc({ outcome: "unknown" });
    case "heal.tried":
      return metrics.healings.inc();
    default:
  }
}

function countSummary({ usage, fault, summarisedBy }: ContextCompacted, metrics: Metrics): void {
  if (usage !== undefined) countUsage(usage, metrics);
  if (summarisedBy !== undefined) metrics.modelCalls.inc({ outcome: "replied" });
  else if (fault !== undefined) metrics.modelCalls.inc({ outcome: "failed" });
}

function countUsage(usage: Usage, { modelTokens, modelCost, modelUnpriced }: Metrics): void {
  const {
    inputTokens,
    outputTokens,
    cachedTokens = 0,
    cacheWriteTokens = 0,
    thinkingTokens = 0,
    costUsd = 0,
    unpricedTokens = 0,
  } = usage;
  modelTokens.inc({ direction: "input" }, inputTokens);
  modelTokens.inc({ direction: "output" }, outputTokens);
  modelTokens.inc({ direction: "cached" }, cachedTokens);
  modelTokens.inc({ direction: "cache_write" }, cacheWriteTokens);
  modelTokens.inc({ direction: "thinking" }, thinkingTokens);
  modelUnpriced.inc(undefined, unpricedTokens);
  modelCost.inc(undefined, costUsd);
}

/** Measures the time from an intent to its outcome, by the times of their entries. */
function time({ event, at }: Omit<Entry, "seq">, known: LeasedRun, metrics: Metrics): void {
  if (event.type === "model.called" || event.type === "action.started") {
    known.begunAt = at;
    return;
  }
  // Unknown after a takeover by another process.
  if (known.begunAt === 0) return;
  const seconds = Math.max(0, at - known.begunAt) / 1000;
  if (event.type === "model.replied") metrics.modelTime.observe(seconds, { outcome: "replied" });
  else if (event.type === "model.failed") metrics.modelTime.observe(seconds, { outcome: "failed" });
  else if (event.type === "action.finished")
    metrics.actionTime.observe(seconds, { outcome: isGood(event.outcome) ? "ok" : "error" });
  else if (event.type === "action.failed") metrics.actionTime.observe(seconds, { outcome: "failed" });
  else if (event.type === "action.unknown") metrics.actionTime.observe(seconds, { outcome: "unknown" });
  else return;
  known.begunAt = 0;
}

function isGood(outcome: Outcome): boolean {
  return outcome.kind === "value" || outcome.exitCode === 0;
}

/** Logs that an event became durable; its content stays in the journal. */
function write(log: Log, event: Event, names: LogFields): void {
  const fields: { [name: string]: string | undefined } = {};
  if ("action" in event && event.action !== undefined)
    fields["action_id"] = typeof event.action === "string" ? event.action : event.action.id;
  if ("fault" in event) fields["code"] = event.fault.code;
  log(event.type, { ...names, ...fields });
}
