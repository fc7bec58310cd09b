import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { CATALOG_LIMITS } from "@vidro/core";
import { up } from "../daemon.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

const MADE = [
  "create",
  "--name",
  "Ada",
  "--description",
  "Counts.",
  "--model",
  "offline",
  "--tools",
  "shell, read_file",
];

/** The whole life of an agent, as the command shows it. */
async function life(agents: Stage["run"], stage: Stage): Promise<unknown> {
  await writeFile(join(stage.workspace, "ada.txt"), "Count twice.\nSay it once.\n");
  const made = await agents(...MADE, "--prompt-file", "ada.txt", "--json");
  assert.deepEqual([made.code, made.stderr], [0, ""]);
  const [{ created_at: createdAt, updated_at: updatedAt, ...ada } = { body: {} }] = lines(made.stdout);
  assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < 60_000);
  assert.equal(updatedAt, createdAt);
  const listed = lines((await agents("list", "--json")).stdout);
  assert.deepEqual(listed.map(({ name }) => name).slice(0, 2), ["bunny", "Ada"]);
  for (const given of [String(ada["uuid"]), "ada"]) {
    assert.equal((await agents("show", given, "--json")).stdout, made.stdout);
  }
  const again = await agents(...MADE, "--prompt", "x");
  const deleted = await agents("delete", "Ada");
  assert.deepEqual([deleted.code, deleted.stdout, deleted.stderr], [0, "", "Ada is deleted.\n"]);
  const gone = await agents("show", "Ada");
  const stays = await agents("delete", "bunny", "--json");
  const unknown = await agents("create", "--name", "x", "--prompt", "x", "--tools", "hammer");
  return { ada, failures: [again, gone, stays, unknown] };
}

test("agents are made, listed, shown and deleted alike with a daemon and without", async () => {
  await using stage = await Stage.set();
  const run: Stage["run"] = (...args) => stage.run("agents", ...args);
  const alone = (await life(run, stage)) as { ada: { uuid: string }; failures: { code: number; stderr: string }[] };
  assert.deepEqual(alone.ada, {
    uuid: alone.ada.uuid,
    name: "Ada",
    description: "Counts.",
    prompt: "Count twice.\nSay it once.",
    image: null,
    model: "offline",
    tools: ["shell", "read_file"],
  });
  const hints = [
    [6, /There is an agent named "Ada" already\.\n {2}next: Look it up: vidro agents list\n$/],
    [3, /There is no agent "Ada"\.\n {2}next: Look it up: vidro agents list\n$/],
    [6, /"bunny" is defined by the brain or by a file and cannot be deleted\./],
    [2, /There is no tool named "hammer"\. The tools are: /],
  ] as const;
  for (const [index, [code, hint]] of hints.entries()) {
    assert.match(alone.failures[index]?.stderr ?? "", hint);
    assert.equal(alone.failures[index]?.code, code);
  }
  await using _ = await up(stage);
  assert.deepEqual(await life(run, stage), alone);
});

test("an agent that was made alone is known to the daemon, and the other way round", async () => {
  await using stage = await Stage.set();
  const made = await stage.run("agents", "create", "--name", "Ada", "--prompt", "Count.");
  assert.match(made.stdout, /^[0-9a-f-]{36}\n$/);
  assert.equal(made.stderr, `Ada is there. Look at it: vidro agents show ${made.stdout}`);
  {
    await using daemon = await up(stage);
    assert.equal((await stage.run("agents", "show", "Ada", "--url", daemon.url)).code, 4);
    assert.match((await stage.run("agents", "show", "Ada")).stdout, /^Ada\n {2}uuid: .*\n[^]*\n\nCount\.\n$/);
    assert.equal((await stage.run("agents", "create", "--name", "Bob", "--prompt", "Add.")).code, 0);
  }
  assert.match(
    (await stage.run("agents", "list")).stdout,
    /^AGENT {17}WHAT FOR\nbunny {17}A careful operator.*\nAda\nBob\nscout .*\n$/,
  );
});

test("a brain that is named and silent is no reason to look elsewhere", async () => {
  await using stage = await Stage.set();
  const { code, stdout, stderr } = await stage.run("agents", "list", "--url", "http://127.0.0.1:9");
  assert.deepEqual([code, stdout], [7, ""]);
  assert.match(stderr, /next: .*vidro up/);
});

test("a slip of the pen makes no agent", async () => {
  await using stage = await Stage.set();
  await writeFile(join(stage.workspace, "huge.txt"), "x".repeat(CATALOG_LIMITS.agentFileBytes + 1));
  const slips = [
    [["create", "--name", "x"], /give --prompt TEXT or --prompt-file FILE/],
    [
      ["create", "--prompt", "x"],
      /required option '--name <name>' not specified\n {2}next: vidro agents create --help/,
    ],
    [["create", "--name", "x", "--prompt", "x", "--prompt-file", "x"], /cannot be used with option/],
    [["create", "--name", "x", "--prompt-file", "none.txt"], /The prompt cannot be read: .*none\.txt/],
    [["create", "--name", "x", "--prompt-file", "huge.txt"], /huge\.txt is larger than/],
    [["create", "--name", " x", "--prompt", "x"], /at \/name must match pattern/],
    [["delete"], /missing required argument 'agent'\n {2}next: vidro agents delete --help/],
    [["crate"], /Did you mean create\?/],
  ] as const;
  for (const [args, hint] of slips) {
    const { code, stdout, stderr } = await stage.run("agents", ...args);
    assert.match(stderr, hint);
    assert.deepEqual([code, stdout], [2, ""]);
  }
  assert.equal(lines((await stage.run("agents", "list", "--json")).stdout).length, 2);
});

test("a task is done by the agent that is named, with its own words and tools, with a daemon and without", async () => {
  await using stage = await Stage.set();
  await stage.run("agents", ...MADE, "--prompt", "Count twice.");
  const cast = async (): Promise<unknown> => {
    const { code, stdout } = await stage.run("run", "--agent", "Ada", "--json", "uptime");
    assert.equal(code, 0, stdout);
    const body = lines(stdout)[0]?.["body"] as { agent: string; system: string; tools: { name: string }[] } | undefined;
    return { agent: body?.agent, system: body?.system, tools: body?.tools.map(({ name }) => name) };
  };
  const ada = { agent: "Ada", system: "Count twice.", tools: ["shell", "read_file"] };
  assert.deepEqual(await cast(), ada);
  await using _ = await up(stage);
  assert.deepEqual(await cast(), ada);
  const unknown = await stage.run("run", "--agent", "unknown", "uptime");
  assert.equal(unknown.code, 3);
  assert.match(unknown.stderr, /next: Look it up: vidro agents list/);
});
