import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isObject } from "@vidro/core";

/** The last seal of a store. */
export interface LastSeal {
  readonly number: number;
  readonly digest: string;
}

/** Stands for the last seal of a store without seals. */
export const NO_SEAL: LastSeal = { number: 0, digest: "" };

/**
 * The file beside a store that names its last seal, so that a store that lost seals is detected. It is written after
 * the seal is on disk, and without a sync: it may name an older seal, never a newer one.
 */
export class SealMark {
  readonly #path: string;

  /** The mark of the store at a path. */
  constructor(store: string) {
    this.#path = `${store}-seal`;
  }

  /** The seal that it names; undefined when there is none that can be read. */
  read(): LastSeal | undefined {
    try {
      const { number, digest } = objectOrEmpty(JSON.parse(readFileSync(this.#path, "utf8")));
      return typeof number === "number" && typeof digest === "string" ? { number, digest } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Names a seal; throws what the system throws. */
  write(last: LastSeal): void {
    const draft = `${this.#path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(last)}\n`, { mode: 0o600 });
    renameSync(draft, this.#path);
  }
}

function objectOrEmpty(value: unknown): { readonly [name: string]: unknown } {
  return isObject(value) ? value : {};
}
