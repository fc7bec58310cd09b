import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { sseDecoder } from "@vidro/core/codec";
import type { Hand, Json, JsonObject, Model } from "@vidro/core";
import { AgentCatalog } from "../../packages/brain/src/catalog/agents.ts";
import { agentSseSurface } from "../../packages/brain/src/north/agent-sse.ts";
import { catalogSurface } from "../../packages/brain/src/north/catalog.ts";
import { journalSurface } from "../../packages/brain/src/north/journal.ts";
import { openaiSurface } from "../../packages/brain/src/north/openai.ts";
import type { Runs } from "../../packages/brain/src/run/runs.ts";
import { StoredResponses } from "../../packages/brain/src/catalog/responses.ts";
import { Threads } from "../../packages/brain/src/catalog/threads.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { openHands } from "./hands.ts";
import { openStoreUnderTest } from "./store-under-test.ts";
import { serveSurfaces } from "./test-server.ts";
import { openHand, openRuns, temporaryFolder } from "./local-runs.ts";

/** A brain behind all surfaces that show its runs, over real sockets. */
export interface AgentServer {
  readonly url: string;
  readonly runs: Runs;
  readonly workspace: string;
  /** The token of `ana`. */
  readonly own: string;
  /** A token of another owner. */
  token(owner: string, ...scopes: string[]): Promise<string>;
  /** A request; of `ana` unless a token is given. */
  ask(method: string, path: string, more?: AgentRequest): Promise<Response>;
  /** A session of `ana`. */
  session(): Promise<string>;
  close(): Promise<void>;
}

/** What a request brings. */
export interface AgentRequest {
  readonly body?: Json;
  readonly token?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

type Test = { after(done: () => Promise<void> | void): void };

/** Starts a brain that is driven by a model. */
export async function startAgentServer(
  t: Test,
  model: Model,
  options: { readonly production?: boolean; readonly change?: (hand: Hand) => Hand } = {},
): Promise<AgentServer> {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "workspace"));
  const workspace = realpathSync(join(folder, "workspace"));
  const store = await openStoreUnderTest(folder);
  const { records } = store;
  const real = await openHand(folder, workspace);
  const hand = options.change?.(real) ?? real;
  const runs = openRuns({ journal: store.journal, model, hand });
  const tools = async (): Promise<typeof hand.tools> => hand.tools;
  const agents = new AgentCatalog(records);
  const threads = new Threads(records, { agents, tools });
  const tokens = new Tokens(records);
  const production = options.production ?? false;
  const hands = await openHands(records, hand);
  const responses = new StoredResponses(records);
  const deps = { runs, agents, threads, responses, tools, workspace, production, hands, worker: async () => false };
  const behind = [runs, real, store];
  const surfaces = [agentSseSurface(deps), journalSurface(deps), catalogSurface(deps), openaiSurface(deps)];
  const server = await serveSurfaces(t, { surfaces, tokens, records, production, behind });
  const token = async (owner: string, ...scopes: string[]): Promise<string> =>
    (await tokens.create({ owner, scopes: scopes.length === 0 ? ["runs"] : scopes })).token;
  const own = await token("ana", "runs", "approve");
  const ask: AgentServer["ask"] = (method, path, more = {}) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${more.token ?? own}`,
        ...(more.body === undefined ? {} : { "content-type": "application/json" }),
        ...more.headers,
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
  const session = async (): Promise<string> => {
    const begun = (await (await ask("POST", "/agent/sessions", { body: {} })).json()) as { session_id: string };
    return begun.session_id;
  };
  return { url: server.url, runs, workspace, own, token, ask, session, close: server.close };
}

/** One frame of an event stream, its data read. */
export interface Frame {
  readonly id: string;
  readonly data: JsonObject;
}

/** The frames of an answer, as they come. */
export async function* readFrames(response: Response): AsyncGenerator<Frame, void, undefined> {
  const decoder = sseDecoder();
  for await (const chunk of response.body ?? []) {
    for (const item of decoder.push(chunk)) {
      if (!item.ok) throw new Error(item.fault.message);
      yield { id: item.value.id ?? "", data: JSON.parse(item.value.data) as JsonObject };
    }
  }
}

/** The data of all frames of an answer; what `during` does with each happens before the next is looked at. */
export async function readFrameData(
  response: Response,
  during: (data: JsonObject) => Promise<unknown> | undefined = () => undefined,
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const { data } of readFrames(response)) {
    all.push(data);
    await during(data);
  }
  return all;
}

/** The lines of an NDJSON answer. */
export async function linesOf(response: Response): Promise<JsonObject[]> {
  const text = await response.text();
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as JsonObject]));
}

/** What curl prints for these arguments, without buffering. */
export async function curl(...args: readonly string[]): Promise<string> {
  const child = spawn("curl", ["-sSN", "--max-time", "20", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`curl ended with ${code}.`);
  return printed;
}
