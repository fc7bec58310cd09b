import type { ProgressEvent, TerminalAonEvent } from "./event.ts";

/** Receives the events of one request. */
export interface AonBox {
  /** Whether the terminal event was given, or the client has disconnected. */
  readonly isOver: boolean;
  /** Whether the response headers are sent, so that the status cannot change any more. */
  readonly isOpen: boolean;
  /** Begins the answer; later calls do nothing. */
  open(): void;
  /** Takes an event; resolves when the reader keeps up. Events after the terminal one are ignored. */
  emit(event: ProgressEvent): Promise<void>;
  /** Takes the terminal event and ends the answer; only the first counts. */
  finish(event: TerminalAonEvent): void;
  /** Stops all timers because the answer was sent otherwise. */
  leave(): void;
}

/** The transport of a glass box's lines. */
export interface Sink {
  /** Sends the status 200 and the headers. */
  open(headers: Readonly<Record<string, string>>): void;
  /** Sends text; false when the next should wait for `drained`. */
  write(text: string): boolean;
  /** Sends what is left and ends the connection. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
  /** Sets the listener; called once, first. */
  watch(listener: SinkListener): void;
}

/** Callbacks of a sink. */
export interface SinkListener {
  /** The reader has taken the waiting output. */
  readonly drained: () => void;
  /** Everything was sent after `end`. */
  readonly finished: () => void;
  /** The connection is gone. */
  readonly gone: () => void;
}
