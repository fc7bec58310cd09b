import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ArchiveSource } from "@vidro/brain";
import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";

/**
 * Where this installation has the archives that it gives to the hosts that it invites: a clone makes its own, and what
 * was installed from an archive has kept it. Undefined for a package of npm, which has none.
 */
export function findArchives(version: string): ArchiveSource | undefined {
  // The bundle of an archive lies in lib/vidro, the sources of a clone in packages/cli/src/program.
  const installed = join(import.meta.dirname, "../..");
  const kept = { folder: join(installed, "archive"), script: join(installed, "share/vidro/install.sh"), version };
  if (existsSync(kept.script)) return kept;
  const clone = join(import.meta.dirname, "../../../..");
  const [maker, script] = [join(clone, "scripts/package.js"), join(clone, "scripts/package/install.sh")];
  if (!existsSync(maker) || !existsSync(script)) return undefined;
  return { folder: join(clone, "build"), script, version, make: () => runMaker(maker) };
}

/** Makes the archive of a clone, in a process of its own. */
async function runMaker(maker: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [maker], { timeout: SOUTHBOUND_LIMITS.packageMs });
  } catch (cause) {
    const { stderr = "", message } = cause as Error & { stderr?: string };
    const why = stderr.trim().split("\n").at(-1) || message;
    throw new Fault(
      "TOOL_FAILED",
      `The archive that hosts install cannot be made: ${why} See more: npm run package. For a host that has Vidro: vidro hands invite --installed`,
      { cause },
    );
  }
}
