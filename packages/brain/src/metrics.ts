import { monitorEventLoopDelay } from "node:perf_hooks";
import { Histogram, Series } from "./series.ts";

/** How many hands are in each state. */
export interface HandCount {
  readonly ok: number;
  readonly degraded: number;
  readonly down: number;
}

const NANOSECONDS = 1e9;
/** From a commit in memory to a disk that is at its end. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Every number that the daemon tells Prometheus; labels have few values, none of them from outside. */
export class Metrics {
  readonly #all: (Series | Histogram)[] = [];
  readonly #lag = monitorEventLoopDelay({ resolution: 20 });
  /** Where the state of the hands is asked for. */
  hands: () => HandCount = () => ({ ok: 0, degraded: 0, down: 0 });

  /** What came in from outside: `task`, `answer`, `telemetry`. */
  readonly ingest = this.#series("counter", "ingest_total", "Things taken in from outside, by kind");
  /** `hand`: one hand told too much; `all`: all of them together did. */
  readonly samplesDropped = this.#series(
    "counter",
    "telemetry_dropped_total",
    "Samples of hands dropped before their hour was over, by whose bound it was",
  );
  /** `started`, `finished`, `failed`, `aborted`. */
  readonly runs = this.#series("counter", "runs_total", "Runs that reached a state, by state");
  readonly steps = this.#series("counter", "steps_total", "Turns of the loop, each with one call of the model");
  /** `ok`, `error`, `failed`, `unknown`. */
  readonly actions = this.#series("counter", "actions_total", "Actions of hands that ended, by outcome");
  /** `replied`, `failed`. */
  readonly modelCalls = this.#series("counter", "model_calls_total", "Calls of models that ended, by outcome");
  /** `input`, `output`. */
  readonly modelTokens = this.#series("counter", "model_tokens_total", "Tokens that models used, by direction");
  readonly healings = this.#series("counter", "healings_total", "Healings that were tried");
  readonly requests = this.#series("counter", "http_requests_total", "HTTP requests, by method, path and status");
  readonly uncaught = this.#series("counter", "uncaught_errors_total", "Errors that escaped to the process");
  readonly streams = this.#series("gauge", "streams_open", "Answers that are being streamed");
  readonly commit = new Histogram(
    { name: named("journal_commit_seconds"), help: "Time from handing entries to the journal until they are durable" },
    COMMIT_SECONDS,
  );

  readonly #worstLag = this.#series(
    "gauge",
    "event_loop_lag_seconds",
    "How late timers fire, the worst since last asked",
  );
  readonly #memory = this.#series("gauge", "resident_memory_bytes", "Memory of the process");
  readonly #uptime = this.#series("gauge", "uptime_seconds", "Time since the process started");
  readonly #handStates = this.#series("gauge", "hands", "Hands, by state");

  constructor() {
    this.#all.push(this.commit);
    this.#lag.enable();
    // A series that was never counted up is not shown, and a query on it finds nothing instead of zero.
    for (const alone of [this.steps, this.healings, this.streams, this.uncaught]) alone.inc(undefined, 0);
    for (const kind of ["task", "answer", "telemetry"]) this.ingest.inc({ kind }, 0);
    for (const why of ["hand", "all"]) this.samplesDropped.inc({ why }, 0);
    for (const state of ["started", "finished", "failed", "aborted"]) this.runs.inc({ state }, 0);
    for (const outcome of ["ok", "error", "failed", "unknown"]) this.actions.inc({ outcome }, 0);
    for (const outcome of ["replied", "failed"]) this.modelCalls.inc({ outcome }, 0);
    for (const direction of ["input", "output"]) this.modelTokens.inc({ direction }, 0);
  }

  /** All numbers as Prometheus reads them. */
  text(): string {
    this.#worstLag.set(Math.max(0, this.#lag.max) / NANOSECONDS);
    this.#lag.reset();
    this.#memory.set(process.memoryUsage.rss());
    this.#uptime.set(process.uptime());
    for (const [state, count] of Object.entries(this.hands())) this.#handStates.set(count, { state });
    return this.#all.map((one) => one.text()).join("");
  }

  /** Stops measuring. */
  close(): void {
    this.#lag.disable();
  }

  #series(type: "counter" | "gauge", name: string, help: string): Series {
    const series = new Series(type, { name: named(name), help });
    this.#all.push(series);
    return series;
  }
}

function named(name: string): string {
  return `vidro_${name}`;
}
