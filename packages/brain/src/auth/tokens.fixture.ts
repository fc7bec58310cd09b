import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Records } from "@vidro/core";
import { folder } from "../stores/journal.fixture.ts";
import { sqliteStore } from "../stores/sqlite.ts";
import { Tokens } from "./tokens.ts";

/** What a test of tokens has at hand. */
export interface Scene {
  readonly tokens: Tokens;
  readonly records: Records;
  /** The path of the store. */
  readonly path: string;
  readonly clock: { now: number };
}

/** Runs a test on a fresh store of tokens. */
export function onTokens(title: string, body: (scene: Scene) => Promise<void>): void {
  void test(title, async () => {
    using place = folder();
    const path = join(place.path, "store");
    const store = await sqliteStore(path);
    const clock = { now: Date.parse("2030-01-01") };
    const tokens = new Tokens(store.records, { now: () => clock.now });
    try {
      await body({ tokens, records: store.records, path, clock });
    } finally {
      tokens.close();
      await store.close();
    }
  });
}

// As a program: revokes a token in the store of another process.
if (import.meta.main) {
  const [path, tokenId] = process.argv.slice(2);
  assert.ok(path !== undefined && tokenId !== undefined);
  const store = await sqliteStore(path);
  await new Tokens(store.records).revoke(tokenId);
  await store.close();
}
