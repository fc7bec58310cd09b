import { Vidro, VidroError } from "@vidro/client";
import { isObject, textIn } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { translate } from "../words/translate.ts";

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
    throw new VidroError("CONNECTION_LOST", translate("The brain does not answer."), { cause });
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

/** The failure, in the brain's words. */
export function faultWords(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : translate("Something went wrong.");
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
