import { Vidro, VidroError } from "@vidro/client";
import { textIn } from "@vidro/core";
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
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: "no-store",
    });
  } catch (cause) {
    throw new VidroError("CONNECTION_LOST", translate("The brain does not answer."), { cause });
  }
  const said = (await response.json().catch(() => ({}))) as Json;
  const answer = typeof said === "object" && said !== null && !Array.isArray(said) ? (said as JsonObject) : {};
  if (response.ok) return answer;
  throw new VidroError(
    textIn(answer, "code") ?? "BAD_ANSWER",
    textIn(answer, "error") ?? translate("The brain refused."),
    {
      status: response.status,
    },
  );
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
