import { resolve } from "node:path";
import { backUpHome, restoreHome } from "@vidro/brain/home";
import { byteWords, countWords } from "@vidro/core/text";
import { EXIT } from "../program/exit-codes.ts";
import { say, writeJson } from "../program/output.ts";
import { commandConfig, homeFolder } from "../program/settings.ts";

/** Flags of `vidro backup`. */
interface BackupFlags {
  readonly json?: boolean;
}

/** Flags of `vidro restore`. */
interface RestoreFlags extends BackupFlags {
  readonly replace?: boolean;
}

/** Copies the state of this home into a new folder. */
export async function backUp(folder: string, { json = false }: BackupFlags): Promise<number> {
  const [home, to] = [homeFolder(), resolve(folder)];
  const { files } = await backUpHome(home, to, { now: Date.now(), ...storeSettings() });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (json) writeJson({ type: "backup", home, folder: to, files: files.length, bytes });
  else {
    say(`${countWords(files.length, "file")} of ${home}, ${byteWords(bytes)}, are in ${to}.`);
    say("They hold keys and tokens: keep them as safe as the home itself.");
  }
  return EXIT.ok;
}

/** Puts the state of a backup in the place of this home. */
export async function restore(folder: string, { replace = false, json = false }: RestoreFlags): Promise<number> {
  const [home, now] = [homeFolder(), Date.now()];
  const { backup, moved } = await restoreHome(resolve(folder), home, { replace, now, ...storeSettings() });
  const made = new Date(backup.at).toISOString();
  if (json)
    writeJson({
      type: "restored",
      home,
      at: made,
      files: backup.files.length,
      ...(moved === undefined ? {} : { moved }),
    });
  else {
    say(`${home} is as it was at ${made}; what came later is not there.`);
    if (moved !== undefined) say(`The state before that is in ${moved}.`);
    const isDumped = backup.files.some(({ path }) => path.endsWith(".pgdump"));
    say(`Start it: vidro up${isDumped ? " --restored" : ""}`);
    say("It asks about each run that was open, and vidro doctor names what may have been revoked since.");
  }
  return EXIT.ok;
}

/** The store in PostgreSQL that the settings name, if they do. */
function storeSettings(): { readonly store?: { readonly address: string; readonly env: NodeJS.ProcessEnv } } {
  const config = commandConfig();
  const address = config.get("store");
  return address === undefined ? {} : { store: { address, env: config.env } };
}
