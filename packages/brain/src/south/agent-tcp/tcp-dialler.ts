import type { DialRequest, HandDialler } from "@vidro/core";
import type { DialledHands } from "./dialled-hands.ts";
import type { TcpDiallerOptions } from "./dial-options.ts";
import { DIALLED_HAND } from "./dial-options.ts";

/** Dials the hands that listen, of which nothing is loaded before there is one. */
export class TcpDialler implements HandDialler {
  readonly #options: TcpDiallerOptions;
  #dialled: Promise<DialledHands> | undefined;
  #resuming: Promise<void> = Promise.resolve();

  constructor(options: TcpDiallerOptions) {
    this.#options = options;
  }

  /** Dials again all that is to be dialled; nothing of that is waited for. */
  async open(): Promise<void> {
    const some = await this.#options.records.list(DIALLED_HAND, { limit: 1 });
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
