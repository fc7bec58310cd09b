import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { JsonObject } from "../json.ts";
import { TRACE_LIMITS } from "../limits.ts";
import { otlpBody } from "./span.ts";
import type { SpanAttributes, TraceSpan } from "./span.ts";

const SPAN: TraceSpan = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  name: "chat m",
  kind: "internal",
  startedAt: 1_700_000_000_000,
  endedAt: 1_700_000_000_001,
  attributes: {},
};

interface Written extends JsonObject {
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: JsonObject }[];
  readonly status?: { readonly code: number; readonly message: string };
}

/** The span as a receiver reads it. */
function written(span: Partial<TraceSpan>): Written {
  const body = JSON.parse(JSON.stringify(otlpBody([{ ...SPAN, ...span }], {}))) as {
    resourceSpans: [{ scopeSpans: [{ spans: [Written] }] }];
  };
  return body.resourceSpans[0].scopeSpans[0].spans[0];
}

const valueOf = (value: SpanAttributes[string]): JsonObject | undefined =>
  written({ attributes: { value } }).attributes[0]?.value;

test("numbers are integers of 64 bits in digits, or else of double precision", () => {
  const rows: readonly (readonly [number, JsonObject])[] = [
    [0, { intValue: "0" }],
    [-5, { intValue: "-5" }],
    [Number.MAX_SAFE_INTEGER, { intValue: "9007199254740991" }],
    [0.5, { doubleValue: 0.5 }],
    [1e21, { doubleValue: 1e21 }],
    [1e300, { doubleValue: 1e300 }],
    [2 ** 64, { doubleValue: 2 ** 64 }],
    [-(2 ** 70), { doubleValue: -(2 ** 70) }],
    [Number.NaN, { doubleValue: "NaN" }],
    [Number.POSITIVE_INFINITY, { doubleValue: "Infinity" }],
    [Number.NEGATIVE_INFINITY, { doubleValue: "-Infinity" }],
  ];
  for (const [number, value] of rows) assert.deepEqual(valueOf(number), value, String(number));
});

test("every number that is written can be read back as the same number", () => {
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger()), (number) => {
      const { intValue, doubleValue } = valueOf(number) ?? {};
      if (typeof intValue === "string") assert.match(intValue, /^-?\d{1,19}$/);
      const read = Number(intValue ?? doubleValue);
      assert.ok(Object.is(read, number) || read === number);
    }),
  );
});

test("texts, truth values and lists keep their type, and what is undefined is left out", () => {
  assert.deepEqual(valueOf("a"), { stringValue: "a" });
  assert.deepEqual(valueOf(""), { stringValue: "" });
  assert.deepEqual(valueOf(false), { boolValue: false });
  assert.deepEqual(valueOf(["a", "b"]), { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } });
  assert.deepEqual(valueOf([]), { arrayValue: { values: [] } });
  assert.equal(valueOf(undefined), undefined);
});

test("a long text is cut at its bound and never inside a character, so that one span does not cost its batch", () => {
  for (const before of ["", "x"]) {
    const long = before + "😀".repeat(TRACE_LIMITS.textChars);
    const { name, attributes, status } = written({ name: long, attributes: { long, list: [long] }, error: long });
    const texts = JSON.stringify([name, attributes, status]);
    assert.ok(texts.isWellFormed());
    assert.doesNotMatch(texts, /\\ud[89a-f]/i);
    assert.ok(name.length <= TRACE_LIMITS.textChars);
    assert.ok(name.length >= TRACE_LIMITS.textChars - 1);
  }
  const half = written({ name: "\ud800", attributes: { "\udc00": "a\udc00" }, error: "\ud800x" });
  assert.doesNotMatch(JSON.stringify(half), /\\ud[89a-f]/i);
});

test("times are nanoseconds in digits, and a span does not end before it starts", () => {
  assert.equal(written({}).startTimeUnixNano, "1700000000000000000");
  assert.equal(written({ endedAt: 5 }).endTimeUnixNano, "1700000000000000000");
  assert.equal(written({ startedAt: 1.4, endedAt: 2.6 }).endTimeUnixNano, "3000000");
});

test("a span without a parent or an error says nothing of them", () => {
  const bare = written({});
  assert.ok(!("parentSpanId" in bare) && !("status" in bare));
  assert.deepEqual(written({ error: "" }).status, { code: 2, message: "" });
  assert.equal(written({ parentId: "00f067aa0ba902b8" })["parentSpanId"], "00f067aa0ba902b8");
});
