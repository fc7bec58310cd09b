import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { request as requestPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestTls } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { asFault, Fault, HAND_LIMITS } from "@vidro/core";
import { isPublicAddress } from "./public-address.ts";

/** Whether addresses that are not public may be connected to. */
export type Reach = "public" | "any";

/** How something is fetched. */
export interface FetchOptions {
  /** The reach for a host; asked for each host on the way. */
  readonly reachOf: (host: string) => Reach;
  readonly signal: AbortSignal;
  /** Media types that are wanted, as a header says them. */
  readonly accept: string;
  /** Bytes that are read, before and after decompression. */
  readonly maxBytes: number;
  /** Which redirections are followed: those within a host, or all. */
  readonly follows: "same-host" | "all";
  /** Resolves a name; default: as the system does. */
  readonly resolveHost?: (host: string) => Promise<readonly LookupAddress[]>;
}

/** What a server gave. */
export interface FetchedBytes {
  /** The address after redirections. */
  readonly url: string;
  readonly status: number;
  /** Media type with its parameters; empty when the server named none. */
  readonly type: string;
  readonly bytes: Buffer;
  /** The body is longer than what was read of it. */
  readonly truncated: boolean;
  /** Where the server redirects to, when that is another host and is not followed. */
  readonly elsewhere?: string;
}

/**
 * Fetches an address by GET, without cookies or credentials. Each name is resolved once, and its addresses are checked
 * before the connection to one of them, so that a name cannot change its address in between; redirections that are
 * followed are checked likewise. Throws TOOL_FAILED with the reason.
 */
export async function fetchBytes(address: string, options: FetchOptions): Promise<FetchedBytes> {
  const { signal, maxBytes, follows } = options;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(HAND_LIMITS.fetchMs)]);
  let url = new URL(address);
  try {
    for (let followed = 0; followed <= HAND_LIMITS.redirects; followed += 1) {
      const response = await get(url, { ...options, signal: bounded });
      const target = redirectionOf(response, url);
      if (target === undefined) return await readBody(response, url, maxBytes);
      response.destroy();
      if (follows === "same-host" && target.hostname !== url.hostname)
        return { ...headOf(response, url), bytes: Buffer.of(), truncated: false, elsewhere: target.href };
      url = target;
    }
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const why =
      bounded.aborted && !signal.aborted
        ? `it took longer than ${HAND_LIMITS.fetchMs / 1000} seconds`
        : asFault(thrown).message;
    throw new Fault("TOOL_FAILED", `${url.href} cannot be fetched: ${why}`, { cause: thrown });
  }
  throw new Fault("TOOL_FAILED", `${url.href} redirects more than ${HAND_LIMITS.redirects} times.`);
}

const FIRST_REDIRECTION = 300;
const FIRST_ERROR = 400;

/** Where a response redirects to; undefined when it does not. */
function redirectionOf({ statusCode = 0, headers }: IncomingMessage, url: URL): URL | undefined {
  if (statusCode < FIRST_REDIRECTION || statusCode >= FIRST_ERROR || headers.location === undefined) return undefined;
  const target = URL.parse(headers.location, url);
  if (target === null || !/^https?:$/.test(target.protocol) || target.href.length > HAND_LIMITS.urlChars)
    throw new Fault("TOOL_FAILED", `${url.href} redirects to what is no address of a page.`);
  // Credentials in the address of a redirection are not sent.
  target.username = target.password = "";
  return target;
}

async function get(url: URL, options: FetchOptions): Promise<IncomingMessage> {
  const { reachOf, signal, accept, resolveHost = resolveAll } = options;
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(literal);
  const resolving = family === 0 ? resolveHost(url.hostname) : [{ address: literal, family }];
  const addresses = await Promise.race([resolving, rejectOnAbort(signal)]);
  for (const { address } of addresses) requireReachable(url.hostname, address, reachOf(url.hostname));
  const headers = { accept, "accept-encoding": "gzip, deflate, br", "user-agent": "vidro-hand" };
  const sending: RequestOptions = { signal, agent: false, headers, lookup: lookupOf(addresses) };
  const request = url.protocol === "https:" ? requestTls : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(url, sending, resolve);
    sent.on("error", reject);
    sent.end();
  });
}

/** A resolver knows no signals, and may wait for a server of names that does not answer. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

const resolveAll = (host: string): Promise<LookupAddress[]> => lookup(host, { all: true });

/** Gives a connection the addresses that were checked. */
function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    if (all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
  };
}

function requireReachable(host: string, address: string, reach: Reach): void {
  if (reach === "any" || isPublicAddress(address)) return;
  throw new Fault(
    "TOOL_FAILED",
    `${host} has the address ${address}, which is not public, and is not fetched. To allow it, the policy of this host has to name ${host} in privateHosts.`,
  );
}

function headOf({ statusCode = 0, headers }: IncomingMessage, url: URL) {
  return { url: url.href, status: statusCode, type: headers["content-type"] ?? "" };
}

async function readBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<FetchedBytes> {
  using reading = new DisposableStack();
  reading.defer(() => response.destroy());
  return { ...headOf(response, url), ...(await readBounded(decodeBody(response), maxBytes)) };
}

const DECODERS = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };

function decodeBody(response: IncomingMessage): Readable {
  const coding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (coding === "identity") return response;
  if (!Object.hasOwn(DECODERS, coding))
    throw new Fault("TOOL_FAILED", `The server sent the page in the unknown coding ${coding}.`);
  const decoder = DECODERS[coding as keyof typeof DECODERS]();
  response.on("error", (error) => decoder.destroy(error));
  decoder.on("close", () => response.destroy());
  return response.pipe(decoder);
}

/** Reads a body up to the bound; what is behind it is not received. */
async function readBounded(body: Readable, maxBytes: number): Promise<Pick<FetchedBytes, "bytes" | "truncated">> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  return { bytes: bytes.subarray(0, maxBytes), truncated: bytes.length > maxBytes };
}
