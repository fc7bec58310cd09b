import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startFleet } from "../../../../../tests/support/fleet.ts";
import type { Fleet } from "../../../../../tests/support/fleet.ts";
import { ended, lines, Stage } from "../../stage.fixture.ts";

type Test = Parameters<typeof startFleet>[0];

async function staged(t: Test): Promise<{ brain: Fleet; stage: Stage }> {
  const brain = await startFleet(t);
  return { brain, stage: await Stage.set({ VIDRO_URL: brain.url, VIDRO_TOKEN: await brain.token("ana") }) };
}

const script = (text: string): readonly string[] => ["--", "sh", "-c", text];

test("what a command says and how it ends is passed on as it is, and it is a run like any other", async (t) => {
  const { brain, stage } = await staged(t);
  await using _ = stage;
  await brain.host("web1");
  const said = await stage.run(
    "hands",
    "exec",
    "web1",
    ...script("printf 'a\\tb\\033[1m\\nc'; printf 'oh' >&2; exit 3"),
  );
  assert.deepEqual(said, { code: 3, stdout: "a\tb\u001b[1m\nc", stderr: "oh" });
  const words = await stage.run("hands", "exec", "web1", "--", "printf", "%s|", "a b", "$HOME", "*", "'", "", "--json");
  assert.deepEqual([words.code, words.stdout], [0, "a b|$HOME|*|'||--json|"]);
  assert.equal((await stage.run("hands", "exec", "web1", ...script("kill -TERM $$"))).code, 143);
  const missing = await stage.run("hands", "exec", "web1", "--", "no-such-program");
  assert.notEqual(missing.code, 0);
  assert.match(missing.stderr, /no-such-program/);
  const [run] = lines((await stage.run("runs", "list", "--json", "--limit", "1")).stdout);
  assert.deepEqual([run?.["status"], run?.["task"]], ["finished", '["no-such-program"]']);
});

test("a long output arrives whole", async (t) => {
  const { brain, stage } = await staged(t);
  await using _ = stage;
  await brain.host("web1");
  const { code, stdout, stderr } = await stage.run("hands", "exec", "web1", "--", "seq", "1", "10000");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(stdout, Array.from({ length: 10_000 }, (_line, n) => `${n + 1}\n`).join(""));
});

test("of an output that is too much for the way, it is said that some is missing", async (t) => {
  const { brain, stage } = await staged(t);
  await using _ = stage;
  await brain.host("web1");
  const { code, stdout, stderr } = await stage.run("hands", "exec", "web1", "--", "seq", "1", "2000000");
  assert.equal(code, 0);
  assert.match(stderr, new RegExp(`only ${Buffer.byteLength(stdout)} of 14888896 bytes of stdout came`));
});

test("on several hands it is done on each, told under their names, and the worst end is the end", async (t) => {
  const { brain, stage } = await staged(t);
  await using _ = stage;
  const hosts = [await brain.host("web1", { tags: ["web"] }), await brain.host("web2", { tags: ["web"] })];
  const count = script("echo x >> effects; basename $(dirname $PWD); case $PWD in *web2*) exit 4;; esac");
  const each = await stage.run("hands", "exec", "tag:web", ...count);
  assert.equal(each.code, 4);
  assert.match(each.stdout, /web1 · [^\n]*\nhost-web1\n/);
  assert.match(each.stdout, /web2 · [^\n]*\nhost-web2\n/);
  const told = lines((await stage.run("hands", "exec", "--json", "web1,web2", "--", "wc", "-l", "effects")).stdout);
  const rows = told.map((line) => `${String(line["name"])} ${String(line["exit_code"])} ${String(line["stdout"])}`);
  assert.deepEqual(new Set(rows), new Set(["web1 0 1 effects\n", "web2 0 1 effects\n"]));
  assert.equal(new Set(told.map((line) => line["run_id"])).size, hosts.length, "a run for each");
});

test("what policy asks about is asked, refused without a person, and approved by --yes", async () => {
  await using stage = await Stage.set();
  const refused = await stage.run("hands", "exec", "local", "--", "touch", "made");
  assert.equal(refused.code, 5);
  assert.match(refused.stderr, /on a terminal and answer there, or approve beforehand with --yes/);
  assert.equal(existsSync(join(stage.workspace, "made")), false);
  assert.equal((await stage.run("hands", "exec", "--yes", "local", "--", "touch", "made")).code, 0);
  assert.ok(existsSync(join(stage.workspace, "made")));
});

test("a person at a terminal sees what would run and where, and decides", async () => {
  await using stage = await Stage.set();
  const terminal = stage.terminal("hands", "exec", "local", "--", "touch", "made");
  await terminal.sees("local: May this be done?");
  await terminal.sees("touch made");
  await terminal.sees("y yes");
  terminal.type("y");
  assert.equal(await terminal.ends(), 0);
  assert.ok(existsSync(join(stage.workspace, "made")));
});

test("Ctrl-C ends the command on its host, and the run with it", async (t) => {
  const { brain, stage } = await staged(t);
  await using _ = stage;
  await brain.host("web1");
  const child = stage.start("hands", "exec", "web1", ...script("echo up; sleep 300"));
  const over = ended(child);
  child.stdout.once("data", () => child.kill("SIGINT"));
  const { code, stdout } = await over;
  assert.deepEqual([code, stdout], [130, "up\n"]);
  const [run] = lines((await stage.run("runs", "list", "--json", "--limit", "1")).stdout);
  assert.equal(run?.["status"], "aborted");
});
