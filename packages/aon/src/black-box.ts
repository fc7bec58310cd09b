import type { AonBox } from "./box.ts";
import type { Encoder } from "./encode.ts";
import type { AonEvent, ErrorEvent, ProgressEvent, TerminalAonEvent } from "./event.ts";
import { BOX_LIMITS } from "./limits.ts";

/** The events that a black box recorded. */
export interface HeldEvents {
  readonly requestId: string;
  /** The first events, followed by a marker when some were dropped. */
  readonly events: readonly AonEvent[];
  /** Number of events, dropped ones included. */
  readonly count: number;
  readonly dropped: number;
}

/** A black box: events are recorded and summarised in a header; only the answer is sent. */
export interface BlackBox extends AonBox {
  /** The value of X-AON-Report so far. */
  report(): string;
  /** The events so far. */
  held(): HeldEvents;
}

/** Options of a black box. */
export interface BlackBoxOptions {
  readonly requestId: string;
  readonly heldEvents: number;
  readonly heartbeatMs: number;
  /** Sends an interim response, where the HTTP version allows it. */
  readonly keepAlive: () => void;
  /** Answers with a failure that is not the route's, such as a timeout. */
  readonly fail: (error: ErrorEvent) => void;
}

/** A black box; the route's answer is sent unchanged. */
export function blackBox({ encode }: Encoder, facts: BlackBoxOptions): BlackBox {
  const events: AonEvent[] = [];
  const healed = new Set<string>();
  let count = 0;
  let isOver = false;
  const heartbeat = setInterval(facts.keepAlive, facts.heartbeatMs);

  function leave(): void {
    isOver = true;
    clearInterval(heartbeat);
  }

  return {
    get isOver() {
      return isOver;
    },
    isOpen: false,
    open: () => undefined,
    async emit(event: ProgressEvent) {
      if (isOver) return;
      count++;
      if (event.type === "healing" && event.metadata["success"] === true) noteAction(healed, event.action);
      if (events.length < facts.heldEvents) events.push(encode(event).event);
    },
    finish(event: TerminalAonEvent) {
      if (isOver) return;
      leave();
      if (event.type === "error") facts.fail(event);
    },
    leave,
    report: () => reportOf(count, [...healed], count - events.length),
    held() {
      const dropped = count - events.length;
      if (dropped === 0) return { requestId: facts.requestId, events, count, dropped };
      const message = `Only the first ${events.length} events are held: ${dropped} were dropped.`;
      const marker = encode({ type: "status", message, dropped }).event;
      return { requestId: facts.requestId, events: [...events, marker], count, dropped };
    },
  };
}

/** Adds the name of an action to the report; only header-safe characters, and a bounded number of names. */
function noteAction(healed: Set<string>, action: string): void {
  if (healed.size < BOX_LIMITS.reportChars)
    healed.add(action.slice(0, BOX_LIMITS.actionChars).replaceAll(/[^\w.-]/g, "_"));
}

/** The report; when not all actions fit, it ends in `...`. */
function reportOf(count: number, actions: readonly string[], dropped: number): string {
  const before = `count=${count};healed=`;
  const after = dropped > 0 ? `;dropped=${dropped}` : "";
  let healed = actions.join(",");
  const room = BOX_LIMITS.reportChars - before.length - after.length;
  if (healed.length > room) healed = `${healed.slice(0, healed.lastIndexOf(",", room - 4))},...`;
  return before + healed + after;
}
