import type { DialRequest, HandDialler } from "@vidro/core";
import type { DialledHands } from "./dialled-hands.ts";
import type { TcpDiallerOptions } from "./dial-options.ts";
import { DIALLED_HAND } from "./dial-options.ts";

/** Dials hands that listen; the code for it is loaded with the first one. */
export class TcpDialler implements HandDialler {
  readonly #options: TcpDiallerOptions;
  #dialled: Promise<DialledHands> | undefined;
  #resuming: Promise<void> = Promise.resolve();

  constructor(options: TcpDiallerOptions) {
    this.#options = options;
  }

  /** Starts to dial all hands in the store, and does not wait for them. */
  async open(): Promise<void> {
    const some = await this.#options.records.list(DIALLED_HAND, { limit: 1 });
    if (some.length > 0) this.#resuming = this.#load().then((dialled) => dialled.resume());
  }

  /** Dials a hand until it is revoked; returns its id after the first try. Durable when it resolves. */
  async dial(request: DialRequest): Promise<string> {
    return (await this.#load()).dial(request);
  }

  /** Closes all connections and stops dialling. */
  async close(): Promise<void> {
    await this.#resuming;
    await (await this.#dialled)?.close();
  }

  #load(): Promise<DialledHands> {
    this.#dialled ??= import("./dialled-hands.ts").then((module) => new module.DialledHands(this.#options));
    return this.#dialled;
  }
}
