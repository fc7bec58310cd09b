import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { homeFolder } from "../program/settings.ts";
import { AcpAgent } from "./acp/acp-agent.ts";
import { AcpSessions } from "./acp/acp-sessions.ts";
import { EditorLink } from "./acp/editor-link.ts";

/** Serves an editor that speaks the Agent Client Protocol on stdin and stdout, until stdin ends. */
export async function serveAcp(flags: BrainFlags): Promise<number> {
  const home = homeFolder();
  await mkdir(home, { recursive: true, mode: 0o700 });
  return withBrainApi(flags, async ({ runs }) => {
    const agent = new AcpAgent(runs, new AcpSessions(join(home, "acp-sessions.json")), manifest.version);
    await new EditorLink(agent).serve(process.stdin);
    return EXIT.ok;
  });
}
