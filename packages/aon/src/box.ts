import type { ProgressEvent, TerminalAonEvent } from "./event.ts";

/** Where a request's events go, whichever way it is answered. */
export interface AonBox {
  /** Whether the terminal event was given, or nobody listens any more. */
  readonly isOver: boolean;
  /** Whether the answer has begun, so that its status cannot change any more. */
  readonly isOpen: boolean;
  /** Begins the answer; more than once is the same as once. */
  open(): void;
  /** Takes an event; resolves when the reader keeps up. After the terminal event nothing is taken. */
  emit(event: ProgressEvent): Promise<void>;
  /** Takes the terminal event and ends the answer; only the first counts. */
  finish(event: TerminalAonEvent): void;
  /** Stops all timers because the answer went another way. */
  leave(): void;
}

/** What carries a glass box's lines. */
export interface Sink {
  /** Sends the status 200 and the headers. */
  open(headers: Readonly<Record<string, string>>): void;
  /** Sends text; false when the next should wait for `drained`. */
  write(text: string): boolean;
  /** Sends what is left and ends the connection. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
  /** Whom to tell, once, before anything else. */
  watch(listener: SinkListener): void;
}

/** What a sink tells of the other side. */
export interface SinkListener {
  /** It took what waited. */
  readonly drained: () => void;
  /** Everything is out after `end`. */
  readonly finished: () => void;
  /** It is gone. */
  readonly gone: () => void;
}
