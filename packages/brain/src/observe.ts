import type { Entry, Event, EventType, Journal, Outcome } from "@vidro/core";
import type { Level, Log, LogFields } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Who is told of what became durable. */
export interface Observers {
  readonly metrics: Metrics;
  readonly log: Log;
}

/** What the log calls a run, beside its id. */
interface Names {
  readonly session_id: string;
  readonly agent_id: string;
}

/** The journal itself, and each entry is counted and logged once it is durable. */
export function observed(inner: Journal, observers: Observers): Journal {
  const { metrics } = observers;
  /** Runs that this process has the lease of. */
  const names = new Map<string, Names | undefined>();
  const timed = async <Result>(commit: Promise<Result>): Promise<Result> => {
    const begun = performance.now();
    const result = await commit;
    metrics.commit.observe((performance.now() - begun) / 1000);
    return result;
  };
  // In a turn of its own: whoever waits for the commit goes on first.
  const note = (run: string, entries: readonly Entry[], known: Names | undefined): void => {
    setImmediate(() => {
      for (const { event } of entries) {
        count(event, metrics);
        write(observers.log, event, { run_id: run, ...known });
      }
    });
  };
  return {
    async create(run, entries, holder) {
      const made = await timed(inner.create(run, entries, holder));
      if (made.lease === undefined) return made;
      names.set(run.id, namesIn(entries));
      note(run.id, entries, names.get(run.id));
      return made;
    },
    async append(lease, entries) {
      // Looked up now: the lease may be given back before the commit is through.
      const known = names.get(lease.run);
      await timed(inner.append(lease, entries));
      note(lease.run, entries, known);
    },
    async lease(run, holder) {
      const lease = await inner.lease(run, holder);
      // A run that cannot be read is refused by who takes it over; the lease must not be lost on the way there.
      names.set(run, namesIn(await inner.read(run, 0, 1).catch(() => [])));
      return lease;
    },
    async release(lease) {
      names.delete(lease.run);
      await inner.release(lease);
    },
    read: (run, after, limit) => inner.read(run, after, limit),
    head: (run) => inner.head(run),
    list: (filter) => inner.list(filter),
    undriven: (limit) => inner.undriven(limit),
    renew: (lease) => inner.renew(lease),
    watch: (run, wake) => inner.watch(run, wake),
    verify: (run) => inner.verify(run),
    close: () => inner.close(),
  };
}

function namesIn([first]: readonly Entry[]): Names | undefined {
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
    case "model.replied":
      metrics.steps.inc();
      metrics.modelCalls.inc({ outcome: "replied" });
      metrics.modelTokens.inc({ direction: "input" }, event.usage.inputTokens);
      return metrics.modelTokens.inc({ direction: "output" }, event.usage.outputTokens);
    case "model.failed":
      return metrics.modelCalls.inc({ outcome: "failed" });
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

function isGood(outcome: Outcome): boolean {
  return outcome.kind === "value" || outcome.exitCode === 0;
}

/** What went wrong is worth a warning; what was said and done is in the journal and not in the log. */
const LEVELS: { readonly [Type in EventType]?: Level } = {
  "run.failed": "warn",
  "model.failed": "warn",
  "action.unknown": "warn",
  "heal.tried": "warn",
};

function write(log: Log, event: Event, names: LogFields): void {
  const fields: { [name: string]: string | undefined } = {};
  if ("action" in event && event.action !== undefined)
    fields["action_id"] = typeof event.action === "string" ? event.action : event.action.id;
  if ("fault" in event) fields["code"] = event.fault.code;
  log(LEVELS[event.type] ?? "info", event.type, { ...names, ...fields });
}
