import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Hand } from "@vidro/core";
import { dialTcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { startExecutorGateway } from "./executor-server.ts";
import { freePort, Peer } from "./peer-process.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { SHORT_REDIALS_FLAGS } from "./preload-flags.ts";
import { SouthboundHarness } from "./southbound-harness.ts";

/*
 * A brain's end of a link in this process, and a hand in another: the program that people start on a host. What can
 * be done to the host can be done to the hand, and the brain sees what comes of it.
 */

/** A hand in another process. */
export interface RemoteHandProcess {
  readonly hand: Hand;
  readonly peer: Peer;
  readonly workspace: string;
}

/** Where the hand is, and what its program is started with, such as a bound on its descriptors. */
export interface RemotePlace {
  /** Holds its workspace and its state. */
  readonly folder: string;
  /** Words before its command. */
  readonly within?: readonly string[];
}

const COMMANDS = bundledCommands();
const { hand: HAND, vidro: VIDRO } = COMMANDS;
const EXECUTOR = COMMANDS.program("executor-process");

async function started(t: TestContext, place: RemotePlace, words: readonly string[]): Promise<Peer> {
  const { folder, within = [] } = place;
  const node = [
    process.execPath,
    "--conditions=vidro-source",
    "--disable-warning=ExperimentalWarning",
    ...SHORT_REDIALS_FLAGS,
  ];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, VIDRO_HOME: join(folder, "state") };
  const peer = await Peer.start({ argv: [...within, ...node, ...words], cwd: folder, env });
  t.after(() => peer.end("SIGKILL"));
  return peer;
}

function workspaceIn(folder: string): string {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  return workspace;
}

function joined(...transport: readonly string[]) {
  return async (t: TestContext, place: RemotePlace): Promise<RemoteHandProcess> => {
    const south = await SouthboundHarness.up(t);
    const workspace = workspaceIn(place.folder);
    const token = await south.invite("far");
    const flags = ["--workspace", workspace, "--state", join(place.folder, "state"), "--json"];
    const peer = await started(t, place, [HAND, "join", south.url, "--token", token, ...transport, ...flags]);
    return { hand: await south.hands.at(String(peer.line["agent_id"])), peer, workspace };
  };
}

async function executor(t: TestContext, place: RemotePlace): Promise<RemoteHandProcess> {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  const workspace = workspaceIn(place.folder);
  const peer = await started(t, place, [EXECUTOR, end.url, token, place.folder]);
  return { hand: await end.brain.hands.at(`executor:${String(peer.line["session"])}`), peer, workspace };
}

async function listening(t: TestContext, place: RemotePlace): Promise<RemoteHandProcess> {
  const workspace = workspaceIn(place.folder);
  await using stage = await Stage.set({ VIDRO_HOME: join(place.folder, "state") });
  const [made] = lines((await stage.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
  const port = await freePort();
  const where = ["--tcp", `127.0.0.1:${port}`, "--workspace", workspace, "--json"];
  const peer = await started(t, place, [VIDRO, "hands", "serve", ...where]);
  const hands = new HandRegister({ records: memoryStore().records, log: () => undefined, now: Date.now });
  await hands.load();
  const token = String(made?.["token"]);
  const dialled = dialTcpHand(
    { host: "127.0.0.1", port, token, owner: "ana", redialMs: 20 },
    { hands, log: () => undefined },
  );
  t.after(() => dialled.close());
  await dialled.reached;
  return { hand: await hands.at(`tcp:127.0.0.1:${port}`), peer, workspace };
}

/** All four. */
export const REMOTE_HANDS = {
  "agent-ws": joined(),
  "agent-http": joined("--transport", "http"),
  "executor-ws": executor,
  "agent-tcp": listening,
} as const;
