import assert from "node:assert/strict";
import { test } from "node:test";
import { TERMINAL_LIMITS } from "@vidro/core";
import { startFleet } from "../../../../tests/support/fleet.ts";
import { lines, Stage } from "../stage.fixture.ts";

test("hands are listed and shown, for people and for programs", async (t) => {
  const brain = await startFleet(t);
  await using stage = await Stage.set({ VIDRO_URL: brain.url, VIDRO_TOKEN: await brain.token("ana", "*") });
  const alone = await stage.run("hands", "list");
  assert.match(alone.stdout, /^HAND {18}STATE {8}LINK {9}TAGS {28}ID\nlocal {17}ok /);
  assert.match(alone.stderr, /Invite one: vidro hands invite/);

  const { description } = await brain.host("web1", { tags: ["web", "eu"] });
  brain.telemetry.take(description.id, { id: "1", payload: { cpu: 0.5 }, at: Date.now() });
  const listed = await stage.run("hands", "list");
  assert.match(listed.stdout, /\nweb1 {18}ok {11}agent-ws {5}web,eu {26}hand-web1\n$/);
  assert.equal(listed.stderr, "");
  const [local, web1] = lines((await stage.run("hands", "list", "--json")).stdout);
  assert.deepEqual([local?.["id"], web1?.["id"], web1?.["tags"]], ["local", "hand-web1", ["web", "eu"]]);
  const shown = await stage.run("hands", "show", "web1");
  assert.match(shown.stdout, /^web1\n {2}id: {6}hand-web1\n {2}state: {3}ok\n/);
  assert.match(shown.stdout, /host: {4}\{"cpu":0.5\}/);

  const missing = await stage.run("hands", "show", "wbe1");
  assert.equal(missing.code, 3);
  assert.match(missing.stderr, /There is no hand "wbe1". Did you mean web1\?\n {2}next: Look it up: vidro hands list/);
});

test("a hand is put in quarantine, released and revoked, and each of these has its exit code", async (t) => {
  const brain = await startFleet(t);
  await brain.host("web1");
  await using stage = await Stage.set({ VIDRO_URL: brain.url, VIDRO_TOKEN: await brain.token("root", "*") });
  assert.equal((await stage.run("hands", "quarantine", "web1", "--why", "Odd.")).stderr, "web1 is quarantined.\n");
  const refused = await stage.run("hands", "exec", "web1", "--", "true");
  assert.deepEqual([refused.code, refused.stdout], [5, ""]);
  assert.match(refused.stderr, /in quarantine/);
  const [released] = lines((await stage.run("hands", "release", "web1", "--json")).stdout);
  assert.deepEqual([released?.["state"], released?.["why"]], ["ok", null]);
  assert.equal((await stage.run("hands", "revoke", "web1")).stderr, "web1 is revoked.\n");
  assert.equal((await stage.run("hands", "release", "web1")).code, 5);
  assert.equal((await stage.run("hands", "revoke", "nobody")).code, 3);

  await using user = await Stage.set({ VIDRO_URL: brain.url, VIDRO_TOKEN: await brain.token("ana") });
  assert.equal((await user.run("hands", "revoke", "web1")).code, 5);
});

test("a run works where --on says", async (t) => {
  const brain = await startFleet(t);
  const { hand } = await brain.host("web1", { tags: ["web"] });
  await using stage = await Stage.set({ VIDRO_URL: brain.url, VIDRO_TOKEN: await brain.token("ana") });
  const ran = await stage.run("run", "--json", "--on", "tag:web", "where am I?");
  assert.equal(ran.code, 0, ran.stderr);
  const end = lines(ran.stdout).at(-1);
  assert.equal(end?.["data"], `The working folder is ${hand.workspace}.`);
  const missing = await stage.run("run", "--on=web9", "where am I?");
  assert.equal(missing.code, 3);
  assert.match(missing.stderr, /Look it up: vidro hands list/);
});

test("without a daemon only this machine works, and what is known of others can be changed", async () => {
  await using stage = await Stage.set();
  assert.equal((await stage.run("run", "--on", "local", "where am I?")).code, 0);
  const unknown = await stage.run("run", "--on", "web1", "where am I?");
  assert.equal(unknown.code, 3);
  const own = await stage.run("hands", "revoke", "local");
  assert.equal(own.code, 2);
  assert.match(own.stderr, /--no-local-hand/);
});

test("a run on a hand that is down says within a second that it waits for it and since when", async (t) => {
  const brain = await startFleet(t);
  await using stage = await Stage.set({ VIDRO_URL: brain.url, VIDRO_TOKEN: await brain.token("ana", "*") });
  const { attached } = await brain.host("web1");
  attached.detach();
  const terminal = stage.terminal("run", "--yes", "--on", "web1", "how much disk is free?");
  assert.ok(TERMINAL_LIMITS.vigilMs < 1000);
  await terminal.sees("▸ how much disk is free?");
  const began = performance.now();
  await terminal.sees("web1 is down since ");
  t.diagnostic(`said after ${Math.round(performance.now() - began)} ms`);
  await terminal.sees(", waiting");
  await brain.host("web1");
  await terminal.sees("are free on");
  assert.equal(await terminal.ends(), 0);
});
