import type { BusCondition } from "@vidro/core";
import { LoopLag } from "./loop-lag.ts";
import { Histogram, Series } from "./prometheus.ts";
import type { OpenRuns } from "../stores/store.ts";
import type { Descriptors, DiskRoom } from "./vitals.ts";

/** Number of hands in each state. */
export interface HandCount {
  readonly ok: number;
  readonly degraded: number;
  readonly down: number;
}

/** Measurements of the system and the store at one time. */
interface Vitals {
  readonly room: DiskRoom | undefined;
  readonly descriptors: Descriptors | undefined;
  /** The fault when they cannot be counted. */
  readonly runs: OpenRuns | Error;
  readonly damaged: number;
}

/** Buckets for commits, from memory to an overloaded disk. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Buckets for requests, model calls and actions. */
const WORK = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Every metric of the daemon; labels have few values, none of them chosen by clients. */
export class Metrics {
  readonly #all: (Series | Histogram)[] = [];
  readonly #lag = new LoopLag();
  /** Gives the number of hands in each state. */
  hands: () => HandCount = () => ({ ok: 0, degraded: 0, down: 0 });

  /** By `kind`: `task`, `answer`, `telemetry`. */
  readonly ingest = this.#series(
    "counter",
    "ingest_total",
    "Tasks, answers, remarks and telemetry samples received, by kind",
  );
  /** By `why`: `hand` when one hand exceeded its bound, `all` when all hands together did. */
  readonly samplesDropped = this.#series(
    "counter",
    "telemetry_dropped_total",
    "Telemetry samples dropped before their hour was over, by the bound that was exceeded",
  );
  readonly spansDropped = this.#series(
    "counter",
    "spans_dropped_total",
    "Spans of traces that their receiver did not take in time",
  );
  /** `started`, `finished`, `failed`, `aborted`. */
  readonly runs = this.#series("counter", "runs_total", "Runs that reached a state, by state");
  readonly steps = this.#series("counter", "steps_total", "Steps of runs, each with one call of the model");
  /** `ok`, `error`, `failed`, `unknown`. */
  readonly actions = this.#series("counter", "actions_total", "Actions of hands that ended, by outcome");
  /** `replied`, `failed`. */
  readonly modelCalls = this.#series("counter", "model_calls_total", "Calls of models that ended, by outcome");
  /** `input`, `output`; `cached` and `cache_write` are part of the input, `thinking` is part of the output. */
  readonly modelTokens = this.#series("counter", "model_tokens_total", "Tokens that models used, by direction");
  readonly modelCost = this.#series(
    "counter",
    "model_cost_usd_total",
    "US dollars that models cost, where prices are known",
  );
  readonly modelUnpriced = this.#series(
    "counter",
    "model_unpriced_tokens_total",
    "Tokens that models used whose price is not known",
  );
  readonly healings = this.#series("counter", "healings_total", "Healings that were tried");
  readonly requests = this.#series("counter", "http_requests_total", "HTTP requests, by method, path and status");
  readonly uncaught = this.#series(
    "counter",
    "uncaught_errors_total",
    "Errors that escaped every handler and reached the process",
  );
  readonly streams = this.#series("gauge", "streams_open", "Responses being streamed");
  /** Commits of records and other small writes are not in it. */
  readonly commit = this.#histogram(
    "journal_commit_seconds",
    "Time from an append to the journal until its entries are durable",
    COMMIT_SECONDS,
  );
  /** By `method`, `path` and `status`; a stream counts until its client leaves. */
  readonly requestTime = this.#histogram("http_request_seconds", "Time from a request to the end of its answer", WORK);
  /** By `outcome`, as `modelCalls`. */
  readonly modelTime = this.#histogram("model_call_seconds", "Time from a call of a model to its end", WORK);
  /** By `outcome`, as `actions`. */
  readonly actionTime = this.#histogram("action_seconds", "Time from the order of an action to its end", WORK);
  readonly storeFailures = this.#series("counter", "store_failures_total", "Writes that the store refused");
  /** 0 once a write has failed, until one succeeds. */
  readonly storeWritable = this.#series(
    "gauge",
    "store_writable",
    "1 if the last write to the store succeeded, else 0",
  );
  readonly descriptorsExhausted = this.#series(
    "counter",
    "descriptors_exhausted_total",
    "Health checks that found no free descriptor",
  );
  /** Connections that could not be accepted for lack of a descriptor. */
  refused = 0;

  readonly #disk = this.#series("gauge", "disk_bytes", "Size of the file system that holds the state, by use");
  readonly #openRuns = this.#series("gauge", "runs_open", "Open runs, by state");
  readonly #undriven = this.#series("gauge", "runs_undriven", "Open runs that no process drives");
  readonly #damaged = this.#series("gauge", "runs_damaged", "Runs whose journal was found damaged");
  readonly #descriptors = this.#series("gauge", "open_descriptors", "Descriptors that the process has open");
  readonly #descriptorLimit = this.#series("gauge", "max_descriptors", "Descriptors that the process may have open");
  readonly #lateness = this.#series(
    "gauge",
    "event_loop_lag_seconds",
    "Longest delay of the event loop in the last minute",
  );
  readonly #memory = this.#series("gauge", "resident_memory_bytes", "Resident memory of the process");
  readonly #heap = this.#series("gauge", "heap_bytes", "JavaScript heap, by use");
  readonly #uptime = this.#series("gauge", "uptime_seconds", "Time since the process started");
  readonly #busUp = this.#series("gauge", "bus_up", "1 if other brains can be reached by the bus, else 0");
  readonly #busDropped = this.#series("gauge", "bus_dropped", "Messages that the bus dropped since the start");
  readonly #busRoundTrip = this.#series(
    "gauge",
    "bus_round_trip_seconds",
    "Time of the last message to itself by the bus",
  );
  readonly #handStates = this.#series("gauge", "hands", "Hands, by state");

  constructor() {
    this.commit.show();
    this.storeWritable.set(1);
    // A series without a value is not shown, and a query on it finds nothing instead of zero.
    for (const alone of [
      this.steps,
      this.modelCost,
      this.modelUnpriced,
      this.healings,
      this.streams,
      this.uncaught,
      this.storeFailures,
      this.descriptorsExhausted,
    ])
      alone.inc(undefined, 0);
    for (const kind of ["task", "answer", "remark", "telemetry"]) this.ingest.inc({ kind }, 0);
    for (const why of ["hand", "all"]) this.samplesDropped.inc({ why }, 0);
    for (const state of ["started", "finished", "failed", "aborted"]) this.runs.inc({ state }, 0);
    for (const outcome of ["ok", "error", "failed", "unknown"]) this.actions.inc({ outcome }, 0);
    for (const outcome of ["replied", "failed"]) this.modelCalls.inc({ outcome }, 0);
    for (const direction of ["input", "output", "cached", "cache_write", "thinking"])
      this.modelTokens.inc({ direction }, 0);
  }

  /** All metrics in the text format of Prometheus. */
  text(): string {
    const { rss, heapUsed, heapTotal } = process.memoryUsage();
    this.#lateness.set(this.#lag.worstSeconds());
    this.#memory.set(rss);
    this.#heap.set(heapUsed, { use: "used" });
    this.#heap.set(heapTotal, { use: "total" });
    this.#uptime.set(process.uptime());
    for (const [state, count] of Object.entries(this.hands())) this.#handStates.set(count, { state });
    return this.#all.map((one) => one.text()).join("");
  }

  /** Stops measuring. */
  close(): void {
    this.#lag.close();
  }

  /** Sets the measurements of the system and the store; unknown ones keep their last value. */
  setVitals({ room, descriptors, runs, damaged }: Vitals): void {
    if (room !== undefined) {
      this.#disk.set(room.freeBytes, { use: "free" });
      this.#disk.set(room.usedBytes, { use: "used" });
      this.#disk.set(room.totalBytes, { use: "total" });
    }
    if (descriptors !== undefined && descriptors !== "exhausted") {
      this.#descriptors.set(descriptors.open);
      if (Number.isFinite(descriptors.limit)) this.#descriptorLimit.set(descriptors.limit);
    }
    this.#damaged.set(damaged);
    if (runs instanceof Error) return;
    this.#openRuns.set(runs.running, { state: "running" });
    this.#openRuns.set(runs.asking, { state: "asking" });
    this.#undriven.set(runs.undriven);
  }

  /** Sets how the bus is doing. */
  setBus({ isUp, dropped, roundTripMs }: BusCondition): void {
    this.#busUp.set(isUp ? 1 : 0);
    this.#busDropped.set(dropped);
    if (roundTripMs !== undefined) this.#busRoundTrip.set(roundTripMs / 1000);
  }

  #histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const histogram = new Histogram({ name: metricName(name), help }, bounds);
    this.#all.push(histogram);
    return histogram;
  }

  #series(type: "counter" | "gauge", name: string, help: string): Series {
    const series = new Series(type, { name: metricName(name), help });
    this.#all.push(series);
    return series;
  }
}

function metricName(name: string): string {
  return `vidro_${name}`;
}
