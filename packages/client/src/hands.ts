import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { handAddressOf, handRecordOf, handRecordsOf, handKeyOf, samplesOf } from "./records.ts";
import type { HandRecord, HandSample } from "./records.ts";

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** A hand that listens, and that a brain is to dial. */
export interface DialOptions {
  /** `tls://host:port`, or `tcp://host:port` on the brain's own machine. */
  readonly url: string;
  /** One of the hand's own. */
  readonly token: string;
  /** What to call it; default: as it calls itself. */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** Certificates in PEM that it is believed by, instead of those that the brain's system trusts. */
  readonly ca?: string;
  /** A laboratory: no TLS, though it is another machine. */
  readonly lab?: boolean;
}

/** The hands of a brain; changing them needs a token that may. A hand is meant by its id or its name. */
export class HandApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Those that the caller may use, or those of them that a selector means: an id, a name, `tag:web`, `tool:shell`. */
  async list({ select, ...part }: ListPart & { readonly select?: string } = {}): Promise<readonly HandRecord[]> {
    return this.#brain.list({ path: "v1/hands", query: { select } }, part, handRecordsOf);
  }

  /** One of them; NOT_FOUND when there is no such hand, or it is another's. */
  async find(hand: string, { signal }: SignalOption = {}): Promise<HandRecord> {
    return handRecordOf(await this.#brain.requestJson({ method: "GET", path: pathOf(hand), signal }));
  }

  /** What it told of its host in the last seconds, oldest first. */
  async telemetry(
    hand: string,
    { seconds, signal }: SignalOption & { readonly seconds?: number } = {},
  ): Promise<readonly HandSample[]> {
    const path = `${pathOf(hand)}/telemetry`;
    return samplesOf(await this.#brain.requestJson({ method: "GET", path, query: { seconds }, signal }));
  }

  /** Has a hand dialled that listens, until it is revoked; tells how it is after the first try. */
  async dial({ tags, ...hand }: DialOptions, { signal }: SignalOption = {}): Promise<HandRecord> {
    const body = { ...hand, ...(tags === undefined ? {} : { tags: [...tags] }) };
    return handRecordOf(await this.#brain.requestJson({ method: "POST", path: "v1/hands/dialed", body, signal }));
  }

  /** Ends it for good, at once. */
  async revoke(hand: string, options: SignalOption & { readonly why?: string } = {}): Promise<HandRecord> {
    return this.#change(hand, "revoke", options);
  }

  /** Gives it no new work until it is released. */
  async quarantine(hand: string, options: SignalOption & { readonly why?: string } = {}): Promise<HandRecord> {
    return this.#change(hand, "quarantine", options);
  }

  /** Lets it work again. */
  async release(hand: string, options: SignalOption = {}): Promise<HandRecord> {
    return this.#change(hand, "release", options);
  }

  /** Gives it its next key, if it signs its messages; tells the name of that key. */
  async rotateKey(
    hand: string,
    { signal }: SignalOption = {},
  ): Promise<{ readonly id: string; readonly keyId: string }> {
    const path = `${pathOf(hand)}/rotate-key`;
    return handKeyOf(await this.#brain.requestJson({ method: "POST", path, body: {}, signal }));
  }

  /** Lets it be called at an address that it names, if it listens, or with null at none. */
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
