import { OUTPUT_LIMITS } from "../limits.ts";

/** The sink of lines: a Node stream or a compatible object. */
export interface LineSink {
  /** Length of what is written and not flushed yet. */
  readonly writableLength: number;
  write(text: string): unknown;
  once(event: "drain", listener: () => void): unknown;
}

/**
 * Writes lines to a sink without blocking: while too much is unflushed, lines are dropped, and once there is room again
 * the line that `dropped` makes of their number is written.
 */
export function boundedLines(sink: LineSink, dropped: (count: number) => string): (line: string) => void {
  let count = 0;
  const hasRoom = (): boolean => sink.writableLength <= OUTPUT_LIMITS.unreadBytes;
  const tell = (): void => {
    if (count === 0 || !hasRoom()) return;
    sink.write(dropped(count));
    count = 0;
  };
  return (line) => {
    tell();
    if (hasRoom()) return void sink.write(line);
    if (count === 0) sink.once("drain", tell);
    count += 1;
  };
}
