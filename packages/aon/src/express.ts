import type { IncomingMessage } from "node:http";
import { faultOfThrown } from "./fault-of.ts";
import { exchangeOf, nodeExchange } from "./node-exchange.ts";
import type { NodeResponse } from "./node-response.ts";
import { settingsOf } from "./settings.ts";
import type { AonOptions } from "./settings.ts";

/** What runs after the middleware: the rest of an Express app, or any function. */
type Next = (error?: unknown) => unknown;

/** Middleware for Express, Connect and plain node:http. */
export type AonMiddleware<R> = (request: R, response: NodeResponse, next: Next) => Promise<void>;

/**
 * AON before every route that comes behind it. A glass box answers 200 at once: as soon as the route tells something,
 * else after a few milliseconds in which a route may still refuse in plain HTTP.
 */
export function aon<R extends IncomingMessage = IncomingMessage>(options: AonOptions<R> = {}): AonMiddleware<R> {
  const settings = settingsOf(options);
  return async (request, response, next) => {
    const exchange = await nodeExchange({ request, raw: request, response }, settings);
    if (exchange === undefined) return;
    exchange.open();
    try {
      await next();
    } catch (thrown) {
      // Express calls its error handlers instead of throwing; what arrives here comes from a plain function.
      if (!exchange.fail(thrown)) exchange.aon.refuse(faultOfThrown(thrown, true));
    }
  };
}

/** What goes behind the last route of an Express app, so that errors keep their codes. */
export function aonErrors(): (error: unknown, request: object, response: object, next: Next) => void {
  return (error, request, _response, next) => {
    const exchange = exchangeOf(request);
    if (exchange === undefined || exchange.aon.sight === "black" || !exchange.fail(error)) next(error);
  };
}
