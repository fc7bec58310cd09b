import { resolve } from "node:path";
import { requireFolder } from "../program/require-folder.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withDaemon } from "../brain-api/with-daemon.ts";
import { McpBridge } from "./mcp/mcp-bridge.ts";

/** What `vidro mcp` may be told. */
interface McpFlags extends BrainFlags {
  readonly workspace?: string;
}

/** Serves the tools of a brain on stdin and stdout, until stdin ends or a signal comes. */
export async function serveMcp(flags: McpFlags): Promise<number> {
  const workspace = requireFolder(flags.workspace ?? ".");
  return withDaemon(flags, { workspace, localHand: true }, async (address) => {
    // Only the daemon of this home works in folders of this machine, and takes its person's word for which.
    const isNear = address.isHidden === true || address.folder !== undefined;
    const folder =
      isNear && (address.folder === undefined || resolve(address.folder) !== workspace) ? workspace : undefined;
    const bridge = new McpBridge(address, folder);
    const leave = (): void => bridge.close();
    process.once("SIGINT", leave).once("SIGTERM", leave);
    await bridge.serve(process.stdin);
    process.off("SIGINT", leave).off("SIGTERM", leave);
    return EXIT.ok;
  });
}
