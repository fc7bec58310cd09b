import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { HandStateFolder } from "./hand-state-folder.ts";

const IDENTITY = {
  agentId: "a",
  name: "web-1",
  url: "wss://brain.example:3121/southbound",
  ca: "ca",
  key: "key",
  certificate: "certificate",
  workspace: "/srv",
};

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "vidro-state-"));
  t.after(() => rmSync(path, { recursive: true }));
  return join(path, "state");
}

test("an identity is read back as it was saved, from a folder and a file that are closed to others", async (t) => {
  const path = folder(t);
  const state = await HandStateFolder.open(path);
  assert.equal(await state.readIdentity(), undefined);
  await assert.rejects(state.saveCredentials({ key: "k", certificate: "c" }), { code: "NOT_FOUND" });
  await state.saveIdentity(IDENTITY);
  await state.saveCredentials({ key: "key-2", certificate: "certificate-2" });
  const again = await HandStateFolder.open(path);
  assert.deepEqual(await again.readIdentity(), { ...IDENTITY, key: "key-2", certificate: "certificate-2" });
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(path, "identity.json")).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(path), ["identity.json"], "no draft is left behind");
});

test("a session of an earlier epoch is refused, and each identity counts its own", async (t) => {
  const state = await HandStateFolder.open(folder(t));
  assert.equal(await state.highestEpoch("a"), 0);
  await state.enterSession("a", 3);
  await state.enterSession("a", 3);
  await assert.rejects(state.enterSession("a", 2), { code: "STALE_EPOCH" });
  assert.equal(await state.highestEpoch("a"), 3);
  assert.equal(await state.highestEpoch("b"), 0);
});

test("a damaged identity is named as such, and is not taken for a host that has joined no brain", async (t) => {
  const path = folder(t);
  const state = await HandStateFolder.open(path);
  for (const text of ["", "{", "[]", '{"agentId":"a"}']) {
    writeFileSync(join(path, "identity.json"), text);
    await assert.rejects(state.readIdentity(), { code: "STORE_UNREADABLE" }, JSON.stringify(text));
  }
});

test("a damaged record of sessions refuses every session, so that an old one cannot come back", async (t) => {
  const path = folder(t);
  const state = await HandStateFolder.open(path);
  await state.enterSession("a", 3);
  for (const text of ["", '{"agentId":"a","epoch":"many"}']) {
    writeFileSync(join(path, "epoch.json"), text);
    await assert.rejects(state.enterSession("a", 1), { code: "STORE_UNREADABLE" }, JSON.stringify(text));
  }
  await state.saveIdentity({ ...IDENTITY, agentId: "b" });
  await state.enterSession("b", 1);
  assert.equal(await state.highestEpoch("b"), 1, "a host that joins again is let in");
});
