/** Characters of a stream that are kept to be compared with the journal. */
const KEPT_CHARS = 256 * 1024;

/** How much of the output of a command was printed while it came, from its beginning and without a gap. */
export class PassedOutput {
  #heard = "";
  #chars = 0;
  #bytes = 0;

  /** Bytes that were printed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a piece that begins at a character of the output; whether it follows the last one, and is to be printed. */
  take(chunk: string, from: number | undefined): boolean {
    if (from !== this.#chars) return false;
    this.#heard = (this.#heard + chunk).slice(0, KEPT_CHARS);
    this.#chars += chunk.length;
    this.#bytes += Buffer.byteLength(chunk);
    return true;
  }

  /** What is not printed of an output as the journal has it; undefined when the journal has left out what was printed. */
  rest(text: string): string | undefined {
    return text.startsWith(this.#heard) ? text.slice(this.#chars) : undefined;
  }
}
