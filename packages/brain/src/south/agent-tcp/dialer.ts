import type { DialRequest, HandDialler, Records } from "@vidro/core";
import type { Log } from "../../observe/log.ts";
import type { DialledHands } from "./dialled-hands.ts";
import type { Hands } from "../register/hands.ts";

/** What dialling needs. */
export interface DialerOptions {
  /** Where the secret is kept that tokens are encrypted with. */
  readonly folder: string;
  readonly records: Records;
  readonly hands: Hands;
  readonly log: Log;
}

/** The kind of record that is a hand which is dialled. */
export const DIALLED = "dialled-hand";

/** Dials the hands that listen, of which nothing is loaded before there is one. */
export class Dialer implements HandDialler {
  readonly #options: DialerOptions;
  #dialled: Promise<DialledHands> | undefined;
  #resuming: Promise<void> = Promise.resolve();

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** Dials again all that is to be dialled; nothing of that is waited for. */
  async open(): Promise<void> {
    const some = await this.#options.records.list(DIALLED, { limit: 1 });
    if (some.length > 0) this.#resuming = this.#loaded().then((dialled) => dialled.resume());
  }

  /** Dials a hand from now on, until it is revoked; gives its id when it was tried once. Durable when it resolves. */
  async dial(request: DialRequest): Promise<string> {
    return (await this.#loaded()).dial(request);
  }

  /** Hangs up, and dials nobody any more. */
  async close(): Promise<void> {
    await this.#resuming;
    await (await this.#dialled)?.close();
  }

  #loaded(): Promise<DialledHands> {
    this.#dialled ??= import("./dialled-hands.ts").then((module) => new module.DialledHands(this.#options));
    return this.#dialled;
  }
}
