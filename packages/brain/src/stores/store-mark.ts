import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";

const MARK_CHARS = 64;

/**
 * The file beside a store with its number of entries. It is written after the entries are on disk, and without a sync:
 * it may count too few, never too many.
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

  /** The number of entries, unless the mark is of another file; undefined when there is no readable mark. */
  read(): number | "another file" | undefined {
    try {
      const [, inode, entries] = /^(\d+) (\d+)\s*$/.exec(readFileSync(this.#path, "utf8")) ?? [];
      if (inode === undefined) return undefined;
      return inode === this.#inode ? Number(entries) : "another file";
    } catch {
      return undefined;
    }
  }

  /** Writes the number of entries; throws the system's error. */
  write(entries: number): void {
    this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#file, `${`${this.#inode} ${entries}`.padEnd(MARK_CHARS - 1)}\n`, 0);
  }

  /** Stops writing. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
