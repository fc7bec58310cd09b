import { Fault, FAULTS, HTTP_LIMITS, isObject, textIn } from "@vidro/core";
import type { FaultCode, Json, JsonObject } from "@vidro/core";
import type { BrainAddress } from "./brain-address.ts";

/* Requests to a brain that the client has no words for. */

/** Reads what a brain says at a path; the fault of a token that it refuses, BRAIN_UNREACHABLE when nothing answers. */
export async function getFromBrain(address: BrainAddress, path: string): Promise<JsonObject> {
  const response = await send(address, path, { signal: AbortSignal.timeout(HTTP_LIMITS.probeMs) });
  const answer: unknown = await response.json().catch((cause: Error) => {
    throw new Fault("BRAIN_UNREACHABLE", `${address.url} does not answer: ${cause.message}`, { cause });
  });
  const said = isObject(answer) ? answer : {};
  if (response.status === FAULTS.INVALID_TOKEN.http) throw faultIn(said);
  return said;
}

/** Asks a brain for something once, without an idempotency key: under one it would keep an answer that holds a secret. */
export async function postToBrain(address: BrainAddress, path: string, body: JsonObject): Promise<JsonObject> {
  const response = await send(address, path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
    redirect: "error",
  });
  const said = (await response.json().catch(() => null)) as Json;
  if (!response.ok) throw faultIn(isObject(said) ? said : {});
  if (isObject(said)) return said;
  throw new Fault("BRAIN_UNREACHABLE", `${address.url} answers, and its answer is none of a brain's.`);
}

/** Asks a brain for a link, and gives it as an address that a browser opens. */
export async function linkFromBrain(address: BrainAddress, path: string): Promise<string> {
  const { path: link } = await postToBrain(address, path, {});
  if (typeof link !== "string")
    throw new Fault("BRAIN_UNREACHABLE", `${address.url} gave no link: it is no brain, or of another version.`);
  return `${address.url.replace(/\/+$/, "")}${link}`;
}

/** The fault that a refusal names. */
function faultIn(answer: JsonObject): Fault {
  const code = textIn(answer, "code");
  const known = code !== undefined && Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "BRAIN_UNREACHABLE";
  return new Fault(known, textIn(answer, "error") ?? textIn(answer, "message"));
}

async function send({ url, token }: BrainAddress, path: string, request: RequestInit): Promise<Response> {
  const headers = new Headers(request.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  return fetch(new URL(path, url.endsWith("/") ? url : `${url}/`), { ...request, headers }).catch((cause: Error) => {
    throw new Fault("BRAIN_UNREACHABLE", `${url} does not answer: ${cause.message}`, { cause });
  });
}
