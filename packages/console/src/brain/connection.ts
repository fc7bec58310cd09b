import { Vidro, VidroError } from "@vidro/client";
import { FAULTS, isObject, textIn } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { faultSentence, faultText } from "@vidro/core/text";
import { faultTable, translate } from "../words/translate.ts";

/** The brain that serves this page. It does not repeat: the page itself waits until the brain is back. */
export const vidro = new Vidro({ url: location.origin, retries: 0 });

/** Sends a request that the client library has no method for; rejects with a VidroError. */
export async function request(
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  const response = await requestStream(path, {
    method,
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return objectIn(response);
}

/** Sends a request whose answer the caller reads as it comes; rejects with a VidroError when there is none. */
export async function requestStream(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(location.origin + path, { ...init, cache: "no-store" });
  } catch (cause) {
    throw new VidroError("CONNECTION_LOST", FAULTS.CONNECTION_LOST.says, { cause });
  }
  if (response.ok) return response;
  const said = await objectIn(response);
  const words = textIn(said, "error") ?? translate("The brain refused.");
  throw new VidroError(textIn(said, "code") ?? "BAD_ANSWER", words, { status: response.status });
}

/** The object that an answer is; an empty one when it is something else. */
async function objectIn(response: Response): Promise<JsonObject> {
  const said = (await response.json().catch(() => ({}))) as Json;
  return isObject(said) ? said : {};
}

/** The failure: in English in the brain's words, in another language what its code means with those words below. */
export function faultWords(thrown: unknown): string {
  if (!(thrown instanceof VidroError))
    return thrown instanceof Error ? thrown.message : translate("Something went wrong.");
  const { says, next, detail } = faultText(thrown, faultTable());
  const isGeneral = thrown.message === faultSentence(thrown.code);
  // The words of this one failure often say what to do; those of the table leave it to their second sentence.
  return isGeneral && next !== undefined
    ? `${says} ${next}`
    : [says, ...(detail === undefined ? [] : [detail])].join("\n");
}

/** Whether a failure means that the brain cannot be reached now, and may be later. */
export function isAway(thrown: unknown): boolean {
  return (
    thrown instanceof VidroError &&
    (thrown.code === "CONNECTION_LOST" || thrown.code === "SHUTTING_DOWN" || thrown.code === "BRAIN_UNREACHABLE")
  );
}

/** Whether a failure means that the session has ended. */
export function isSignedOut(thrown: unknown): boolean {
  return thrown instanceof VidroError && thrown.status === 401;
}
