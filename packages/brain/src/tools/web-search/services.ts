import { asFault, Fault, isObject, SEARCH_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";
import { readBoundedJson } from "./bounded-json.ts";
import type { WebQuery, WebResult, WebSearch } from "./web-search.ts";

/** How a service is reached. */
interface SearchAddress {
  readonly url: string;
  readonly key?: string | undefined;
}

/** One service: how its request is made and where the results are in its answer. */
interface SearchService {
  /** Its own address; undefined for software that everyone runs themselves. */
  readonly url?: string;
  request(address: SearchAddress, query: WebQuery): Request;
  /** Results in an answer, with the name of the field that holds the text. */
  readonly text: "content" | "description";
  results(answer: Json): Json | undefined;
}

/** Every service by its name: one entry here adds one. */
export const SEARCH_SERVICES: { readonly [name in "searxng" | "brave" | "tavily"]: SearchService } = {
  searxng: {
    text: "content",
    request: ({ url }, { text, signal }) =>
      new Request(below(url, "search", { q: text, format: "json" }), { signal, redirect: "error" }),
    results: (answer) => (isObject(answer) ? answer["results"] : undefined),
  },
  brave: {
    url: "https://api.search.brave.com/res/v1/",
    text: "description",
    request: ({ url, key = "" }, { text, limit, signal }) =>
      new Request(below(url, "web/search", { q: text, count: String(limit) }), {
        headers: { accept: "application/json", "x-subscription-token": key },
        signal,
        redirect: "error",
      }),
    results: (answer) => (isObject(answer) && isObject(answer["web"]) ? answer["web"]["results"] : undefined),
  },
  tavily: {
    url: "https://api.tavily.com/",
    text: "content",
    request: ({ url, key = "" }, { text, limit, signal }) =>
      new Request(below(url, "search", {}), {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: text, max_results: limit }),
        signal,
        redirect: "error",
      }),
    results: (answer) => (isObject(answer) ? answer["results"] : undefined),
  },
};

function below(base: string, path: string, query: { readonly [name: string]: string }): URL {
  const url = new URL(path, base.endsWith("/") ? base : `${base}/`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** A service as the port that tools use. */
export function webSearchBy(name: keyof typeof SEARCH_SERVICES, address: SearchAddress): WebSearch {
  const service = SEARCH_SERVICES[name];
  return {
    name,
    async search(query) {
      const signal = AbortSignal.any([query.signal, AbortSignal.timeout(SEARCH_LIMITS.waitMs)]);
      const answer = await answerOf(name, service.request(address, { ...query, signal }));
      const results = service.results(answer);
      if (!Array.isArray(results)) throw new Fault("TOOL_FAILED", `${name} answered without a list of results.`);
      return results.flatMap((result) => readResult(result, service.text)).slice(0, query.limit);
    },
  };
}

async function answerOf(name: string, request: Request): Promise<Json> {
  try {
    const response = await fetch(request);
    if (response.ok) return await readBoundedJson(response, SEARCH_LIMITS.answerBytes);
    await response.body?.cancel();
    throw new Fault("TOOL_FAILED", `${name} answered with status ${response.status}.${nextStep(response.status)}`);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault("TOOL_FAILED", `${name} cannot be asked: ${reasonOf(thrown)}`, { cause: thrown });
  }
}

/** The next step of an operator after a refusal. */
function nextStep(status: number): string {
  if (status === 401 || status === 403)
    return " Its key is refused, or a SearXNG server does not give JSON (search.formats in its settings).";
  return status === 429 ? " It allows no more searches for now." : "";
}

function reasonOf(thrown: unknown): string {
  // `fetch` hides why it failed in the cause.
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return asFault(cause).message;
}

function readResult(result: Json, field: SearchService["text"]): readonly WebResult[] {
  if (!isObject(result)) return [];
  const { title, url } = result;
  const text = result[field];
  if (typeof url !== "string" || !/^https?:\/\//.test(url) || url.length > SEARCH_LIMITS.urlChars) return [];
  return [
    {
      title: typeof title === "string" ? title.slice(0, SEARCH_LIMITS.titleChars) : url,
      url,
      snippet: typeof text === "string" ? text.slice(0, SEARCH_LIMITS.snippetChars) : "",
    },
  ];
}
