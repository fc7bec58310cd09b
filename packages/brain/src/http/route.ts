import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";
import type { Fault, FaultCode, Json, JsonObject } from "@vidro/core";

/*
 * A surface maps its routes to calls of Runs and encodes the journal in its own format. request.ts does what is the
 * same for all surfaces: authentication, validation and limits.
 */

/** Reports the progress of a request: streamed in a glass box, only counted in a black box. */
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
  /** The body to the letter, for signatures over it. */
  readonly raw: string;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** `Idempotency-Key`, made unique to this caller and to all that the request asks for. */
  readonly key: string | undefined;
  /** Aborted when the client is gone or its token was revoked. */
  readonly signal: AbortSignal;
  /** Aborted when the client has disconnected before its answer was whole. */
  readonly gone: AbortSignal;
  readonly tell: ProgressReporter;
  /** Whether the server is shutting down; only a route with `answersToTheEnd` is called then. */
  readonly isGoing: boolean;
}

/** The answer of a route: a value, or a stream that it writes to the raw response itself. */
export type Reply =
  | { readonly json: Json; readonly status?: number; readonly headers?: { readonly [name: string]: string } }
  | { readonly stream: StreamWriter };

/** Writes a whole answer; `told` has the progress reported before it began, as lines of NDJSON. */
export type StreamWriter = (response: ServerResponse, told: string) => Promise<void>;

/** One route; its schemas validate requests and make the OpenAPI document. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  /** The scope that a token needs; undefined for routes without a token. */
  readonly scope: string | undefined;
  /** JSON Schemas. */
  readonly body?: JsonObject;
  /** The body may also come as a message `{id, method, params, timestamp}` with one of these methods. */
  readonly envelope?: readonly string[];
  /** A body that does not fit is mended where that needs no guess; never set where the route has an effect. */
  readonly mends?: true;
  /** Fault code for a missing field, where the wire has its own. */
  readonly lacking?: FaultCode;
  readonly query?: JsonObject;
  /** The body of a good answer. */
  readonly answer: JsonObject;
  /** The status of a good answer; 200 when left out. */
  readonly status?: 201;
  /** Bodies of other answers that are no faults, by their status. */
  readonly others?: { readonly [status: string]: JsonObject };
  /** Media types that the route writes itself, besides JSON; with NDJSON it also writes its own glass box. */
  readonly produces?: readonly string[];
  /** The route is also called while the server shuts down. */
  readonly answersToTheEnd?: true;
  readonly handle: (call: RouteCall) => Promise<Reply>;
}

/** A wire to clients: its routes, and the form of its faults. */
export interface Surface {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly faultBody: (fault: Fault, requestId: string) => Json;
  /** The form of its faults, by its name in the OpenAPI document; `Fault` when left out. */
  readonly faultShape?: "ChatFault";
}
