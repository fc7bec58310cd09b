import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi, withOwnBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { homeFolder } from "../program/settings.ts";
import { AcpAgent } from "./acp/acp-agent.ts";
import { AcpSessions } from "./acp/acp-sessions.ts";
import { EditorFiles } from "./acp/editor-files.ts";
import { EditorLink } from "./acp/editor-link.ts";

/** The flags of the command. */
interface AcpFlags extends BrainFlags {
  /** Opens a brain in this command, also beside a daemon. */
  readonly own?: boolean;
}

/** Serves an editor that speaks the Agent Client Protocol on stdin and stdout, until stdin ends. */
export async function serveAcp(flags: AcpFlags): Promise<number> {
  const home = homeFolder();
  await mkdir(home, { recursive: true, mode: 0o700 });
  // Texts that are not saved live in the editor, and this process alone can ask for them: runs that a daemon drives
  // work on the disk.
  const files = new EditorFiles();
  const serve = async ({ runs }: Pick<BrainApi, "runs">): Promise<number> => {
    const sessions = new AcpSessions(join(home, "acp-sessions.json"));
    const agent = new AcpAgent({ runs, sessions, files, version: manifest.version });
    await new EditorLink(agent).serve(process.stdin);
    return EXIT.ok;
  };
  const parts = { editor: files.at };
  return flags.own === true ? withOwnBrainApi(flags, serve, parts) : withBrainApi(flags, serve, parts);
}
