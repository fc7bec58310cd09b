import assert from "node:assert/strict";
import { test } from "node:test";
import { TRACE_LIMITS } from "../limits.ts";
import { SpanExporter } from "./span-exporter.ts";
import type { TraceSpan } from "./span.ts";
import type { TraceSettings } from "./trace-settings.ts";

const SETTINGS: TraceSettings = {
  url: "http://127.0.0.1:1/v1/traces",
  headers: {},
  service: "s",
  resource: {},
  samples: () => true,
};
const SPAN: TraceSpan = {
  traceId: "a".repeat(32),
  spanId: "b".repeat(16),
  name: "run",
  kind: "internal",
  startedAt: 1,
  endedAt: 2,
  attributes: {},
};

/** An exporter whose receiver takes all, with the number of spans in each request and the calls for later. */
function exporter(status = 200) {
  const sent: number[] = [];
  const later: (() => void)[] = [];
  const lost: number[] = [];
  const one = new SpanExporter(SETTINGS, {
    post: async (_url, { body }) => {
      sent.push(body.split(SPAN.spanId).length - 1);
      return { status, headers: { get: () => null } };
    },
    later: (_ms, call) => void later.push(call),
    dropped: (spans) => void lost.push(spans),
    resource: {},
  });
  return { one, sent, later, lost };
}

async function turn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

test("spans gather until a batch is full or its time is over", async () => {
  const { one, sent, later } = exporter();
  for (let count = 1; count < TRACE_LIMITS.batch; count += 1) one.add(SPAN);
  await turn();
  assert.deepEqual([sent, later.length], [[], 1]);
  one.add(SPAN);
  await turn();
  assert.deepEqual(sent, [TRACE_LIMITS.batch]);
  one.add(SPAN);
  later[0]?.();
  await turn();
  assert.deepEqual(sent, [TRACE_LIMITS.batch, 1]);
});

test("a batch that is full at any moment of the end of another is sent without a further span", async () => {
  for (let steps = 0; steps < 12; steps += 1) {
    const { one, sent } = exporter();
    for (let count = 0; count < TRACE_LIMITS.batch; count += 1) one.add(SPAN);
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    for (let count = 0; count < TRACE_LIMITS.batch; count += 1) one.add(SPAN);
    await turn();
    assert.deepEqual(sent, [TRACE_LIMITS.batch, TRACE_LIMITS.batch], `${steps} steps after the first`);
  }
});

test("spans beyond the bound and those that the receiver refuses are dropped and counted", async () => {
  const { one, sent, lost } = exporter(400);
  for (let count = 0; count < TRACE_LIMITS.waiting + TRACE_LIMITS.batch + 2; count += 1) one.add(SPAN);
  await turn();
  const all = lost.reduce((sum, spans) => sum + spans, 0);
  assert.equal(all, TRACE_LIMITS.waiting + TRACE_LIMITS.batch + 2);
  assert.ok(sent.every((spans) => spans <= TRACE_LIMITS.batch));
});

test("closing sends what waits, and ends also when nothing does", async () => {
  const { one, sent } = exporter();
  await one.close();
  one.add(SPAN);
  await one.close();
  assert.deepEqual(sent, [1]);
});
