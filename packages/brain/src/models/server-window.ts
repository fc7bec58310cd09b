import { MODEL_LIMITS, isObject } from "@vidro/core";
import { boundedFetch } from "./bounded-fetch.ts";

/* The window of a model as its server names it: each kind of server has a way of its own. */

/** A model at a server. */
interface ServedModel {
  /** Base URL of the server's API. */
  readonly url: string;
  readonly model: string;
  readonly key?: string;
}

/** Tokens of the window that the server has given the model; undefined when it names none. */
export async function windowAt({ url, model, key }: ServedModel): Promise<number | undefined> {
  const { origin } = new URL(url);
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const get = (address: string): Promise<unknown> => answerOf(address, { headers });
  const show = { method: "POST", headers, body: JSON.stringify({ model }) };
  const [props, loaded, shown, listed] = await Promise.all([
    get(`${origin}/props`),
    get(`${origin}/api/ps`),
    answerOf(`${origin}/api/show`, show),
    get(`${url}/models`),
  ]);
  // What is loaded counts before what the model could have.
  return llamaWindow(props) ?? loadedWindow(loaded, model) ?? shownWindow(shown) ?? listedWindow(listed, model);
}

/** llama.cpp: `default_generation_settings.n_ctx`. */
function llamaWindow(props: unknown): number | undefined {
  return tokensIn(fieldOf(props, "default_generation_settings"), "n_ctx") ?? tokensIn(props, "n_ctx");
}

/** Ollama, for a model in memory: `models[].context_length`. */
function loadedWindow(loaded: unknown, model: string): number | undefined {
  const row = rowsOf(loaded, "models").find((one) => [one["name"], one["model"]].some((name) => isNamed(name, model)));
  return tokensIn(row, "context_length");
}

/** Ollama: the parameter `num_ctx` of the model, otherwise the length that it was made for. */
function shownWindow(shown: unknown): number | undefined {
  const parameters = fieldOf(shown, "parameters");
  const [, set] = (typeof parameters === "string" ? /^num_ctx\s+(\d+)/m.exec(parameters) : undefined) ?? [];
  if (set !== undefined) return countOf(Number(set));
  const info = fieldOf(shown, "model_info");
  const [length] = Object.entries(isObject(info) ? info : {}).filter(([name]) => name.endsWith(".context_length"));
  return countOf(length?.[1]);
}

/** vLLM: `max_model_len` in the list of models; LM Studio, Groq and OpenRouter have names of their own. */
function listedWindow(listed: unknown, model: string): number | undefined {
  const row = rowsOf(listed, "data").find(({ id }) => isNamed(id, model));
  for (const field of ["max_model_len", "loaded_context_length", "context_window", "context_length"]) {
    const tokens = tokensIn(row, field);
    if (tokens !== undefined) return tokens;
  }
  return undefined;
}

/** Ollama adds `:latest` to a name without a tag. */
function isNamed(name: unknown, model: string): boolean {
  return name === model || name === `${model}:latest`;
}

function rowsOf(value: unknown, field: string): readonly { readonly [key: string]: unknown }[] {
  const rows = fieldOf(value, field);
  return Array.isArray(rows) ? rows.filter((row: unknown) => isObject(row)) : [];
}

function fieldOf(value: unknown, field: string): unknown {
  return isObject(value) ? value[field] : undefined;
}

function tokensIn(value: unknown, field: string): number | undefined {
  return countOf(fieldOf(value, field));
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= MODEL_LIMITS.countedTokens
    ? value
    : undefined;
}

/** The JSON at an address; undefined when there is none: not each server has each address. */
async function answerOf(url: string, request: RequestInit): Promise<unknown> {
  try {
    const response = await boundedFetch(url, { ...request, signal: AbortSignal.timeout(MODEL_LIMITS.reachMs) });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    return undefined;
  } catch {
    return undefined;
  }
}
