import { FOLLOW_LIMITS, TRACE_LIMITS } from "@vidro/core";
import type { Entry, Journal, RunStarted } from "@vidro/core";
import { readTraceparent, SpanExporter, traceSettings, writeTraceparent } from "@vidro/core/trace";
import type { TraceSpan, TraceSettings } from "@vidro/core/trace";
import { forwardJournal } from "../../stores/forward-journal.ts";
import { RunSpans } from "./run-spans.ts";
import { spanIdOf, traceOf } from "./span-ids.ts";

/** What a brain tells its traces. */
interface TracerOptions {
  readonly env: { readonly [name: string]: string | undefined };
  readonly version: string;
  /** Called with the number of spans that were lost. */
  readonly dropped: (spans: number) => void;
}

/** Traces of the runs of a brain: spans are a fold of the journals, and go to the receiver that the environment names. */
export class RunTracer {
  readonly #settings: TraceSettings;
  readonly #exporter: SpanExporter;
  /** Runs that this process drives. */
  readonly #runs = new Map<string, RunSpans>();

  private constructor(settings: TraceSettings, { version, dropped }: TracerOptions) {
    this.#settings = settings;
    this.#exporter = new SpanExporter(settings, {
      post: (url, { headers, body, timeoutMs }) =>
        fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) }),
      later: (ms, call) => void setTimeout(call, ms).unref(),
      dropped,
      resource: { "service.version": version },
    });
  }

  /** The traces that the environment asks for; undefined when it asks for none. */
  static open(options: TracerOptions): RunTracer | undefined {
    const settings = traceSettings(options.env);
    return settings === undefined ? undefined : new RunTracer(settings, options);
  }

  /** Takes a span of this process, such as one of its own hand. */
  readonly add = (span: TraceSpan): void => this.#exporter.add(span);

  readonly isTrace = (text: string): boolean => readTraceparent(text) !== undefined;

  /** The place in its trace of a call of the model or of an action, for the process that it goes to. */
  readonly traceparent = (run: string, started: RunStarted, key: string): string => {
    const { traceId, isSampled } = traceOf(run, started);
    const isRecorded = this.#settings.samples(traceId, isSampled);
    return writeTraceparent({ traceId, spanId: spanIdOf(run, key), isSampled: isRecorded });
  };

  /** The same journal; each entry is taken into the spans of its run once it is durable. */
  journal(inner: Journal): Journal {
    return {
      ...forwardJournal(inner),
      create: async (run, entries, holder) => {
        const made = await inner.create(run, entries, holder);
        const spans = made.lease === undefined ? undefined : this.#follow(run.id, entries[0]);
        for (const entry of entries) spans?.take(entry);
        return made;
      },
      append: async (lease, entries, beside) => {
        const spans = this.#runs.get(lease.run);
        await inner.append(lease, entries, beside);
        for (const entry of entries) spans?.take(entry);
      },
      lease: async (run, holder) => {
        const lease = await inner.lease(run, holder);
        // An unreadable run is refused later, when it is folded.
        await this.#takeUp(inner, run).catch(() => undefined);
        return lease;
      },
      release: async (lease) => {
        this.#runs.delete(lease.run);
        await inner.release(lease);
      },
    };
  }

  /** Sends the spans that wait. */
  close(): Promise<void> {
    return this.#exporter.close();
  }

  #follow(run: string, first: Entry | undefined, give: (span: TraceSpan) => void = this.add): RunSpans | undefined {
    if (first?.event.type !== "run.started") return undefined;
    const { traceId, isSampled } = traceOf(run, first.event);
    if (!this.#settings.samples(traceId, isSampled)) return undefined;
    const spans = new RunSpans(run, give);
    this.#runs.set(run, spans);
    return spans;
  }

  /** Reads a run that another process has driven: what it may not have sent any more is sent again under the same ids. */
  async #takeUp(journal: Journal, run: string): Promise<void> {
    const read: TraceSpan[] = [];
    let give = (span: TraceSpan): void => void read.push(span);
    let spans: RunSpans | undefined;
    let last: Entry | undefined;
    for (;;) {
      const entries = await journal.read(run, last?.seq ?? 0, FOLLOW_LIMITS.batch);
      spans ??= this.#follow(run, entries[0], (span) => give(span));
      if (spans === undefined) return;
      for (const entry of entries) spans.take(entry);
      last = entries.at(-1) ?? last;
      if (entries.length < FOLLOW_LIMITS.batch) break;
    }
    give = this.add;
    for (const span of read) if (span.endedAt >= (last?.at ?? 0) - TRACE_LIMITS.repeatedMs) this.add(span);
  }
}
