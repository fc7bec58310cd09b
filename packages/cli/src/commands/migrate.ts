import { migrateHome } from "@vidro/brain/home";
import { Fault } from "@vidro/core";
import { countWords } from "@vidro/core/text";
import { EXIT } from "../program/exit-codes.ts";
import { say, writeJson } from "../program/output.ts";
import { commandConfig, homeFolder } from "../program/settings.ts";

/** What `vidro migrate` may be told. */
interface MigrateFlags {
  readonly store?: string;
  readonly json?: boolean;
}

/** Copies the store of this home to the PostgreSQL database that the settings name. */
export async function migrateStore({ store, json = false }: MigrateFlags): Promise<number> {
  const address = commandConfig({ store }).get("store");
  if (address === undefined)
    throw new Fault("BAD_REQUEST", "Name the database in VIDRO_STORE: postgres://user:password@host:5432/database");
  const copied = await migrateHome(homeFolder(), address);
  if (json) writeJson({ type: "migrated", ...copied });
  else {
    const { runs, entries, records, open } = copied;
    const count = `${countWords(runs, "run")} (${entries.toLocaleString("en")} entries) and ${countWords(records, "record")}`;
    say(`${count} are in PostgreSQL; every run was compared with its copy.`);
    if (open > 0) say(`${countWords(open, "run")} had not ended: the brain asks whether to go on.`);
    say("The file in the home stays as it is, with its seals. Start on the database: vidro up");
  }
  return EXIT.ok;
}
