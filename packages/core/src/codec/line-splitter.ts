import { byteBuffer } from "./byte-buffer.ts";

const LF = 0x0a;
const CR = 0x0d;

/** Cuts a stream of bytes into lines. */
export interface LineSplitter {
  /** Calls `line` for each line that the chunk completes, without its end; once with undefined for a line over the bound. */
  push(chunk: Uint8Array, line: (bytes: Uint8Array | undefined) => void): void;
  /** The bytes behind the last line end. */
  end(): Uint8Array;
}

/**
 * Lines of at most `maxBytes`: a longer one is reported as soon as it is too long and is skipped, not held.
 * `lf`: only LF ends a line. `any`: CR, LF and CRLF do.
 */
export function lineSplitter(maxBytes: number, ends: "lf" | "any"): LineSplitter {
  const held = byteBuffer();
  let skipping = false;
  let afterCr = false;

  function part(bytes: Uint8Array, line: (bytes: Uint8Array | undefined) => void, complete: boolean): void {
    if (!skipping && held.size + bytes.length > maxBytes) {
      held.clear();
      skipping = true;
      line(undefined);
    } else if (!skipping) {
      if (complete) line(held.take(bytes));
      else held.add(bytes);
    }
    if (complete) skipping = false;
  }

  return {
    push(chunk, line) {
      if (chunk.length === 0) return;
      // The LF of a CRLF whose CR ended the line before, perhaps in the chunk before.
      let from = afterCr && chunk[0] === LF ? 1 : 0;
      afterCr = false;
      const next = ends === "lf" ? { lf: chunk.indexOf(LF, from), cr: -1 } : nextEnds(chunk, from);
      while (next.lf !== -1 || next.cr !== -1) {
        const byCr = next.cr !== -1 && (next.lf === -1 || next.cr < next.lf);
        const end = byCr ? next.cr : next.lf;
        part(chunk.subarray(from, end), line, true);
        from = end + 1;
        if (byCr && next.lf === from) from++;
        else if (byCr && from === chunk.length) afterCr = true;
        if (next.lf !== -1 && next.lf < from) next.lf = chunk.indexOf(LF, from);
        if (next.cr !== -1 && next.cr < from) next.cr = chunk.indexOf(CR, from);
      }
      if (from < chunk.length) part(chunk.subarray(from), line, false);
    },
    end: () => held.take(new Uint8Array(0)),
  };
}

function nextEnds(chunk: Uint8Array, from: number): { lf: number; cr: number } {
  return { lf: chunk.indexOf(LF, from), cr: chunk.indexOf(CR, from) };
}
