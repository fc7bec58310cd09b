import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";
import type { Fault, FaultCode, Json, JsonObject } from "@vidro/core";

/*
 * What a surface is made of. A surface turns HTTP into calls of the waist and the journal into its own words;
 * server.ts does everything that is the same for all of them: who is calling, what is well formed, what is too much.
 */

/** Tells whoever watches a request through the glass box; in a black box it is only counted. */
export interface ProgressReporter {
  status(message: string, estimatedDelayMs?: number): void;
  healing(healing: {
    readonly severity: string;
    readonly action: string;
    readonly description: string;
    readonly metadata?: JsonObject;
  }): void;
  intent(intent: {
    readonly original_intent: string;
    readonly detected_issue: string;
    readonly decision: string;
  }): void;
}

/** One request that has passed every check of its route. */
export interface RouteCall {
  readonly params: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  /** The body, as the route's schema has it; an empty object when the route takes none. */
  readonly body: JsonObject;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** `Idempotency-Key`, made unique to this caller and to all that the request asks for. */
  readonly key: string | undefined;
  /** Aborted when the client is gone or its token was revoked. */
  readonly signal: AbortSignal;
  readonly tell: ProgressReporter;
}

/** What a route answers with: a value, or a stream that it writes to the raw response itself. */
export type Reply =
  | { readonly json: Json; readonly status?: number; readonly headers?: { readonly [name: string]: string } }
  | { readonly stream: StreamWriter };

/** Writes a whole answer; `told` is what was told before it began, as lines of NDJSON. */
export type StreamWriter = (response: ServerResponse, told: string) => Promise<void>;

/** One route: its schemas are what validates, and what the OpenAPI document says. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  /** The scope that a token needs; none for routes that anybody may call. */
  readonly scope: string | undefined;
  /** JSON Schemas. */
  readonly body?: JsonObject;
  /** A body may come as a message `{id, method, params, timestamp}` too, with one of these words as its method. */
  readonly envelope?: readonly string[];
  /** A body that does not fit is mended where that takes no guess; never where it lets an effect happen. */
  readonly mends?: true;
  /** What a body without a field that it must have is called, where its wire has a name of its own for that. */
  readonly lacking?: FaultCode;
  readonly query?: JsonObject;
  /** The body of a good answer. */
  readonly answer: JsonObject;
  /** Media types that the route writes itself, besides JSON; one that names NDJSON writes its own glass box. */
  readonly produces?: readonly string[];
  readonly handle: (call: RouteCall) => Promise<Reply>;
}

/** A wire of its own: its routes, and how it says that something went wrong. */
export interface Surface {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly faultBody: (fault: Fault, requestId: string) => Json;
}
