import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { request as requestPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestTls } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { asFault, Fault, HAND_LIMITS } from "@vidro/core";
import { isPublicAddress } from "./public-address.ts";

/** How a page is fetched. */
interface FetchOptions {
  /** Whether addresses that are not public may be connected to. */
  readonly reach: "public" | "any";
  readonly signal: AbortSignal;
  /** Resolves a name; default: as the system does. */
  readonly resolveHost?: (host: string) => Promise<readonly LookupAddress[]>;
}

/** A page as a server gave it. */
export interface FetchedPage {
  /** The address after redirections within its host. */
  readonly url: string;
  readonly status: number;
  /** Media type without parameters, in lower case; empty when the server named none. */
  readonly type: string;
  readonly body: string;
  /** The body is longer than what was read of it. */
  readonly truncated: boolean;
  /** Where the server redirects to, when that is another host: it is not followed. */
  readonly elsewhere?: string;
}

/**
 * Fetches a page by GET, without cookies or credentials. Each name is resolved once, and its addresses are checked
 * before the connection to one of them, so that a name cannot change its address in between; redirections to the same
 * host are followed and checked likewise. Throws TOOL_FAILED with the reason.
 */
export async function fetchPage(address: string, options: FetchOptions): Promise<FetchedPage> {
  const { signal } = options;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(HAND_LIMITS.fetchMs)]);
  let url = new URL(address);
  try {
    for (let followed = 0; followed <= HAND_LIMITS.redirects; followed += 1) {
      const response = await get(url, { ...options, signal: bounded });
      const target = redirectionOf(response, url);
      if (target === undefined) return await readPage(response, url);
      response.destroy();
      if (target.hostname !== url.hostname) return pageElsewhere(response, { from: url, to: target });
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
  return target;
}

function pageElsewhere({ statusCode = 0 }: IncomingMessage, { from, to }: { from: URL; to: URL }): FetchedPage {
  return { url: from.href, status: statusCode, type: "", body: "", truncated: false, elsewhere: to.href };
}

const HEADERS = {
  accept: "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
  "accept-encoding": "gzip, deflate, br",
  "user-agent": "vidro-hand",
};

async function get(url: URL, { reach, signal, resolveHost = resolveAll }: FetchOptions): Promise<IncomingMessage> {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(literal);
  const addresses = family === 0 ? await resolveHost(url.hostname) : [{ address: literal, family }];
  for (const { address } of addresses) requireReachable(url.hostname, address, reach);
  const options: RequestOptions = { signal, agent: false, headers: HEADERS, lookup: lookupOf(addresses) };
  const request = url.protocol === "https:" ? requestTls : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(url, options, resolve);
    sent.on("error", reject);
    sent.end();
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

function requireReachable(host: string, address: string, reach: FetchOptions["reach"]): void {
  if (reach === "any" || isPublicAddress(address)) return;
  throw new Fault(
    "TOOL_FAILED",
    `${host} has the address ${address}, which is not public, and is not fetched. To allow it, the policy of this host has to name ${host} in privateHosts.`,
  );
}

async function readPage(response: IncomingMessage, url: URL): Promise<FetchedPage> {
  const type = response.headers["content-type"] ?? "";
  // What is not read must not hold the connection.
  using reading = new DisposableStack();
  reading.defer(() => response.destroy());
  const { bytes, truncated } = await readBounded(decodeBody(response));
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ?? "utf-8";
  return {
    url: url.href,
    status: response.statusCode ?? 0,
    type: type.split(";")[0]?.trim().toLowerCase() ?? "",
    body: decode(bytes, charset),
    truncated,
  };
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
async function readBounded(body: Readable): Promise<{ readonly bytes: Buffer; readonly truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > HAND_LIMITS.pageBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  return { bytes: bytes.subarray(0, HAND_LIMITS.pageBytes), truncated: bytes.length > HAND_LIMITS.pageBytes };
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A charset that is not known is most often one that UTF-8 reads well enough.
    return new TextDecoder().decode(bytes);
  }
}
