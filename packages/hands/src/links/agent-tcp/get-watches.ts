import { Fault } from "@vidro/core";
import { GET_WATCHES_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { WatchEvent } from "../../host/watches/watch-log.ts";
import { defineCommand } from "./command.ts";
import { fitItems } from "./fit-frame.ts";

/** Returns the events of a watch in pages [002-34]; the token of the watch is the permission to read them. */
export const getWatchesCommand = defineCommand({
  act: "GET_WATCHES",
  scope: "getwatches",
  schema: GET_WATCHES_SCHEMA,
  run({ token, since, until, pageSize, order, cursor }, { context, maxBytes }) {
    const [direction, after] = cursor?.split("-") ?? [order];
    if (direction !== order)
      throw new Fault("BAD_REQUEST", `The cursor goes with order ${direction}; go on in that order.`);
    // Reads one more than the page, to know whether there are more.
    const bounds = { since, until, order, after: after === undefined ? undefined : Number(after) };
    const found = context.watches.events(token, { ...bounds, limit: pageSize + 1 });
    const { items, all } = fitItems(found.slice(0, pageSize).map(wireEvent), maxBytes);
    const hasMore = !all || found.length > items.length;
    const last = found[items.length - 1];
    const nextCursor = hasMore && last !== undefined ? `${order}-${last.seq}` : null;
    return { ok: true, events: items, meta: { returned: items.length, hasMore, nextCursor } };
  },
});

function wireEvent({ type, file, at, why }: WatchEvent) {
  const event = { tipoEvento: type, archivo: file, tiempo: at };
  return why === undefined ? event : { ...event, detalle: why };
}
