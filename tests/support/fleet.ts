import type { HandDescription } from "@vidro/core";
import { join } from "node:path";
import { AgentCatalog } from "../../packages/brain/src/catalog/agents.ts";
import { openBrain } from "../../packages/brain/src/brain.ts";
import { readConfig } from "@vidro/brain/config";
import type { Brain } from "../../packages/brain/src/brain.ts";
import { Metrics } from "../../packages/brain/src/observe/metrics.ts";
import { agentSseSurface } from "../../packages/brain/src/north/agent-sse.ts";
import { catalogSurface } from "../../packages/brain/src/north/catalog.ts";
import { handsSurface } from "../../packages/brain/src/north/hands.ts";
import { journalSurface } from "../../packages/brain/src/north/journal.ts";
import { openaiSurface } from "../../packages/brain/src/north/openai.ts";
import { opsSurface } from "../../packages/brain/src/north/ops.ts";
import type { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import type { AttachedHand } from "../../packages/brain/src/south/register/hand-register.ts";
import { BareLink, Landscape } from "../../packages/brain/src/south/hosts.fixture.ts";
import type { Host } from "../../packages/brain/src/south/hosts.fixture.ts";
import { TelemetryStore } from "../../packages/brain/src/observe/telemetry.ts";
import { StoredResponses } from "../../packages/brain/src/catalog/responses.ts";
import { Threads } from "../../packages/brain/src/catalog/threads.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { serveSurfaces } from "./test-server.ts";

/** A brain with hands on other hosts, behind its surfaces on a real socket. */
export interface Fleet {
  readonly url: string;
  readonly brain: Brain;
  readonly telemetry: TelemetryStore;
  readonly metrics: Metrics;
  /** Connects a host; the hand allows everything. */
  host(
    name: string,
    more?: Partial<HandDescription>,
  ): Promise<Host & { readonly link: BareLink; readonly attached: AttachedHand }>;
  /** A token of an owner. */
  token(owner: string, ...scopes: string[]): Promise<string>;
}

/** Starts a brain whose model is the built-in one. */
export async function startFleet(t: { after(done: () => Promise<void>): void }): Promise<Fleet> {
  const land = new Landscape();
  const { folder: workspace } = land;
  const brain = await openBrain({
    home: join(workspace, "brain"),
    config: readConfig({ env: { VIDRO_MODEL: "offline" } }),
  });
  const { runs, records } = brain;
  const now = Date.now;
  const { hands } = brain;
  await brain.local?.show({ workspace, version: "1.2.3" });
  const metrics = new Metrics();
  metrics.hands = () => hands.count();
  const telemetry = new TelemetryStore({ now, counted: () => metrics.ingest.inc({ kind: "telemetry" }) });
  const agents = new AgentCatalog(records);
  const threads = new Threads(records, { agents, tools: (ids) => hands.tools(ids) });
  const tokens = new Tokens(records);
  const tools = (): ReturnType<HandRegister["tools"]> => hands.tools();
  const production = false;
  const responses = new StoredResponses(records);
  const deps = {
    runs,
    agents,
    threads,
    responses,
    hands,
    telemetry,
    tools,
    workspace,
    production,
    worker: async () => false,
  };
  const health = async () => ({ store: "ok", hands: hands.health }) as const;
  const all = [
    opsSurface({ metrics, health, openApi: () => ({}) }),
    ...[agentSseSurface, catalogSurface, openaiSurface, journalSurface, handsSurface].map((surface) => surface(deps)),
  ];
  const behind = [brain, { close: async () => metrics.close() }, { close: () => land[Symbol.asyncDispose]() }];
  const { url } = await serveSurfaces(t, { surfaces: all, tokens, records, production, behind });
  return {
    url,
    brain,
    telemetry,
    metrics,
    async host(name, more = {}) {
      const host = await land.host(name, more);
      const link = new BareLink(host.hand);
      return { ...host, link, attached: await brain.hands.attach(host.description, link) };
    },
    token: async (owner, ...scopes) =>
      (await tokens.create({ owner, scopes: scopes.length === 0 ? ["runs"] : scopes })).token,
  };
}
