import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { lines, Stage } from "../stage.fixture.ts";
import type { Line } from "../stage.fixture.ts";

async function stageWith(file: string | undefined, env: NodeJS.ProcessEnv = {}, mode = 0o600): Promise<Stage> {
  const stage = await Stage.set(env);
  if (file === undefined) return stage;
  await mkdir(stage.home);
  await writeFile(join(stage.home, "config.json"), file);
  await chmod(join(stage.home, "config.json"), mode);
  return stage;
}

async function explained(stage: Stage, key: string): Promise<Line | undefined> {
  const { code, stdout, stderr } = await stage.run("config", "explain", key, "--json");
  assert.equal(code, 0, stderr);
  return lines(stdout)[0];
}

async function refusal(stage: Stage, ...args: readonly string[]): Promise<string> {
  const { code, stderr } = await stage.run(...(args.length === 0 ? ["config", "list"] : args));
  assert.equal(code, 2, stderr);
  return stderr;
}

test("the file wins over the default, and the environment over the file", async () => {
  const file = JSON.stringify({ retries: 3, hosts: ["a", "b"] });
  await using plain = await stageWith(undefined);
  assert.deepEqual(pick(await explained(plain, "retries")), [8, "default", null, []]);
  await using filed = await stageWith(file);
  const path = join(filed.home, "config.json");
  assert.deepEqual(pick(await explained(filed, "retries")), [3, "file", path, []]);
  assert.deepEqual(pick(await explained(filed, "VIDRO_HOSTS")), [["a", "b"], "file", path, []]);
  await using said = await stageWith(file, { VIDRO_RETRIES: "5", VIDRO_HOSTS: "" });
  const other = join(said.home, "config.json");
  assert.deepEqual(pick(await explained(said, "retries")), [5, "environment", "VIDRO_RETRIES", [other]]);
  // An empty variable counts as not set.
  assert.deepEqual(pick(await explained(said, "hosts")), [["a", "b"], "file", other, []]);
});

function pick(line: Line | undefined): readonly unknown[] {
  return [line?.["value"], line?.["source"], line?.["from"], line?.["overridden"]];
}

test("a flag wins over the environment and the file", async () => {
  const dead = (port: number): string => `http://127.0.0.1:${port}`;
  const file = JSON.stringify({ url: dead(1) });
  await using filed = await stageWith(file);
  assert.match((await filed.run("runs", "list")).stderr, /127\.0\.0\.1:1\b/);
  await using said = await stageWith(file, { VIDRO_URL: dead(2) });
  assert.match((await said.run("runs", "list")).stderr, /127\.0\.0\.1:2\b/);
  assert.match((await said.run("runs", "list", "--url", dead(3))).stderr, /127\.0\.0\.1:3\b/);
});

test("a daemon takes its address, its restart rule and its hand from the file", async () => {
  const file = JSON.stringify({ host: "127.0.0.2", port: 0, local_hand: false, on_restart: "hold" });
  await using stage = await stageWith(file);
  const child = stage.start("up", "--json");
  const ready = await new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk))));
  assert.match(String(lines(ready)[0]?.["url"]), /^http:\/\/127\.0\.0\.2:\d+$/);
  assert.match(
    (await stage.run("run", "--json", "how much disk is free?")).stdout,
    /left out at the start|HAND_UNAVAILABLE/,
  );
  child.kill("SIGTERM");
});

test("the model of the file decides", async () => {
  await using stage = await stageWith(JSON.stringify({ model: "offlin" }), { VIDRO_MODEL: "" });
  const { code, stdout } = await stage.run("run", "--json", "how much disk is free?");
  assert.notEqual(code, 0);
  assert.match(stdout, /Did you mean offline\?/);
});

test("a value that is not allowed is refused with its key, its place and what is allowed", async () => {
  await using said = await stageWith(undefined, { VIDRO_RETRIES: "many", VIDRO_OWNERS_APPROVE: "maybe" });
  const both = await refusal(said, "runs", "list");
  assert.match(both, /VIDRO_RETRIES is "many", but must be a whole number from 0 to 999\./);
  assert.match(both, /VIDRO_OWNERS_APPROVE is "maybe", but must be true or false/);
  await using filed = await stageWith(JSON.stringify({ on_restart: "never", hosts: [1], model: "" }));
  const three = await refusal(filed, "up");
  assert.match(three, /"on_restart" in \S+config\.json is "never", but must be resume or hold\./);
  assert.match(three, /"hosts" in \S+ is \[1\], but must be a list of texts/);
  assert.match(three, /"model" in \S+ is "", but must be a text that is not empty\./);
});

test("an unknown key of the file is refused with the nearest name", async () => {
  await using stage = await stageWith(JSON.stringify({ modle: "offline", colour: "red", home: "/elsewhere" }));
  const said = await refusal(stage);
  assert.match(said, /"modle" in \S+config\.json is no setting\. Did you mean model\?/);
  assert.match(said, /"colour" in \S+ is no setting\. vidro config list shows all settings\./);
  assert.match(said, /"home" cannot be set in \S+, only by VIDRO_HOME\./);
});

test("a file that is no JSON object, or is too large, is refused", async () => {
  await using broken = await stageWith('{"model": ');
  assert.match(await refusal(broken), /config\.json cannot be read: it is not JSON\./);
  await using listed = await stageWith("[]");
  assert.match(await refusal(listed), /config\.json must hold one JSON object/);
  await using large = await stageWith(" ".repeat(70_000));
  assert.match(await refusal(large), /config\.json must be a file of at most 65536 bytes\./);
});

test("secrets are not printed, and a file that holds one must be closed to other users", async () => {
  const file = JSON.stringify({ model_key: "k-12345678", url: "http://me:hunter22@127.0.0.1:1" });
  await using closed = await stageWith(file, { VIDRO_TOKEN: "t-12345678" });
  const { code, stdout } = await closed.run("config", "list");
  assert.match(stdout, /^SETTING +VALUE, AND WHERE IT COMES FROM\n\w+ /);
  assert.equal(code, 0);
  assert.match(stdout, /^token +\(set; secret\) +environment VIDRO_TOKEN$/m);
  assert.match(stdout, /^model_key +\(set; secret\) +file \S+config\.json$/m);
  assert.doesNotMatch(stdout + (await closed.run("config", "explain", "--json")).stdout, /12345678|hunter22/);
  await using open = await stageWith(file, {}, 0o644);
  const said = await refusal(open);
  assert.match(said, /config\.json holds model_key, and other users can read it: chmod 600/);
  assert.doesNotMatch(said, /12345678/);
  await using harmless = await stageWith(JSON.stringify({ retries: 1 }), {}, 0o644);
  assert.equal((await harmless.run("config", "list")).code, 0);
});

test("explain says where a setting may be set, and an unknown one is not found", async () => {
  await using stage = await stageWith(undefined, { VIDRO_URL: "http://127.0.0.1:9" });
  const { stdout } = await stage.run("config", "explain", "url");
  assert.match(stdout, /^url = http:\/\/127\.0\.0\.1:9\n {2}from: {5}environment VIDRO_URL\n/);
  assert.match(stdout, /settable: --url, VIDRO_URL, "url" in config\.json/);
  const { code, stderr } = await stage.run("config", "explain", "tokn");
  assert.equal(code, 3);
  assert.match(stderr, /no setting "tokn"\. Did you mean token\?/);
});
