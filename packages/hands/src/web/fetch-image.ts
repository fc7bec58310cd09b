import { Fault, FILE_LIMITS, HAND_LIMITS, imageFormat, imageMisfit } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { matchesWord } from "@vidro/core/policy";
import { fetchBytes } from "./fetch-bytes.ts";
import type { FetchOptions } from "./fetch-bytes.ts";

/** How an image is fetched. */
interface ImageOptions extends Pick<FetchOptions, "signal" | "resolveHost"> {
  /** Patterns of host names with addresses that are not public which may be fetched from. */
  readonly privateHosts: readonly string[];
}

const ACCEPT = "image/png, image/jpeg, image/gif, image/webp";
const OK = 200;

/**
 * Fetches an image that a model can be shown, over any redirections: each host on the way has to be public, or named by
 * the policy. What it is comes from its bytes. Throws TOOL_FAILED with the reason.
 */
export async function fetchImage(address: string, { privateHosts, ...options }: ImageOptions): Promise<FilePart> {
  const url = readAddress(address);
  const isNamed = (host: string): boolean => privateHosts.some((pattern) => matchesWord(pattern, host));
  const fetched = await fetchBytes(url, {
    ...options,
    reachOf: (host) => (isNamed(host) ? "any" : "public"),
    accept: ACCEPT,
    maxBytes: FILE_LIMITS.imageBytes,
    follows: "all",
  });
  const refuse = (why: string): Fault => new Fault("TOOL_FAILED", `${url} cannot be shown to a model: ${why}.`);
  const { status, bytes, truncated } = fetched;
  if (status !== OK) throw refuse(`the server answered with status ${status}`);
  if (truncated) throw refuse(`it has more than ${FILE_LIMITS.imageBytes} bytes`);
  const image = imageFormat(bytes);
  if (image === undefined) throw refuse("it is no image of a kind that models take: PNG, JPEG, GIF or WebP");
  const misfit = imageMisfit(image, bytes.length);
  if (misfit !== undefined) throw refuse(misfit);
  return { mediaType: image.mediaType, data: bytes.toString("base64") };
}

function readAddress(text: string): string {
  const url = text.length > HAND_LIMITS.urlChars ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Fault("TOOL_FAILED", "That is no address of an image: one begins with http: or https:.");
  if (url.username !== "" || url.password !== "")
    throw new Fault("TOOL_FAILED", "The address of an image has a user or password, which are not sent.");
  url.hash = "";
  return url.href;
}
