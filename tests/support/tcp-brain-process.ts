import { join } from "node:path";
import { AgentCatalog } from "../../packages/brain/src/catalog/agents.ts";
import { openBrain } from "../../packages/brain/src/brain.ts";
import { readConfig } from "@vidro/brain/config";
import { handsSurface } from "../../packages/brain/src/north/hands.ts";
import { serveHttp } from "../../packages/brain/src/http/server.ts";
import { journalSurface } from "../../packages/brain/src/north/journal.ts";
import { dialTcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import { TelemetryStore } from "../../packages/brain/src/observe/telemetry.ts";
import { Threads } from "../../packages/brain/src/catalog/threads.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { ensureFirstToken } from "../../packages/brain/src/auth/first-token.ts";
import { sweep } from "./local-runs.ts";

/*
 * A brain in a process of its own that dials one hand which listens for TCP. Started with one argument, a TcpBrain as
 * JSON; it says where it is when it takes requests, as a daemon does.
 */

/** What the process is told. */
export interface TcpBrain {
  readonly home: string;
  readonly port: number;
  /** The hand that it dials. */
  readonly hand: { readonly port: number; readonly token: string; readonly name: string };
}

const { home, port, hand }: TcpBrain = JSON.parse(process.argv[2] ?? "{}");
const now = Date.now;
const brain = await openBrain({ home, config: readConfig({ env: process.env }), localHand: false });
const { runs, records, hands } = brain;
const log = (): void => undefined;
const tools = (ids?: string): ReturnType<typeof hands.tools> => hands.tools(ids);
const agents = new AgentCatalog(records);
const tokens = new Tokens(records);
const tokenFile = join(home, "token");
await ensureFirstToken(tokens, tokenFile);
await sweep(runs);
const telemetry = new TelemetryStore({ now, counted: () => undefined });
const threads = new Threads(records, { agents, tools });
const deps = { runs, agents, threads, hands, telemetry, tools, workspace: home, production: false };
const all = [journalSurface, handsSurface].map((surface) => surface(deps));
const where = { host: "127.0.0.1", port };
const { url } = await serveHttp({ surfaces: all, tokens, records, production: false, log, ...where });
dialTcpHand({ host: "127.0.0.1", owner: "local", redialMs: 20, ...hand }, { hands: brain.hands, log });
process.stdout.write(`${JSON.stringify({ ready: true, url, token_file: tokenFile })}\n`);
