import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";

const MARK_CHARS = 64;

/**
 * The file beside a store that counts the entries of the store. It is written without waiting for the disk, after what
 * it counts is on the disk: it may count too few, never too many.
 */
export class StoreMark {
  readonly #path: string;
  readonly #inode: string;
  #file: number | undefined;

  /** The mark of the store at a path, in the file of that inode. */
  constructor(store: string, inode: string) {
    this.#path = `${store}-mark`;
    this.#inode = inode;
  }

  /** How many entries it counts, unless it is that of another file; undefined when there is none that can be read. */
  read(): number | "another file" | undefined {
    try {
      const [, inode, entries] = /^(\d+) (\d+)\s*$/.exec(readFileSync(this.#path, "utf8")) ?? [];
      if (inode === undefined) return undefined;
      return inode === this.#inode ? Number(entries) : "another file";
    } catch {
      return undefined;
    }
  }

  /** Counts so many entries; throws what the system throws. */
  write(entries: number): void {
    this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#file, `${`${this.#inode} ${entries}`.padEnd(MARK_CHARS - 1)}\n`, 0);
  }

  /** Writes no more. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
