import { HAND_LIMITS } from "@vidro/core";
import { fetchBytes } from "./fetch-bytes.ts";
import type { FetchedBytes, FetchOptions, Reach } from "./fetch-bytes.ts";

/** How a page is fetched. */
interface PageOptions extends Pick<FetchOptions, "signal" | "resolveHost"> {
  /** Whether addresses that are not public may be connected to. */
  readonly reach: Reach;
}

/** A page as a server gave it. */
export interface FetchedPage extends Omit<FetchedBytes, "bytes"> {
  /** Media type without parameters, in lower case; empty when the server named none. */
  readonly type: string;
  readonly body: string;
}

const ACCEPT = "text/html, text/markdown, text/plain, application/json, */*;q=0.5";

/** Fetches a page and decodes it; redirections to another host are named and not followed. Throws TOOL_FAILED. */
export async function fetchPage(address: string, { reach, ...options }: PageOptions): Promise<FetchedPage> {
  const bounds = { maxBytes: HAND_LIMITS.pageBytes, accept: ACCEPT, follows: "same-host" } as const;
  const { bytes, ...page } = await fetchBytes(address, { ...options, ...bounds, reachOf: () => reach });
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(page.type)?.[1] ?? "utf-8";
  const type = page.elsewhere === undefined ? (page.type.split(";")[0]?.trim().toLowerCase() ?? "") : "";
  return { ...page, type, body: decode(bytes, charset) };
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
