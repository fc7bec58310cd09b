import { join } from "node:path";
import { homeFolder } from "../../program/settings.ts";

/** Has the person sign in at an MCP server that the hand of this machine mounts. */
export async function signInForHand(server: string): Promise<number> {
  const { signInAt } = await import("@vidro/hands/program");
  const home = homeFolder();
  return signInAt(server, { file: join(home, "mcp.json"), state: join(home, "hand") });
}
