import { TRACE_LIMITS } from "../limits.ts";
import { otlpBody } from "./span.ts";
import type { TraceSpan, SpanAttributes } from "./span.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** What an exporter needs of its process. */
interface ExporterWorld {
  /** Posts a body; resolves with the answer, rejects when there is none in time. */
  readonly post: (url: string, request: ExportRequest) => Promise<ExportAnswer>;
  /** Calls after a time, without keeping the process alive. */
  readonly later: (ms: number, call: () => void) => void;
  /** Called with the number of spans that were lost. */
  readonly dropped: (spans: number) => void;
  /** More facts about this process. */
  readonly resource: SpanAttributes;
}

interface ExportRequest {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** How long the receiver may take. */
  readonly timeoutMs: number;
}

interface ExportAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

/** Answers after which the same request may be sent again. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends finished spans in batches, one request at a time. Nothing waits for it: spans beyond the bound, and those of a
 * receiver that does not take them, are dropped and counted.
 */
export class SpanExporter {
  readonly #settings: TraceSettings;
  readonly #world: ExporterWorld;
  #waiting: TraceSpan[] = [];
  #sending: Promise<void> | undefined;
  #isScheduled = false;
  #isClosing = false;

  constructor(settings: TraceSettings, world: ExporterWorld) {
    this.#settings = settings;
    this.#world = world;
  }

  /** Takes a span; one beyond the bound is dropped. */
  readonly add = (span: TraceSpan): void => {
    if (this.#waiting.length >= TRACE_LIMITS.waiting) return this.#world.dropped(1);
    this.#waiting.push(span);
    if (this.#waiting.length >= TRACE_LIMITS.batch) this.#send();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#world.later(TRACE_LIMITS.batchMs, () => {
        this.#isScheduled = false;
        this.#send();
      });
    }
  };

  /** Sends what waits; resolves when that is done, or the time for it is over. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const late = new Promise<void>((resolve) => this.#world.later(TRACE_LIMITS.closeMs, resolve));
    this.#send();
    await Promise.race([this.#sending, late]);
  }

  #send(): void {
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.splice(0, TRACE_LIMITS.batch);
        if (!(await this.#sendBatch(batch))) this.#world.dropped(batch.length);
      }
    } finally {
      // With the last look and not a turn later: a span that comes in between would wait for the next one.
      this.#sending = undefined;
    }
  }

  async #sendBatch(spans: readonly TraceSpan[]): Promise<boolean> {
    const { url, headers, service, resource } = this.#settings;
    const body = JSON.stringify(otlpBody(spans, { ...this.#world.resource, ...resource, "service.name": service }));
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#post(url, { "content-type": "application/json", ...headers }, body);
      if (answer !== undefined && answer.status < 300) return true;
      const mayComeAgain = answer === undefined || AGAIN.has(answer.status);
      if (!mayComeAgain || attempt >= TRACE_LIMITS.attempts || this.#isClosing) return false;
      const asked = Number(answer?.headers.get("retry-after") ?? 0) * 1000;
      const rest = Math.max(asked > 0 ? asked : 0, TRACE_LIMITS.backoffMs * 2 ** (attempt - 1));
      await new Promise<void>((resolve) => this.#world.later(Math.min(rest, TRACE_LIMITS.backoffCapMs), resolve));
    }
  }

  async #post(url: string, headers: ExportRequest["headers"], body: string): Promise<ExportAnswer | undefined> {
    try {
      return await this.#world.post(url, { headers, body, timeoutMs: TRACE_LIMITS.sendMs });
    } catch {
      return undefined;
    }
  }
}
