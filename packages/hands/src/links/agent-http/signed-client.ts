import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { asFault, Fault, FAULTS, REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { signMessage } from "@vidro/core/wire/agent-http";
import { faultOf } from "@vidro/core/wire/agent-ws";
import { nodeSignatureCrypto } from "./node-crypto.ts";
import { SigningClock } from "./signing-clock.ts";
import type { KeyRing } from "./key-ring.ts";

/** Settings of a client for signed messages. */
export interface SignedClientOptions {
  /** Scheme, host and port of the brain's listener for hands. */
  readonly url: string;
  /** Certificate of the brain's authority in PEM, the only one that is trusted. */
  readonly ca?: string;
  readonly ring: KeyRing;
  readonly now: () => number;
  /** Receives notes for a person at the host. */
  readonly note: (text: string) => void;
}

/** Bytes of a random nonce. */
const NONCE_BYTES = 16;
/** Longest reply: it has several messages, and the last one may begin right below the bound. */
const REPLY_BYTES = 2 * REGISTER_LIMITS.messageBytes;

/** Sends signed messages to a brain and accepts only replies that the brain signed. */
export class SignedClient {
  readonly #options: SignedClientOptions;
  readonly #agent: HttpAgent;
  readonly #isTls: boolean;
  readonly clock: SigningClock;

  constructor(options: SignedClientOptions) {
    this.#options = options;
    this.#isTls = new URL(options.url).protocol === "https:";
    const ca = options.ca === undefined ? {} : { ca: options.ca };
    this.#agent = this.#isTls
      ? new HttpsAgent({ keepAlive: true, minVersion: "TLSv1.3", ...ca })
      : new HttpAgent({ keepAlive: true });
    this.clock = new SigningClock(options.now);
  }

  /** The brain's reply to a message. Rejects with the fault in it, or BRAIN_UNREACHABLE without a signed reply. */
  async ask(path: string, message: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const reply = await this.#once(path, message, signal);
    if (reply["code"] !== "CLOCK_SKEW") return requireOk(reply);
    const offsetMs = this.clock.adopt(reply["server_time"]);
    this.#options.note(
      `The clock of this host is ${Math.round(Math.abs(offsetMs) / 1000)} s off; signatures go by that of the brain.`,
    );
    return requireOk(await this.#once(path, message, signal));
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #once(path: string, message: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { ring } = this.#options;
    const url = new URL(path, this.#options.url);
    const { keyid, keys } = ring.current();
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const now = this.clock.now();
    const asked = signMessage({ url, message, crypto: nodeSignatureCrypto, from: "toBrain", keys, keyid, nonce, now });
    const { status, rawHeaders, body } = await this.#post(url, asked, signal);
    try {
      const reply = asked.verifyReply({ status, rawHeaders, body });
      await ring.confirm(keyid);
      return reply;
    } catch (thrown) {
      if (asFault(thrown).code !== "SIGNATURE_INVALID") throw thrown;
      ring.tryOther();
      throw new Fault(
        "BRAIN_UNREACHABLE",
        `The answer (${status}) is not signed by the brain, or it does not know this hand.`,
      );
    }
  }

  async #post(url: URL, { headers, body }: SignedRequest, signal: AbortSignal): Promise<RawReply> {
    try {
      const options = { method: "POST", agent: this.#agent, headers, signal };
      const request: ClientRequest = this.#isTls ? httpsRequest(url, options) : httpRequest(url, options);
      request.end(body);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body: await readBody(response) };
    } catch (cause) {
      throw new Fault("BRAIN_UNREACHABLE", `The brain at ${url.host} cannot be reached: ${asFault(cause).message}.`, {
        cause,
      });
    }
  }
}

interface SignedRequest {
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

interface RawReply {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > REPLY_BYTES) throw new Error("its answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The first HTTP status of a server fault. */
const SERVERS_OWN = 500;

function requireOk(reply: JsonObject): JsonObject {
  if (reply["ok"] === true) return reply;
  const { code: named, message } = faultOf(reply);
  // A fault of the brain itself is temporary, so it is retried.
  const code = FAULTS[named].http >= SERVERS_OWN && FAULTS[named].fate !== "retry" ? "BRAIN_UNREACHABLE" : named;
  const wait = reply["retry_after_ms"];
  throw new Fault(code, message, typeof wait === "number" ? { retryAfterMs: wait } : {});
}

/** A signal that fires when a reply, which the brain may delay by `heldMs`, is overdue. */
export function replyDeadline(signal: AbortSignal, heldMs = 0): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(heldMs + SIGNED_HTTP_LIMITS.replyMs)]);
}
