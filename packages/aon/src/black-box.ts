import type { AonBox } from "./box.ts";
import type { Encoder } from "./encode.ts";
import type { AonEvent, ErrorEvent, ProgressEvent, TerminalAonEvent } from "./event.ts";
import { BOX_LIMITS } from "./limits.ts";

/** What a black box held while it worked. */
export interface HeldEvents {
  readonly requestId: string;
  /** The first events, and a marker behind them when some were dropped. */
  readonly events: readonly AonEvent[];
  /** How many happened. */
  readonly count: number;
  readonly dropped: number;
}

/** A black box: events are held and summed up, and only the answer goes out. */
export interface BlackBox extends AonBox {
  /** The value of X-AON-Report so far. */
  report(): string;
  /** What is held so far. */
  held(): HeldEvents;
}

/** What a black box needs. */
export interface BlackBoxOptions {
  readonly requestId: string;
  readonly heldEvents: number;
  readonly heartbeatMs: number;
  /** Tells the client that there is still work going on, where its HTTP version allows. */
  readonly keepAlive: () => void;
  /** Answers with a failure that is not the route's own, such as a timeout. */
  readonly fail: (error: ErrorEvent) => void;
}

/** A black box; the answer itself goes its own way, untouched. */
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

/** Names of actions are the user's own: only what a header may carry is kept of them, and no endless number. */
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
