import { asFault, Fault, FILE_LIMITS, isObject } from "@vidro/core";
import type { FetchImage, Json, JsonObject } from "@vidro/core";

/** What images are fetched with. */
interface ImageFetch {
  /** Absent where no image is fetched. */
  readonly fetchImage?: FetchImage | undefined;
  readonly signal: AbortSignal;
}

/** An image of a message that is named by an address of the web. */
interface NamedImage {
  readonly part: JsonObject;
  readonly address: string;
  /** Where it is, for a refusal. */
  readonly path: string;
  /** Whether it belongs to the last message of the user, and so to the task. */
  readonly isNew: boolean;
}

const WEB = /^https?:/i;

/**
 * A request whose images have come from the web, as `data:` addresses; the same request when it names none. An image of
 * the task that cannot be had is BAD_ARGUMENTS; for one of an earlier message, and for those beyond the bound, words
 * stand there, so that a conversation goes on when an address is gone.
 */
export async function withFetchedImages(body: JsonObject, { fetchImage, signal }: ImageFetch): Promise<JsonObject> {
  const images = namedImages(body);
  if (images.length === 0) return body;
  const parts = new Map<Json, JsonObject>();
  const shown = images.slice(-FILE_LIMITS.files);
  for (const { part } of images.slice(0, -FILE_LIMITS.files)) parts.set(part, wordsFor(part, "is not shown any more"));
  await Promise.all(
    shown.map(async (image) => parts.set(image.part, await fetchedPart(image, { fetchImage, signal }))),
  );
  return replaceIn(body, parts) as JsonObject;
}

async function fetchedPart(image: NamedImage, { fetchImage, signal }: ImageFetch): Promise<JsonObject> {
  const { part, address, path, isNew } = image;
  try {
    if (fetchImage === undefined)
      throw new Fault("POLICY_DENIED", "This brain fetches no images (setting fetch_images): send a data: address.");
    const { mediaType, data } = await fetchImage(address, signal);
    const url = `data:${mediaType};base64,${data}`;
    return { ...part, image_url: isObject(part["image_url"]) ? { ...part["image_url"], url } : url };
  } catch (thrown) {
    const { message } = asFault(thrown);
    if (isNew) throw new Fault("BAD_ARGUMENTS", message, { detail: { path }, cause: thrown });
    return wordsFor(part, `is not shown: ${message}`);
  }
}

/** Words in the place of an image, in the form of its wire. */
function wordsFor({ type }: JsonObject, what: string): JsonObject {
  return { type: type === "input_image" ? "input_text" : "text", text: `[An image ${what}]` };
}

/** The images with an address of the web, in the order of the conversation, in both forms of the wire. */
function namedImages(body: JsonObject): readonly NamedImage[] {
  return ["messages", "input"].flatMap((field) => {
    const messages = listIn(body[field]);
    const last = messages.findLastIndex((message) => isObject(message) && message["role"] === "user");
    return messages.flatMap((message, index) =>
      listIn(isObject(message) ? message["content"] : undefined).flatMap((part, at): NamedImage[] => {
        const address = isObject(part) ? addressIn(part) : undefined;
        if (address === undefined || !WEB.test(address)) return [];
        const path = `/${field}/${index}/content/${at}/image_url`;
        return [{ part: part as JsonObject, address, path, isNew: index === last }];
      }),
    );
  });
}

function addressIn({ type, image_url: image }: JsonObject): string | undefined {
  if (type !== "image_url" && type !== "input_image") return undefined;
  const address = isObject(image) ? image["url"] : image;
  return typeof address === "string" ? address.trim() : undefined;
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A request with other parts in the place of some. */
function replaceIn(value: Json, parts: ReadonlyMap<Json, JsonObject>): Json {
  const other = parts.get(value);
  if (other !== undefined) return other;
  if (Array.isArray(value)) return value.map((one) => replaceIn(one, parts));
  if (!isObject(value) || !["messages", "input", "content"].some((field) => field in value)) return value;
  const fields = Object.entries(value).map(([field, one]) => {
    const isSearched = field === "messages" || field === "input" || field === "content";
    return [field, isSearched && one !== undefined ? replaceIn(one, parts) : one] as const;
  });
  return Object.fromEntries(fields);
}
