import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUIDv7 } from "node:crypto";
import type { EventEmitter } from "node:events";
import { asFault, Fault, thrownStack } from "@vidro/core";
import type { Log, LogFields } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/*
 * An error thrown in a timer, an event handler or a promise without a handler reaches the process. The asynchronous
 * context of that code names the run, request or link that it worked for, so that only that one ends.
 */

/** A run, request or link: what ends when an error escapes from its code. */
export interface Containment {
  /** Its log fields. */
  readonly fields: LogFields;
  /** The `traceparent` that a client sent with it. */
  readonly traceparent?: string | undefined;
  /** Ends it with the fault; must not throw. */
  end(fault: Fault): void;
}

const containers = new AsyncLocalStorage<Containment>();

/** Runs work whose escaped errors, now or in anything that it starts, end only `contained`. */
export function contain<Result>(contained: Containment, work: () => Result): Result {
  return containers.run(contained, work);
}

/** The `traceparent` of the request or link that this code works for. */
export function currentTraceparent(): string | undefined {
  return containers.getStore()?.traceparent;
}

/**
 * Makes every listener of an emitter work for `contained`. Sockets that a server accepted need it: their events come in
 * the context of the server, not in the one in which a listener was added.
 */
export function containEvents(contained: Containment, emitter: EventEmitter): void {
  const emit = emitter.emit.bind(emitter);
  emitter.emit = (...event: Parameters<typeof emit>) => containers.run(contained, () => emit(...event));
}

/** Receivers of escaped errors. */
interface ErrorObservers {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "uncaught">;
}

/**
 * Handles an error that reached the process: logs it with its stack under a trace id, counts it, and ends its
 * container.
 */
export function endContained(thrown: unknown, { log, metrics }: ErrorObservers): void {
  const contained = containers.getStore();
  const traceId = randomUUIDv7();
  metrics.uncaught.inc();
  log("error.contained", {
    trace_id: traceId,
    ...contained?.fields,
    stack: thrownStack(thrown),
  });
  const { message } = asFault(thrown);
  contained?.end(new Fault("INTERNAL_ERROR", `${message} (trace ${traceId})`, { cause: thrown }));
}
