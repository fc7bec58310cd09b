import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { asFault, Fault, REGISTER_LIMITS, textIn } from "@vidro/core";
import type { JsonObject, Records } from "@vidro/core";
import { signMessage, MESSAGES_PATH } from "@vidro/core/wire/agent-http";
import type { HandKeys } from "./keys.ts";
import { lookupAllowed, bareHost, isForbiddenAddress, isThisMachine } from "../allowed-addresses.ts";
import { signatureCrypto } from "./signature-crypto.ts";

const KIND = "hand-address";
const NONCE_BYTES = 16;
const REPLY_BYTES = 2 * REGISTER_LIMITS.messageBytes;

/** The addresses at which an administrator allows hands to be called; the word of the hand is not enough. */
export class HandAddresses {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Whether a hand may be called at an address. */
  async isAllowed(hand: string, url: string): Promise<boolean> {
    return (await this.#records.get(KIND, hand))?.body["url"] === url;
  }

  /** Allows a hand to be called at an address, or nowhere; BAD_REQUEST for an address that may not be called. */
  async allow(hand: string, owner: string, url: string | undefined): Promise<void> {
    if (url === undefined) return void (await this.#records.delete(KIND, hand));
    const { protocol, username, password, pathname, search, hash, hostname } = parseUrl(url);
    const isPlain = username + password + search + hash === "" && pathname === "/";
    const isSafe = protocol === "https:" || (protocol === "http:" && isThisMachine(bareHost(hostname)));
    if (!isPlain || !isSafe || isForbiddenAddress(bareHost(hostname)))
      throw new Fault(
        "BAD_REQUEST",
        "A hand is called at an address like https://host.example:8443, and nothing behind it.",
      );
    await this.#records.put({ kind: KIND, id: hand, owner, body: { url } });
  }
}

/** A hand to call, and its keys. */
interface DirectCallTarget {
  readonly hand: string;
  /** Scheme, host and port, which an administrator has allowed. */
  readonly url: string;
  readonly keys: Pick<HandKeys, "active" | "keys">;
  readonly now: () => number;
}

/** Calls hands that listen: gives the reply to a message, and rejects when there is none that the hand has signed. */
export function directCall({
  hand,
  url: base,
  keys,
  now,
}: DirectCallTarget): (message: JsonObject) => Promise<JsonObject> {
  const url = new URL(MESSAGES_PATH, base);
  return async (message) => {
    const keyid = await keys.active(hand);
    const held = await keys.keys(keyid);
    if (held === undefined) throw new Fault("HAND_REVOKED");
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const asked = signMessage({
      url,
      message,
      crypto: signatureCrypto,
      from: "toHand",
      keys: held,
      keyid,
      nonce,
      now: now(),
    });
    const reply = await post(url, asked.headers, asked.body);
    const said = asked.verifyReply(reply);
    // A refusal of the request itself is no reply to the message.
    if (reply.status !== 200) throw new Fault("HAND_UNAVAILABLE", textIn(said, "error"));
    return said;
  };
}

interface Reply {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

async function post(url: URL, headers: { readonly [name: string]: string }, body: Uint8Array): Promise<Reply> {
  const signal = AbortSignal.timeout(REGISTER_LIMITS.endMs);
  const options = { method: "POST", headers, signal, lookup: lookupAllowed };
  try {
    const sent: ClientRequest = url.protocol === "https:" ? httpsRequest(url, options) : httpRequest(url, options);
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > REPLY_BYTES) throw new Error("its reply is too long");
      chunks.push(chunk);
    }
    return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body: Buffer.concat(chunks) };
  } catch (cause) {
    throw new Fault("HAND_UNAVAILABLE", `${url.host} cannot be reached: ${asFault(cause).message}.`, { cause });
  }
}

function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new Fault("BAD_REQUEST", `${JSON.stringify(url)} is no address.`);
  return new URL(url);
}
