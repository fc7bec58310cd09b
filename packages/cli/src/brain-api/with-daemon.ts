import { readFile } from "node:fs/promises";
import manifest from "../../package.json" with { type: "json" };
import { commandConfig, homeFolder } from "../program/settings.ts";
import { findBrainAddress } from "./brain-address.ts";
import type { BrainAddress, BrainFlags } from "./brain-address.ts";

/** What a hidden daemon works with. */
interface HiddenDaemon {
  readonly workspace: string;
  /** Whether it has a hand of its own. */
  readonly localHand: boolean;
}

/** Does some work with a brain that listens: a named one, the running daemon, or a hidden daemon of this command. */
export async function withDaemon(
  flags: BrainFlags,
  { workspace, localHand }: HiddenDaemon,
  work: (address: BrainAddress & { readonly isHidden?: true }) => Promise<number>,
): Promise<number> {
  const found = await findBrainAddress(flags);
  if (found !== undefined) return work(found);
  const { startDaemon } = await import("@vidro/brain");
  const daemon = await startDaemon({
    home: homeFolder(),
    config: commandConfig(),
    workspace,
    host: "127.0.0.1",
    port: 0,
    // Other open runs are left alone: they must not depend on the life of this command.
    onRestart: "hold",
    hidden: true,
    localHand,
    version: manifest.version,
    writeLog: () => undefined,
  });
  try {
    const token =
      commandConfig({ token: flags.token }).get("token") ?? (await readFile(daemon.tokenFile, "utf8")).trim();
    return await work({ url: daemon.url, token, isHidden: true });
  } finally {
    await daemon.close();
  }
}
