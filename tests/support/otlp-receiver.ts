import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A span as it came, with the attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number };
  readonly service: unknown;
  readonly attributes: { readonly [name: string]: unknown };
}

type Attributes = readonly { readonly key: string; readonly value: { readonly [kind: string]: unknown } }[];
interface ExportBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes" | "service"> & { readonly attributes: Attributes })[];
    }[];
  }[];
}

/** A receiver of OTLP/HTTP in JSON on this machine. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  /** Spans so far, each id once. */
  readonly spans: readonly ReceivedSpan[];
  readonly headers: readonly IncomingHttpHeaders[];
}

/** Starts a receiver on a free port. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    headers.push(request.headers);
    const status = request.url === "/v1/traces" ? 200 : 404;
    const body = (await json(request)) as ExportBody;
    if (status === 200) for (const span of spansIn(body)) if (!isKnown(span)) spans.push(span);
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => void answer(request, response));
  const isKnown = ({ spanId }: ReceivedSpan): boolean => spans.some((span) => span.spanId === spanId);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

function spansIn({ resourceSpans }: ExportBody): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = named(resource.attributes)["service.name"];
    return scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({ ...span, service, attributes: named(span.attributes) })),
    );
  });
}

function named(attributes: Attributes): { readonly [name: string]: unknown } {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
