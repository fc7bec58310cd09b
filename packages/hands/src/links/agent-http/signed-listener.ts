import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  asFault,
  Fault,
  FAULTS,
  REGISTER_LIMITS,
  HTTP_LIMITS,
  isLoopbackHost,
  listenFault,
  SIGNED_HTTP_LIMITS,
} from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { answerSigned, deriveKeys, MESSAGES_PATH } from "@vidro/core/wire/agent-http";
import type { SignedMessageServer, SignedHttpReply } from "@vidro/core/wire/agent-http";
import { tooLongFault } from "@vidro/core/wire/agent-ws";
import { nodeSignatureCrypto } from "./node-crypto.ts";
import type { KeyRing } from "./key-ring.ts";

/** Where a host listens for its brain. */
export interface ListenOptions {
  /** The address to listen on; beyond this machine only with `tls`. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** A certificate and its key, in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Settings of a listener; `answer` gets the messages whose signature is valid. */
interface ListenerOptions extends ListenOptions {
  readonly ring: KeyRing;
  readonly now: () => number;
  readonly answer: (message: JsonObject) => Promise<JsonObject>;
}

/** A listener that is up. */
export interface SignedListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts to listen for signed messages of the brain; rejects with PORT_TAKEN if the address is in use. */
export async function listenSigned(options: ListenerOptions): Promise<SignedListener> {
  const { host, port, tls } = options;
  if (tls === undefined && !isLoopbackHost(host))
    throw new Fault("BAD_REQUEST", `${host} can be reached from other machines: give a certificate and its key too.`);
  const door = messageServer(options);
  const serve: RequestListener = (request, response) => {
    readAndAnswer(door, request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      (thrown: unknown) => refuse(response, asFault(thrown)),
    );
  };
  const server: Server =
    tls === undefined ? createServer(BOUNDS, serve) : createTlsServer({ ...BOUNDS, ...tls }, serve);
  server.maxHeadersCount = HTTP_LIMITS.headers;
  server.listen(port, host);
  await once(server, "listening").catch((cause: Error) => {
    throw listenFault(`${host}:${port}`, cause);
  });
  // Without a free descriptor a connection is lost and the brain calls again; the hand continues.
  server.on("error", () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const BOUNDS = {
  maxHeaderSize: HTTP_LIMITS.headerBytes,
  headersTimeout: HTTP_LIMITS.headersMs,
  requestTimeout: HTTP_LIMITS.requestMs,
  keepAliveTimeout: HTTP_LIMITS.keepAliveMs,
  minVersion: "TLSv1.3",
} as const;

function messageServer({ ring, now, answer, tls }: ListenerOptions): SignedMessageServer {
  const nonces = new RecentNonces(now);
  return {
    crypto: nodeSignatureCrypto,
    scheme: tls === undefined ? "http" : "https",
    from: "toHand",
    decoyKeys: deriveKeys(randomBytes(SIGNED_HTTP_LIMITS.keyBytes), "none", nodeSignatureCrypto),
    now,
    keys: async (keyid) => ring.find(keyid),
    isFirst: async ({ nonce = "" }) => nonces.isFirst(nonce),
    async answer({ path, message }) {
      if (path !== MESSAGES_PATH) throw new Fault("NOT_FOUND", `There is nothing at ${path}.`);
      return answer(message);
    },
  };
}

async function readAndAnswer(door: SignedMessageServer, request: IncomingMessage): Promise<SignedHttpReply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= REGISTER_LIMITS.messageBytes) chunks.push(chunk);
    else if (bytes > REGISTER_LIMITS.readBytes) break;
  }
  const refused = tooLongFault(bytes, REGISTER_LIMITS.messageBytes);
  if (refused !== undefined) throw refused;
  const { method = "", url: target = "", rawHeaders } = request;
  return answerSigned(door, { method, target, rawHeaders, body: Buffer.concat(chunks) });
}

/** Refuses a message that was not read. */
function refuse(response: ServerResponse, { code, message: error }: Fault): void {
  if (code !== "PAYLOAD_TOO_LARGE") return void response.destroy();
  const headers = { "content-type": "application/json", connection: "close" };
  response.writeHead(FAULTS[code].http, headers).end(JSON.stringify({ ok: false, code, error }));
}

/**
 * Nonces received by this process, kept as long as a message could be replayed. Nonces from before its start are not
 * needed: a new process has a new session, and orders of older sessions are refused.
 */
class RecentNonces {
  readonly #now: () => number;
  /** Time of receipt by nonce, the oldest first. */
  readonly #came = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  isFirst(nonce: string): boolean {
    const now = this.#now();
    for (const [old, at] of this.#came) {
      if (at > now - SIGNED_HTTP_LIMITS.nonceMs) break;
      this.#came.delete(old);
    }
    if (this.#came.has(nonce)) return false;
    if (this.#came.size >= SIGNED_HTTP_LIMITS.nonces)
      throw new Fault("RATE_LIMITED", "Too many messages came in a short time.");
    this.#came.set(nonce, now);
    return true;
  }
}
