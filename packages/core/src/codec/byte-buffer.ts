/** Collects the bytes of one frame or line that arrives in pieces. It copies them: the caller may reuse a chunk. */
export interface ByteBuffer {
  /** How many bytes are held. */
  readonly size: number;
  /** Keeps a copy of the bytes. */
  add(bytes: Uint8Array): void;
  /** The held bytes followed by `last`, and nothing is held any more; valid until the next `add`. */
  take(last: Uint8Array): Uint8Array;
  /** Discards what is held. */
  clear(): void;
}

const FIRST_BYTES = 256;
/** A buffer that one long unit made is not kept for the short ones after it. */
const KEPT_BYTES = 16 * 1024;

/** A buffer that doubles its size as needed, so that many small chunks take linear time. */
export function byteBuffer(): ByteBuffer {
  let buffer = new Uint8Array(0);
  let size = 0;

  function add(bytes: Uint8Array): void {
    const needed = size + bytes.length;
    if (needed > buffer.length) {
      const grown = new Uint8Array(Math.max(needed, buffer.length * 2, FIRST_BYTES));
      grown.set(buffer.subarray(0, size));
      buffer = grown;
    }
    buffer.set(bytes, size);
    size = needed;
  }

  function clear(): void {
    size = 0;
    if (buffer.length > KEPT_BYTES) buffer = new Uint8Array(0);
  }

  return {
    get size() {
      return size;
    },
    add,
    take(last) {
      if (size === 0) return last;
      add(last);
      const whole = buffer.subarray(0, size);
      clear();
      return whole;
    },
    clear,
  };
}
