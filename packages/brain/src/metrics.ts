import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

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
  readonly #registry = new Registry();
  readonly #lag = monitorEventLoopDelay({ resolution: 20 });
  /** Where the state of the hands is asked for. */
  hands: () => HandCount = () => ({ ok: 0, degraded: 0, down: 0 });

  /** What came in from outside: `task`, `answer`. */
  readonly ingest = this.#counter("ingest_total", "Things taken in from outside, by kind", ["kind"]);
  /** `started`, `finished`, `failed`, `aborted`. */
  readonly runs = this.#counter("runs_total", "Runs that reached a state, by state", ["state"]);
  readonly steps = this.#counter("steps_total", "Turns of the loop, each with one call of the model", []);
  /** `ok`, `error`, `failed`, `unknown`. */
  readonly actions = this.#counter("actions_total", "Actions of hands that ended, by outcome", ["outcome"]);
  /** `replied`, `failed`. */
  readonly modelCalls = this.#counter("model_calls_total", "Calls of models that ended, by outcome", ["outcome"]);
  /** `input`, `output`. */
  readonly modelTokens = this.#counter("model_tokens_total", "Tokens that models used, by direction", ["direction"]);
  readonly healings = this.#counter("healings_total", "Healings that were tried", []);
  readonly requests = this.#counter("http_requests_total", "HTTP requests, by method, path and status", [
    "method",
    "path",
    "status",
  ]);
  readonly streams = this.#gauge("streams_open", "Answers that are being streamed", []);
  readonly commit = new Histogram({
    name: "vidro_journal_commit_seconds",
    help: "Time from handing entries to the journal until they are durable",
    buckets: COMMIT_SECONDS,
    registers: [this.#registry],
  });

  constructor() {
    this.#lag.enable();
    this.#asked("event_loop_lag_seconds", "How late timers fire, the worst since it was last asked", (gauge) => {
      gauge.set(Math.max(0, this.#lag.max) / NANOSECONDS);
      this.#lag.reset();
    });
    this.#asked("resident_memory_bytes", "Memory of the process", (gauge) => gauge.set(process.memoryUsage.rss()));
    this.#asked("uptime_seconds", "Time since the process started", (gauge) => gauge.set(process.uptime()));
    const hands = this.#gauge("hands", "Hands, by state", ["state"], () => {
      for (const [state, count] of Object.entries(this.hands())) hands.set({ state }, count);
    });
    // A counter that was never counted up is not shown, and a query on it finds nothing instead of zero.
    for (const kind of ["task", "answer"]) this.ingest.inc({ kind }, 0);
    for (const state of ["started", "finished", "failed", "aborted"]) this.runs.inc({ state }, 0);
    for (const outcome of ["ok", "error", "failed", "unknown"]) this.actions.inc({ outcome }, 0);
    for (const outcome of ["replied", "failed"]) this.modelCalls.inc({ outcome }, 0);
    for (const direction of ["input", "output"]) this.modelTokens.inc({ direction }, 0);
  }

  /** The media type of `text`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All numbers as Prometheus reads them. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Stops measuring. */
  close(): void {
    this.#lag.disable();
  }

  #counter(name: string, help: string, labelNames: readonly string[]): Counter {
    return new Counter({ name: `vidro_${name}`, help, labelNames: [...labelNames], registers: [this.#registry] });
  }

  #gauge(name: string, help: string, labelNames: readonly string[], collect?: () => void): Gauge {
    return new Gauge({
      name: `vidro_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      ...(collect === undefined ? {} : { collect }),
    });
  }

  #asked(name: string, help: string, look: (gauge: Gauge) => void): void {
    const gauge = this.#gauge(name, help, [], () => look(gauge));
  }
}
