import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import type { Hand, Journal, Json } from "@vidro/core";
import { SHIPPED_AGENTS } from "../../packages/brain/src/catalog/agent-files.ts";
import { AgentCatalog } from "../../packages/brain/src/catalog/agents.ts";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "@vidro/brain/config";
import { catalogSurface } from "../../packages/brain/src/north/catalog.ts";
import { openaiSurface } from "../../packages/brain/src/north/openai.ts";
import type { Runs } from "../../packages/brain/src/run/runs.ts";
import { StoredResponses } from "../../packages/brain/src/catalog/responses.ts";
import { Threads } from "../../packages/brain/src/catalog/threads.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { fakeOpenAi } from "./fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "./fake-openai.ts";
import { openHands } from "./hands.ts";
import { schemaCheckingFetch } from "./schema-checking-fetch.ts";
import { openStoreUnderTest } from "./store-under-test.ts";
import { serveSurfaces } from "./test-server.ts";
import { openHand, openRuns, temporaryFolder } from "./local-runs.ts";

/** A brain that the front end talks to, over real sockets on both sides. */
export interface FrontEndServer {
  /** Ends with `/v1`. */
  readonly url: string;
  /** The official client, with a token for runs and approvals. */
  readonly client: OpenAI;
  /** The server of the model behind the brain. */
  readonly fake: FakeOpenAi;
  readonly runs: Runs;
  readonly journal: Journal;
  readonly hand: Hand;
  readonly workspace: string;
  /** Ends the brain, and starts another one on what it left behind, as if so much time had passed. */
  restarted(aheadMs?: number): Promise<FrontEndServer>;
  /** Starts another brain on the same store, with a hand of its own. */
  beside(): Promise<FrontEndServer>;
  /** A token of an owner. */
  token(owner: string, ...scopes: string[]): Promise<string>;
  /** A plain request; of the caller of `client` unless a token is given. */
  ask(method: string, path: string, options?: AskOptions): Promise<ReadAnswer>;
}

/** What a request has besides its method and path. */
export interface AskOptions {
  readonly body?: Json;
  readonly token?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** An answer that was read to its end. */
export interface ReadAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body of a JSON answer. */
  readonly json: unknown;
}

/** Starts a brain whose model answers with these replies, one after the other. */
export async function startFrontEndServer(t: Test, ...replies: FakeReply[]): Promise<FrontEndServer> {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "workspace"));
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return open(t, folder, { fake });
}

type Test = { after(done: () => Promise<void> | void): void };

async function open(
  t: Test,
  folder: string,
  { fake, aheadMs = 0, hands: handFolder = folder }: { fake: FakeOpenAi; aheadMs?: number; hands?: string },
): Promise<FrontEndServer> {
  const workspace = realpathSync(join(folder, "workspace"));
  const store = await openStoreUnderTest(folder);
  const hand = await openHand(handFolder, workspace);
  const model = await chooseModel(readConfig({ env: { VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url } }));
  const runs = openRuns({ journal: store.journal, model, hand, aheadMs });
  const { records } = store;
  const tokens = new Tokens(records);
  const tools = async (): Promise<Hand["tools"]> => hand.tools;
  const agents = new AgentCatalog(records, SHIPPED_AGENTS);
  const threads = new Threads(records, { agents, tools });
  const hands = await openHands(records, hand);
  const deps = {
    runs,
    agents,
    threads,
    responses: new StoredResponses(records),
    tools,
    hands,
    workspace,
    production: false,
  };
  const surfaces = [catalogSurface(deps), openaiSurface(deps)] as const;
  const behind = [runs, hand, store];
  const server = await serveSurfaces(t, { surfaces, tokens, records, production: false, behind });
  const token = async (owner: string, ...scopes: string[]): Promise<string> =>
    (await tokens.create({ owner, scopes })).token;
  const own = await token("ana", "runs", "approve");
  const url = `${server.url}/v1`;
  const fetch = schemaCheckingFetch([...surfaces]);
  return {
    url,
    client: new OpenAI({ baseURL: url, apiKey: own, maxRetries: 0, fetch }),
    fake,
    runs,
    journal: store.journal,
    hand,
    workspace,
    token,
    async restarted(later) {
      await server.close();
      return open(t, folder, { fake, aheadMs: later ?? 0 });
    },
    beside: () => open(t, folder, { fake, hands: temporaryFolder(t) }),
    ask: (method, path, options = {}) => asked(`${url}${path}`, { method, token: own, fetch, ...options }),
  };
}

async function asked(
  url: string,
  {
    method,
    fetch,
    body,
    token,
    headers,
  }: AskOptions & { method: string; token: string; fetch: typeof globalThis.fetch },
): Promise<ReadAnswer> {
  const sent = new Headers(headers);
  sent.set("authorization", `Bearer ${token}`);
  if (body !== undefined) sent.set("content-type", "application/json");
  const response = await fetch(url, {
    method,
    headers: sent,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const json = isJson ? (JSON.parse(text) as unknown) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}
