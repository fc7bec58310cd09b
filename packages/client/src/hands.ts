import type { DialRequest } from "@vidro/core";
import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { handAddressOf, handRecordOf, handRecordsOf, handKeyOf, samplesOf } from "./records.ts";
import type { HandRecord, HandSample } from "./records.ts";

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** A listening hand for the brain to dial. */
export type DialOptions = Omit<DialRequest, "owner">;

/** The hands of a brain; changing them requires a token with that scope. Hands are named by id or name. */
export class HandApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Lists the hands that the caller may use; `select` is an id, a name, `tag:web` or `tool:shell`. */
  async list({ select, ...part }: ListPart & { readonly select?: string } = {}): Promise<readonly HandRecord[]> {
    return this.#brain.list({ path: "v1/hands", query: { select } }, part, handRecordsOf);
  }

  /** Gets one hand; NOT_FOUND when the caller has no such hand. */
  async find(hand: string, { signal }: SignalOption = {}): Promise<HandRecord> {
    return handRecordOf(await this.#brain.requestJson({ method: "GET", path: pathOf(hand), signal }));
  }

  /** Telemetry of the hand's host in the last seconds, oldest first. */
  async telemetry(
    hand: string,
    { seconds, signal }: SignalOption & { readonly seconds?: number } = {},
  ): Promise<readonly HandSample[]> {
    const path = `${pathOf(hand)}/telemetry`;
    return samplesOf(await this.#brain.requestJson({ method: "GET", path, query: { seconds }, signal }));
  }

  /** Makes the brain dial a listening hand until it is revoked; resolves after the first try. */
  async dial({ tags, ...hand }: DialOptions, { signal }: SignalOption = {}): Promise<HandRecord> {
    const body = { ...hand, ...(tags === undefined ? {} : { tags: [...tags] }) };
    return handRecordOf(await this.#brain.requestJson({ method: "POST", path: "v1/hands/dialed", body, signal }));
  }

  /** Revokes a hand, permanently and at once. */
  async revoke(hand: string, options: SignalOption & { readonly why?: string } = {}): Promise<HandRecord> {
    return this.#change(hand, "revoke", options);
  }

  /** Stops giving a hand new work until it is released. */
  async quarantine(hand: string, options: SignalOption & { readonly why?: string } = {}): Promise<HandRecord> {
    return this.#change(hand, "quarantine", options);
  }

  /** Lets a quarantined hand work again. */
  async release(hand: string, options: SignalOption = {}): Promise<HandRecord> {
    return this.#change(hand, "release", options);
  }

  /** Gives a hand that signs its messages its next key; resolves to the id of that key. */
  async rotateKey(
    hand: string,
    { signal }: SignalOption = {},
  ): Promise<{ readonly id: string; readonly keyId: string }> {
    const path = `${pathOf(hand)}/rotate-key`;
    return handKeyOf(await this.#brain.requestJson({ method: "POST", path, body: {}, signal }));
  }

  /** Sets the address at which the brain may call a listening hand; null removes it. */
  async allowAddress(
    hand: string,
    url: string | null,
    { signal }: SignalOption = {},
  ): Promise<{ readonly id: string; readonly url: string | null }> {
    return handAddressOf(
      await this.#brain.requestJson({ method: "POST", path: `${pathOf(hand)}/address`, body: { url }, signal }),
    );
  }

  async #change(
    hand: string,
    word: string,
    { why, signal }: SignalOption & { readonly why?: string },
  ): Promise<HandRecord> {
    const body = why === undefined ? {} : { why };
    return handRecordOf(
      await this.#brain.requestJson({ method: "POST", path: `${pathOf(hand)}/${word}`, body, signal }),
    );
  }
}

function pathOf(hand: string): string {
  return `v1/hands/${encodeURIComponent(hand)}`;
}
