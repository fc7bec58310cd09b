import type { Json } from "@vidro/core";
import type { AonEvent, ProgressEvent, TerminalAonEvent } from "./event.ts";
import { BOX_LIMITS } from "./limits.ts";
import type { Sanitiser } from "./sanitise.ts";

/** Encodes events as lines: with timestamp and request id, sanitised, and reduced to what the caller may see. */
export interface Encoder {
  /** The event as it may be shown, and as a line. */
  readonly encode: (event: ProgressEvent | TerminalAonEvent) => { readonly event: AonEvent; readonly line: string };
}

/** The input of an encoder. */
export interface EncoderFacts {
  readonly requestId: string;
  readonly sanitiser: Sanitiser;
  /** Whether `intent_analysis` is shown in full: not in production, or to an administrator. */
  readonly showsIntent: () => boolean;
}

/** The encoder of one request. */
export function encoder({ requestId, sanitiser, showsIntent }: EncoderFacts): Encoder {
  function encode(event: ProgressEvent | TerminalAonEvent): { event: AonEvent; line: string } {
    const { type, ...fields } = event.type === "intent_analysis" && !showsIntent() ? reduceIntent(event) : event;
    const stamped = { type, timestamp: Date.now(), requestId, ...fields };
    // A result is not sanitised: it must equal the answer of a black box.
    const shown = (type === "result" ? stamped : cleanEvent(stamped)) as AonEvent | undefined;
    const line = `${JSON.stringify(shown)}\n`;
    const isFit = shown !== undefined && (type === "result" || line.length <= BOX_LIMITS.eventChars);
    return isFit ? { event: shown, line } : encode(shortenEvent(event));
  }

  /** Undefined when the event has no JSON form; it must not make the work fail. */
  function cleanEvent(stamped: object): Json | undefined {
    try {
      return sanitiser.clean(stamped);
    } catch {
      return undefined;
    }
  }

  return { encode };
}

function reduceIntent({ type, decision }: ProgressEvent & { type: "intent_analysis" }) {
  return { type, decision };
}

/** The replacement for an event that cannot be encoded or is too long. */
function shortenEvent(event: ProgressEvent | TerminalAonEvent): ProgressEvent | TerminalAonEvent {
  if (event.type === "error") {
    const { type, code, trace_id } = event;
    return {
      type,
      code: code.slice(0, BOX_LIMITS.actionChars),
      message: event.message.slice(0, BOX_LIMITS.reportChars),
      trace_id,
    };
  }
  const message = `An event of type ${event.type} is left out: it is no JSON of at most ${BOX_LIMITS.eventChars} characters.`;
  return { type: "status", message, dropped: 1 };
}
