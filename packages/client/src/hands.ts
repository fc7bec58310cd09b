import type { Link, ListPart } from "./link.ts";
import { addressOf, handOf, handsOf, keyOf, samplesOf } from "./wire.ts";
import type { HandRecord, HandSample } from "./wire.ts";

interface Signed {
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
export class Hands {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Those that the caller may use, or those of them that a selector means: an id, a name, `tag:web`, `tool:shell`. */
  async list({ select, ...part }: ListPart & { readonly select?: string } = {}): Promise<readonly HandRecord[]> {
    return this.#link.list({ path: "v1/hands", query: { select } }, part, handsOf);
  }

  /** One of them; NOT_FOUND when there is no such hand, or it is another's. */
  async find(hand: string, { signal }: Signed = {}): Promise<HandRecord> {
    return handOf(await this.#link.json({ method: "GET", path: pathOf(hand), signal }));
  }

  /** What it told of its host in the last seconds, oldest first. */
  async telemetry(
    hand: string,
    { seconds, signal }: Signed & { readonly seconds?: number } = {},
  ): Promise<readonly HandSample[]> {
    const path = `${pathOf(hand)}/telemetry`;
    return samplesOf(await this.#link.json({ method: "GET", path, query: { seconds }, signal }));
  }

  /** Has a hand dialled that listens, until it is revoked; tells how it is after the first try. */
  async dial({ tags, ...hand }: DialOptions, { signal }: Signed = {}): Promise<HandRecord> {
    const body = { ...hand, ...(tags === undefined ? {} : { tags: [...tags] }) };
    return handOf(await this.#link.json({ method: "POST", path: "v1/hands/dialed", body, signal }));
  }

  /** Ends it for good, at once. */
  async revoke(hand: string, options: Signed & { readonly why?: string } = {}): Promise<HandRecord> {
    return this.#change(hand, "revoke", options);
  }

  /** Gives it no new work until it is released. */
  async quarantine(hand: string, options: Signed & { readonly why?: string } = {}): Promise<HandRecord> {
    return this.#change(hand, "quarantine", options);
  }

  /** Lets it work again. */
  async release(hand: string, options: Signed = {}): Promise<HandRecord> {
    return this.#change(hand, "release", options);
  }

  /** Gives it its next key, if it signs its messages; tells the name of that key. */
  async rotateKey(hand: string, { signal }: Signed = {}): Promise<{ readonly id: string; readonly keyId: string }> {
    const path = `${pathOf(hand)}/rotate-key`;
    return keyOf(await this.#link.json({ method: "POST", path, body: {}, signal }));
  }

  /** Lets it be called at an address that it names, if it listens, or with null at none. */
  async allowAddress(
    hand: string,
    url: string | null,
    { signal }: Signed = {},
  ): Promise<{ readonly id: string; readonly url: string | null }> {
    return addressOf(await this.#link.json({ method: "POST", path: `${pathOf(hand)}/address`, body: { url }, signal }));
  }

  async #change(hand: string, word: string, { why, signal }: Signed & { readonly why?: string }): Promise<HandRecord> {
    const body = why === undefined ? {} : { why };
    return handOf(await this.#link.json({ method: "POST", path: `${pathOf(hand)}/${word}`, body, signal }));
  }
}

function pathOf(hand: string): string {
  return `v1/hands/${encodeURIComponent(hand)}`;
}
