import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { RouteCall } from "../http/route.ts";

/** The query of a route that can be resumed. */
export const AFTER_SCHEMA: JsonObject = {
  type: "integer",
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The last `seq` that the follower has; `Last-Event-ID` says the same.",
};

/**
 * The last `seq` that a caller has, 0 when it has none. The header wins over the query: a browser that reconnects
 * repeats its first URL, and only `Last-Event-ID` has moved on.
 */
export function cursorOf({ headers, query }: Pick<RouteCall, "headers" | "query">): number {
  const given = headers["last-event-id"] ?? query["after"] ?? "";
  if (given === "") return 0;
  const seq = Number(given);
  if (typeof given === "string" && /^[0-9]+$/.test(given) && Number.isSafeInteger(seq)) return seq;
  throw new Fault("BAD_REQUEST", "Last-Event-ID is not an id of this stream: send the last one that came, or none.");
}
