import { randomBytes } from "node:crypto";
import type { ActionEnd, Hand, HandEvent, Order } from "@vidro/core";
import { readTraceparent, SpanExporter, traceSettings } from "@vidro/core/trace";
import type { TraceSpan } from "@vidro/core/trace";

const SPAN_BYTES = 8;

/** Makes a hand give a span for each order that belongs to a recorded trace. */
export function traceHand(hand: Hand, add: (span: TraceSpan) => void): void {
  const perform = hand.perform.bind(hand);
  hand.perform = async function* (order, signal): AsyncIterable<HandEvent> {
    const startedAt = Date.now();
    for await (const event of perform(order, signal)) {
      const span = event.type === "output" ? undefined : spanOf(order, event, { hand: hand.id, startedAt });
      if (span !== undefined) add(span);
      yield event;
    }
  };
}

function spanOf(order: Order, ended: ActionEnd, { hand, startedAt }: { hand: string; startedAt: number }) {
  const context = readTraceparent(order.traceparent);
  if (context?.isSampled !== true) return undefined;
  const exit = ended.type === "finished" && ended.outcome.kind === "process" ? ended.outcome.exitCode : undefined;
  return {
    traceId: context.traceId,
    spanId: randomBytes(SPAN_BYTES).toString("hex"),
    parentId: context.spanId,
    name: `hand ${order.action.tool}`,
    kind: "server",
    startedAt,
    endedAt: Date.now(),
    attributes: {
      "gen_ai.tool.name": order.action.tool,
      "gen_ai.tool.call.id": order.action.id,
      "vidro.hand.id": hand,
      "process.exit.code": exit ?? undefined,
      ...(ended.type === "finished" ? {} : { "error.type": ended.fault.code }),
    },
    ...(ended.type === "finished" ? {} : { error: ended.fault.message }),
  } as const;
}

/** Exports the spans of a hand that is a process of its own, where the environment names a receiver; closes the rest with it. */
export function exportHandSpans(hand: Hand, env: NodeJS.ProcessEnv, version: string): void {
  const settings = traceSettings({ OTEL_SERVICE_NAME: "vidro-hand", ...env });
  if (settings === undefined) return;
  const exporter = new SpanExporter(settings, {
    post: (url, { headers, body, timeoutMs }) =>
      fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) }),
    later: (ms, call) => void setTimeout(call, ms).unref(),
    dropped: () => undefined,
    resource: { "service.version": version, "service.instance.id": hand.id },
  });
  traceHand(hand, exporter.add);
  const close = hand.close.bind(hand);
  hand.close = async () => {
    await close();
    await exporter.close();
  };
}
