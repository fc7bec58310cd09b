import { once } from "node:events";
import { connect } from "node:net";
import { Fault, MODEL_LIMITS, isObject } from "@vidro/core";
import { boundedFetch } from "./bounded-fetch.ts";

/** Completes a base URL: `path` is added where it has none; `source` is the setting that it comes from. */
export function baseUrl(text: string, path: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "") {
    throw new Fault("BAD_REQUEST", `${source} must be a plain address such as http://127.0.0.1:8080/v1`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Fault("BAD_REQUEST", `${source} must not hold a password; a key has a variable of its own.`);
  }
  return `${url.origin}${url.pathname === "/" ? path : url.pathname.replace(/\/+$/, "")}`;
}

/** Base URL of Ollama: OLLAMA_HOST in any form that Ollama itself takes, otherwise this machine. */
export function ollamaUrl(host = ""): string {
  const bare = !/^https?:\/\//.test(host);
  const place = (host.startsWith(":") ? `127.0.0.1${host}` : host || "127.0.0.1").replace(/\/+$/, "");
  const port = bare && !/:\d+$/.test(place) ? ":11434" : "";
  // A wildcard address to listen on cannot be called.
  const called = `${bare ? "http://" : ""}${place}${port}`.replace("//0.0.0.0", "//127.0.0.1");
  return `${new URL(baseUrl(called, "", "OLLAMA_HOST")).origin}/v1`;
}

/** The first model that a server of OpenAI's kind lists. */
export async function firstListed(url: string, key: string | undefined): Promise<string | undefined> {
  return (await listedModels(url, key))[0];
}

/** The models that a server of OpenAI's kind lists. */
export async function listedModels(url: string, key: string | undefined): Promise<readonly string[]> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return namesIn(await listAt(`${url}/models`, MODEL_LIMITS.listMs, headers), "data", "id");
}

/** The first model of the Ollama server at a base URL; undefined when there is no such server. */
export async function firstLocal(url: string): Promise<string | undefined> {
  // Checked first: a bare socket costs a start nothing, an HTTP client 30 ms.
  if (!(await isListening(url, MODEL_LIMITS.probeMs))) return undefined;
  const list = await listAt(`${new URL(url).origin}/api/tags`, MODEL_LIMITS.probeMs, {}).catch(() => undefined);
  return namesIn(list, "models", "name")[0];
}

/** Whether a server listens at a base URL; it connects and sends nothing. */
export async function isListening(url: string, timeoutMs: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect(
    // As it is written: a URL has a path with other signs for spaces and accents.
    protocol === "unix:"
      ? { path: url.slice(protocol.length) }
      : { host, port: Number(port || (protocol === "https:" ? 443 : 80)) },
  );
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(timeoutMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function listAt(url: string, timeoutMs: number, headers: { readonly [name: string]: string }): Promise<unknown> {
  const response = await boundedFetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
  if (response.ok) return response.json();
  throw new Fault("MODEL_REFUSED", `${url} answered ${response.status}.`);
}

function namesIn(list: unknown, rows: string, field: string): readonly string[] {
  const all: readonly unknown[] = isObject(list) && Array.isArray(list[rows]) ? list[rows] : [];
  const names = all.map((row) => (isObject(row) ? row[field] : undefined)).filter((name) => typeof name === "string");
  // Embedding models are in the same list and cannot answer.
  return names.filter((name) => !/embed/i.test(name)).slice(0, MODEL_LIMITS.listed);
}
