import type { JsonObject } from "../json.ts";
import { TRACE_LIMITS } from "../limits.ts";
import { headOf } from "../text/whole-characters.ts";

/** A finished piece of work in a trace. */
export interface TraceSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  /** `client`: it waits for another process. `server`: it does what another process asked for. */
  readonly kind: "internal" | "client" | "server";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  /** Why it failed; absent when it did not. */
  readonly error?: string;
}

/** Facts about a span by their names in the semantic conventions; what is undefined is left out. */
export type SpanAttributes = {
  readonly [name: string]: string | number | boolean | undefined | readonly string[];
};

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;

/** The body of an OTLP/HTTP request in JSON. */
export function otlpBody(spans: readonly TraceSpan[], resource: SpanAttributes): JsonObject {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "vidro" }, spans: spans.map(otlpSpan) }],
      },
    ],
  };
}

function otlpSpan({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  startedAt,
  endedAt,
  attributes,
  error,
}: TraceSpan): JsonObject {
  return {
    traceId,
    spanId,
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    name: boundedText(name),
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startedAt),
    endTimeUnixNano: nanos(Math.max(startedAt, endedAt)),
    attributes: attributesOf(attributes),
    ...(error === undefined ? {} : { status: { code: FAILED, message: boundedText(error) } }),
  };
}

/** Nanoseconds as OTLP has 64-bit integers in JSON: in decimal digits. */
function nanos(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function attributesOf(attributes: SpanAttributes): JsonObject[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key: key.toWellFormed(), value: valueOf(value) }],
  );
}

function valueOf(value: NonNullable<SpanAttributes[string]>): JsonObject {
  if (typeof value === "string") return { stringValue: boundedText(value) };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return numberOf(value);
  return { arrayValue: { values: value.map((one) => valueOf(one)) } };
}

/** Beyond safe integers digits would be a guess, or an exponent, which is no integer; JSON has no NaN and no infinity. */
function numberOf(value: number): JsonObject {
  if (Number.isSafeInteger(value)) return { intValue: String(value) };
  return { doubleValue: Number.isFinite(value) ? value : String(value) };
}

/** The beginning of a text; receivers refuse a whole request for half of a character. */
function boundedText(text: string): string {
  return headOf(text, TRACE_LIMITS.textChars).toWellFormed();
}
