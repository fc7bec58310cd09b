import { Fault, REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { FaultReport, JsonObject } from "@vidro/core";
import { bytesOf, tooLongFault } from "@vidro/core/wire/agent-ws";

/** The answer to a poll: messages, and the position behind the last of them. */
export interface Batch {
  readonly messages: readonly JsonObject[];
  readonly cursor: number;
}

interface OutgoingMessage {
  readonly place: number;
  readonly bytes: number;
  readonly message: JsonObject;
}

/** Messages for a hand that polls; each stays until the hand has acknowledged it. */
export class Outbox {
  #waiting: readonly OutgoingMessage[] = [];
  #bytes = 0;
  #place = 0;
  /** The position up to which messages were given out. */
  #given = 0;
  #wake: (() => void) | undefined;
  #why: FaultReport | undefined;

  /** Adds a message; HAND_UNAVAILABLE when too many wait. */
  put(message: JsonObject): void {
    const bytes = bytesOf(message);
    const refused = tooLongFault(bytes, REGISTER_LIMITS.messageBytes);
    if (refused !== undefined) throw refused;
    if (this.#waiting.length >= REGISTER_LIMITS.orders || this.#bytes + bytes > SIGNED_HTTP_LIMITS.outboxBytes)
      throw new Fault("HAND_UNAVAILABLE", "The hand does not fetch what waits for it.");
    this.#place += 1;
    this.#bytes += bytes;
    this.#waiting = [...this.#waiting, { place: this.#place, bytes, message }];
    this.#wake?.();
  }

  /** Removes the messages up to a position; without one, all that were given out. */
  acknowledge(place: number = this.#given): void {
    this.#waiting = this.#waiting.filter((one) => one.place > place);
    this.#bytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * The waiting messages, as soon as there is one or the time is up; a newer poll ends an older one.
   * Rejects with the reason when the outbox is closed.
   */
  async next(waitMs: number, signal: AbortSignal): Promise<Batch> {
    this.#wake?.();
    if (this.#waiting.length === 0 && this.#why === undefined) await this.#waitForWake(waitMs, signal);
    if (this.#why !== undefined) throw new Fault(this.#why.code, this.#why.message);
    return this.#batch();
  }

  /** Closes the outbox: pending and later polls reject. */
  close(why: FaultReport): void {
    this.#why ??= why;
    this.#wake?.();
  }

  async #waitForWake(waitMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = setTimeout(wake, waitMs);
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
    if (this.#wake === wake) this.#wake = undefined;
  }

  /** As many messages as fit into one answer. */
  #batch(): Batch {
    let bytes = 0;
    const fits = this.#waiting.filter((one, at) => (bytes += one.bytes) <= REGISTER_LIMITS.messageBytes || at === 0);
    this.#given = fits.at(-1)?.place ?? this.#given;
    return { messages: fits.map(({ message }) => message), cursor: this.#given };
  }
}
