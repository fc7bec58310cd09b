import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@vidro/core";
import { copyToPostgres } from "../stores/postgres/copy-store.ts";
import type { CopiedStore } from "../stores/postgres/copy-store.ts";
import { openStore } from "../stores/stores.ts";
import { copyKnowledge } from "../knowledge/copy-knowledge.ts";
import { postgresKnowledge } from "../knowledge/postgres-knowledge.ts";
import { sqliteKnowledge } from "../knowledge/sqlite-knowledge.ts";
import { holdHome } from "./daemon-lock.ts";

/**
 * Copies journals, records and knowledge of a home to PostgreSQL; the file stays as it is. No daemon may have the home meanwhile
 * (HOME_BUSY), since what it writes would be missing.
 */
export async function migrateHome(home: string, address: string): Promise<CopiedStore> {
  const path = join(home, "journal.db");
  if (!existsSync(path)) throw new Fault("NOT_FOUND", `There is no store in ${home} to copy.`);
  const place = await holdHome(home);
  try {
    const store = await openStore("sqlite", path);
    try {
      const copied = await copyToPostgres(store, path, address);
      const revoked = `${path}-revoked`;
      if (existsSync(revoked)) await copyFile(revoked, join(home, "store-revoked"));
      const findings = join(home, "knowledge.db");
      if (existsSync(findings)) await copyKnowledge(sqliteKnowledge(findings), postgresKnowledge(address));
      return copied;
    } finally {
      await store.close();
    }
  } finally {
    await place.leave();
  }
}
