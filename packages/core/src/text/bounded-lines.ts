import { OUTPUT_LIMITS } from "../limits.ts";

/** Where lines go: a stream of Node, or what behaves like one. */
export interface LineSink {
  /** What was written and not taken yet. */
  readonly writableLength: number;
  write(text: string): unknown;
  once(event: "drain", listener: () => void): unknown;
}

/**
 * Writes lines that may be lost to a sink that may not be read: while too much waits there lines are dropped, and once
 * there is room again `dropped` says how many.
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
