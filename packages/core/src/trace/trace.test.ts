import assert from "node:assert/strict";
import { test } from "node:test";
import { TRACE_LIMITS } from "../limits.ts";
import { SpanExporter } from "./span-exporter.ts";
import type { TraceSpan } from "./span.ts";
import { otlpBody } from "./span.ts";
import { traceSettings } from "./trace-settings.ts";
import type { TraceSettings } from "./trace-settings.ts";
import { readTraceparent, writeTraceparent } from "./traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const URL_OF_RECEIVER = "http://127.0.0.1:4318";

const span = (nth: number): TraceSpan => ({
  traceId: TRACE,
  spanId: String(nth).padStart(16, "0"),
  name: "chat m",
  kind: "client",
  startedAt: 5,
  endedAt: 7,
  attributes: { "gen_ai.operation.name": "chat", tokens: 3, share: 0.5, yes: true, none: undefined },
});

test("a traceparent is read and written as W3C has it, and what is none is left", () => {
  const text = `00-${TRACE}-00f067aa0ba902b7-01`;
  assert.deepEqual(readTraceparent(text), { traceId: TRACE, spanId: "00f067aa0ba902b7", isSampled: true });
  assert.equal(writeTraceparent(readTraceparent(text)!), text);
  assert.equal(readTraceparent(`00-${TRACE}-00f067aa0ba902b7-00`)?.isSampled, false);
  assert.equal(readTraceparent(`cc-${TRACE}-00f067aa0ba902b7-01-later`)?.isSampled, true);
  for (const wrong of [
    undefined,
    "",
    `ff-${TRACE}-00f067aa0ba902b7-01`,
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-00f067aa0ba902b7-01-more`,
    `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
  ])
    assert.equal(readTraceparent(wrong), undefined, String(wrong));
});

test("spans are written as OTLP has them in JSON: ids as digits, 64-bit integers as text", () => {
  const body = otlpBody([{ ...span(1), parentId: "00f067aa0ba902b7", error: "no" }], { "service.name": "vidro" });
  assert.deepEqual(body, {
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "vidro" } }] },
        scopeSpans: [
          {
            scope: { name: "vidro" },
            spans: [
              {
                traceId: TRACE,
                spanId: "0000000000000001",
                parentSpanId: "00f067aa0ba902b7",
                name: "chat m",
                kind: 3,
                startTimeUnixNano: "5000000",
                endTimeUnixNano: "7000000",
                attributes: [
                  { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                  { key: "tokens", value: { intValue: "3" } },
                  { key: "share", value: { doubleValue: 0.5 } },
                  { key: "yes", value: { boolValue: true } },
                ],
                status: { code: 2, message: "no" },
              },
            ],
          },
        ],
      },
    ],
  });
});

test("OpenTelemetry's own variables say where spans go and which traces are recorded", () => {
  assert.equal(traceSettings({}), undefined);
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: `${URL_OF_RECEIVER}/` };
  assert.equal(traceSettings({ ...base, OTEL_SDK_DISABLED: "true" }), undefined);
  assert.equal(traceSettings({ ...base, OTEL_TRACES_EXPORTER: "none" }), undefined);
  const { url, headers, service } = traceSettings({ ...base, OTEL_EXPORTER_OTLP_HEADERS: "a=b%20c, d = e" })!;
  assert.deepEqual([url, headers, service], [`${URL_OF_RECEIVER}/v1/traces`, { a: "b c", d: "e" }, "vidro"]);
  const own = { ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://t.example/x", OTEL_SERVICE_NAME: "mine" };
  assert.deepEqual([traceSettings(own)?.url, traceSettings(own)?.service], ["https://t.example/x", "mine"]);
  const recorded = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG?: string): TraceSettings["samples"] =>
    traceSettings({ ...base, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG })!.samples;
  assert.deepEqual(
    [undefined, true, false].map((parent) => recorded("parentbased_always_on")(TRACE, parent)),
    [true, true, false],
  );
  assert.deepEqual(
    [undefined, true, false].map((parent) => recorded("always_off")(TRACE, parent)),
    [false, false, false],
  );
  assert.deepEqual(
    ["0", "1"].map((ratio) => recorded("traceidratio", ratio)(TRACE, undefined)),
    [false, true],
  );
  assert.throws(() => recorded("often"), { code: "BAD_REQUEST" });
  assert.throws(() => recorded("traceidratio", "2"), { code: "BAD_REQUEST" });
  assert.throws(() => traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://x" }), { code: "BAD_REQUEST" });
});

/** An exporter at a clock that the test turns, and what it sent, waits for and lost. */
function stage(...statuses: number[]) {
  const sent: number[] = [];
  const timers: { ms: number; call: () => void }[] = [];
  const lost = { spans: 0 };
  const exporter = new SpanExporter(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: URL_OF_RECEIVER })!, {
    post: async (_, { body }) => {
      sent.push(body.split("spanId").length - 1);
      const status = statuses.shift() ?? 200;
      if (status === 0) throw new TypeError("fetch failed");
      return { status, headers: new Headers(status === 429 ? { "retry-after": "7" } : {}) };
    },
    later: (ms, call) => void timers.push({ ms, call }),
    dropped: (spans) => (lost.spans += spans),
    resource: {},
  });
  const turn = async (): Promise<number | undefined> => {
    const timer = timers.shift();
    timer?.call();
    for (let round = 0; round < 20; round += 1) await Promise.resolve();
    return timer?.ms;
  };
  return { exporter, sent, lost, turn };
}

test("spans are sent in batches; a receiver that is busy or away is asked again, later and later", async () => {
  const { exporter, sent, lost, turn } = stage(503, 429, 0, 200);
  for (const nth of [1, 2, 3]) exporter.add(span(nth));
  assert.deepEqual(sent, []);
  assert.equal(await turn(), TRACE_LIMITS.batchMs);
  assert.deepEqual(sent, [3]);
  assert.deepEqual([await turn(), await turn(), await turn()], [1000, 7000, 4000]);
  assert.deepEqual([sent, lost.spans], [[3, 3, 3, 3], 0]);
});

test("spans that are refused, that find no receiver in time, and that are too many, are dropped and counted", async () => {
  const refused = stage(400);
  refused.exporter.add(span(1));
  await refused.turn();
  assert.deepEqual([refused.sent.length, refused.lost.spans], [1, 1]);
  const away = stage(0, 0, 0, 0, 0, 200);
  away.exporter.add(span(1));
  for (let nth = 0; nth < TRACE_LIMITS.attempts; nth += 1) await away.turn();
  assert.deepEqual([away.sent.length, away.lost.spans], [TRACE_LIMITS.attempts, 1]);
  const many = stage(...Array.from({ length: 99 }, () => 0));
  for (let nth = 0; nth < TRACE_LIMITS.waiting + TRACE_LIMITS.batch + 5; nth += 1) many.exporter.add(span(nth));
  assert.equal(many.lost.spans, 5);
});

test("what waits is sent when the process ends", async () => {
  const { exporter, sent } = stage();
  exporter.add(span(1));
  await exporter.close();
  assert.deepEqual(sent, [1]);
});
