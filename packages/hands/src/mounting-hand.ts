import { existsSync } from "node:fs";
import type { Hand } from "@vidro/core";
import { processEnvironment } from "./config.ts";
import { buildEnvironment } from "./exec/environment.ts";
import { makeOwnFolder } from "./files/own-files.ts";
import { resolveWorkspace } from "./files/resolve-folder.ts";
import { localHand } from "./hand.ts";
import type { LocalHandOptions } from "./hand-options.ts";
import { TOOLS } from "./tools/tools.ts";

/** The file of MCP servers, and who is told of those that are left out. */
interface MountSource {
  readonly file: string;
  readonly version: string;
  readonly note: (text: string) => void;
}

/** A hand on this machine with the tools of the MCP servers that a file names; without the file, a hand as it is. */
export async function mountingHand(options: LocalHandOptions, { file, version, note }: MountSource): Promise<Hand> {
  if (!existsSync(file)) return localHand(options);
  // Loaded only where servers are mounted.
  const { mountServers } = await import("./mcp/mounted-tools.ts");
  const variables = options.env ?? processEnvironment();
  const workspace = resolveWorkspace(options.workspace);
  const env = buildEnvironment(variables, workspace);
  const state = makeOwnFolder(options.state);
  const mounted = await mountServers({ file, variables, workspace, env, state, version, note });
  try {
    const hand = await localHand({ ...options, tools: [...(options.tools ?? TOOLS), ...mounted.tools] });
    const close = hand.close.bind(hand);
    hand.close = async () => {
      await close();
      await mounted.close();
    };
    return hand;
  } catch (thrown) {
    await mounted.close();
    throw thrown;
  }
}
