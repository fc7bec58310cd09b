import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { JsonObject } from "@vidro/core";
import { lines } from "../../packages/cli/src/stage.fixture.ts";
import type { Line } from "../../packages/cli/src/stage.fixture.ts";
import { until } from "../support/daemon-process.ts";
import { LINKS, LinkHarness } from "../support/link-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/*
 * A hand and a token that were revoked after a backup. When the backup comes back they stay out where the file beside
 * the store has it, and where nothing has it a person is told until they have looked.
 */

/** A brain with a hand on another machine, over a certificate. */
async function joined(t: TestContext): Promise<LinkHarness> {
  const stand = await LinkHarness.set(LINKS.find(({ name }) => name === "agent-ws")!);
  t.after(() => stand[Symbol.asyncDispose]());
  await stand.raise("hand");
  await until("the hand is there", async () => (await hostOf(stand))["state"] === "ok");
  return stand;
}

async function hostOf(stand: LinkHarness): Promise<JsonObject> {
  const { hands } = (await (await stand.ask("/v1/hands")).json()) as { hands: readonly JsonObject[] };
  return hands.find(({ name }) => name === "host") ?? {};
}

async function revoked(stand: LinkHarness, token: string): Promise<void> {
  const { status } = await stand.ask("/v1/hands/host/revoke", { why: "stolen" });
  assert.equal(status, 200);
  assert.equal((await stand.stage.run("tokens", "revoke", token.split(".")[0]!)).code, 0);
}

async function newToken(stand: LinkHarness): Promise<string> {
  const [made] = lines((await stand.stage.run("tokens", "create", "--owner", "ana", "--json")).stdout);
  return String(made?.["token"]);
}

async function statusOf(stand: LinkHarness, token: string): Promise<number> {
  return (await fetch(`${stand.url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } })).status;
}

async function doctorSays(stand: LinkHarness): Promise<Line> {
  const rows = lines((await stand.stage.run("doctor", "--json")).stdout);
  return rows.find((row) => row["id"] === "restored") ?? { body: {} };
}

test("F33 a hand and a token that were revoked after the backup of a store stay out when it comes back", async (t) => {
  const stand = await joined(t);
  const token = await newToken(stand);
  const store = join(stand.stage.home, "journal.db");
  using database = new DatabaseSync(store);
  database.exec(`VACUUM INTO '${store}.backup'`);
  database.close();
  await revoked(stand, token);
  await stand.kill("brain");
  for (const file of globSync(`${store}-{wal,shm}`)) rmSync(file);
  writeFileSync(store, readFileSync(`${store}.backup`));
  await stand.raise("brain");
  assert.equal((await hostOf(stand))["barred"], "revoked");
  assert.equal(await statusOf(stand, token), 401);
  await stand.kill("hand");
  await assert.rejects(stand.raise("hand"), /HAND_REVOKED|revoked/u);
  assert.equal(statSync(`${store}-revoked`).mode & 0o077, 0);
});

test("F33 where the whole home came back, the log and the doctor name the hands until a person has looked", async (t) => {
  const stand = await joined(t);
  const token = await newToken(stand);
  const { home } = stand.stage;
  const before = join(temporaryFolder(t), "before");
  await stand.kill("brain");
  cpSync(home, before, { recursive: true });
  await stand.raise("brain");
  assert.equal((await doctorSays(stand))["status"], "ok");
  await revoked(stand, token);
  await stand.kill("brain");
  for (const file of globSync("**/*", { cwd: home }))
    if (!existsSync(join(before, file))) rmSync(join(home, file), { recursive: true, force: true });
  for (const file of globSync("**/*", { cwd: before }))
    if (statSync(join(before, file)).isFile()) writeFileSync(join(home, file), readFileSync(join(before, file)));
  const { http, south } = stand.ports;
  const flags = ["--port", `${http}`, "--southbound-port", `${south}`, "--no-local-hand"];
  stand.brain = await stand.onBrain(stand.argv("brain", "up", "--json", ...flags, "--restored"));
  await until("the log names the hand", () => /"event":"store.unreviewed"[^\n]*"hands":"host"/.test(stand.brain!.log));
  const said = await doctorSays(stand);
  assert.equal(said["status"], "warn");
  assert.match(String(said["summary"]), /hands: host; 2 tokens/);
  assert.match(String(said["fix"]), /vidro hands reviewed/);
  await stand.kill("brain");
  await stand.raise("brain");
  await until("the log says so at each start", () => /"event":"store.unreviewed"/.test(stand.brain!.log));
  assert.equal((await stand.stage.run("hands", "reviewed")).code, 0);
  assert.equal((await doctorSays(stand))["status"], "ok");
  await stand.kill("brain");
  await stand.raise("brain");
  await until("the daemon is up", () => /"event":"daemon.started"/.test(stand.brain!.log));
  assert.doesNotMatch(stand.brain.log, /"event":"store.unreviewed"/);
});
