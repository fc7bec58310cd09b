import type { IncomingMessage } from "node:http";
import { nodeExchange } from "./node-exchange.ts";
import type { NodeResponse } from "./node-response.ts";
import { settingsOf } from "./settings.ts";
import type { AonOptions } from "./settings.ts";

/** The part of a Fastify request that is used. */
interface FastifyRequestLike {
  readonly raw: IncomingMessage;
}

/** The part of a Fastify reply that is used. */
interface FastifyReplyLike {
  readonly raw: NodeResponse;
  hijack(): unknown;
}

/** The part of a Fastify instance that is used. */
interface FastifyLike<R, P> {
  addHook(name: "preHandler", hook: (request: R, reply: P) => Promise<unknown>): unknown;
}

/**
 * AON as a Fastify plugin, for every route of the instance it is registered on. It comes in right before the handler, so
 * that a body that is too large or does not fit its schema is refused in plain HTTP.
 */
export function aonFastify<R extends FastifyRequestLike, P extends FastifyReplyLike>(options: AonOptions<R> = {}) {
  const settings = settingsOf(options);
  const plugin = async (instance: FastifyLike<R, P>): Promise<void> => {
    instance.addHook("preHandler", async (request, reply) => {
      const exchange = await nodeExchange({ request, raw: request.raw, response: reply.raw }, settings);
      if (exchange === undefined) return reply.hijack();
      exchange.open();
    });
  };
  // Fastify's own mark for a plugin that works on the instance it is given, not on a copy below it.
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}
