import assert from "node:assert/strict";
import { once } from "node:events";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { ended, lines, Stage } from "../stage.fixture.ts";

/** Waits until the command has printed an event, without taking its output from other readers. */
function told(child: ChildProcessWithoutNullStreams, event: string): Promise<void> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (text.includes(`"event":"${event}"`)) resolve();
    });
    child.on("exit", () => reject(new Error(`The command ended without ${event}.`)));
  });
}

/** A stage whose model gives its second answer when it is told to. */
async function waitingStage(things: AsyncDisposableStack, env: NodeJS.ProcessEnv = {}) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const model = things.use(await scriptedModel(shellLine("true", "read"), promise));
  const stage = things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url, ...env }));
  return { stage, goOn: () => resolve("at last") };
}

const gapless = (text: string): void =>
  assert.deepEqual(
    lines(text).map(({ seq }) => seq),
    lines(text).map((_line, index) => index + 1),
  );

test("a run on the daemon is told as one in the command's own process is, and every command finds it", async () => {
  await using stage = await Stage.set();
  const alone = await stage.run("run", "--json", "how much disk is free?");
  await using daemon = await up(stage);
  const served = await stage.run("run", "--json", "how much disk is free?");
  assert.equal(served.code, 0, served.stderr);
  const events = (text: string) => lines(text).map(({ type, event, seq }) => [type, event, seq]);
  assert.deepEqual(events(served.stdout), events(alone.stdout));
  const [newest, oldest] = lines((await stage.run("runs", "list", "--json")).stdout);
  const run = String(newest?.["run_id"]);
  assert.equal(run, lines(served.stdout)[0]?.["run_id"]);
  assert.equal(oldest?.["run_id"], lines(alone.stdout)[0]?.["run_id"]);
  assert.equal((await stage.run("runs", "show", run.slice(-12), "--json")).stdout, served.stdout);
  assert.equal((await stage.run("attach", "--json", "--last", "--after", "0")).stdout, served.stdout);
  for (const after of [lines(served.stdout).length, 99]) {
    const none = await stage.run("attach", "--json", "--last", "--after", String(after));
    assert.deepEqual([none.code, none.stdout], [0, ""]);
  }
  const exported = await stage.run("runs", "export", run, "--url", daemon.url, "--token", daemon.token);
  assert.equal(exported.stdout, served.stdout);
});

test("the same key gives the same run, and a run that is over cannot be aborted", async () => {
  await using stage = await Stage.set();
  await using _ = await up(stage);
  const first = await stage.run("run", "--json", "--key", "once", "how much disk is free?");
  const again = await stage.run("run", "--json", "--key", "once", "how much disk is free?");
  assert.equal(again.stdout, first.stdout);
  assert.match(again.stderr, /This key belongs to run_/);
  const aborted = await stage.run("runs", "abort", String(lines(first.stdout)[0]?.["run_id"]));
  assert.equal(aborted.code, 6, aborted.stderr);
});

test("a brain that is named and not there is exit 7, a token that is wrong or missing exit 4", async () => {
  await using stage = await Stage.set();
  const daemon = await up(stage);
  for (const token of [["--token", "0123456789abcdef0123456789abcdef.c2VjcmV0"], ["--token", "rubbish"], []]) {
    const refused = await stage.run("run", "--json", "hello", "--url", daemon.url, ...token);
    assert.equal(refused.code, 4, refused.stdout + refused.stderr);
    assert.match(String(lines(refused.stdout)[0]?.["code"]), /INVALID_TOKEN|AUTH_REQUIRED/);
  }
  await daemon.kill();
  for (const command of [
    ["run", "hello"],
    ["attach", "--last"],
    ["runs", "list"],
  ]) {
    const { code, stderr } = await stage.run(...command, "--url", daemon.url, "--token", daemon.token);
    assert.equal(code, 7);
    assert.match(stderr, /The brain cannot be reached\.\n {2}why: Nothing answers at http.*\n {2}next: /);
  }
  // What it left behind names a process that is gone: the command is its own brain again.
  assert.equal((await stage.run("runs", "list")).code, 0);
  const strange = await stage.run("runs", "list", "--url", "http://me:secret@brain");
  assert.equal(strange.code, 2);
  assert.doesNotMatch(strange.stderr, /secret/);
});

test("the daemon serves every folder of its user, and the first line names the brain that works", async () => {
  await using stage = await Stage.set();
  await using daemon = await up(stage);
  const other = join(stage.workspace, "other");
  await mkdir(other);
  const elsewhere = await stage.run("run", "--workspace", other, "what is the working folder?");
  assert.deepEqual([elsewhere.code, elsewhere.stdout], [0, `The working folder is ${other}.\n`], elsewhere.stderr);
  assert.equal(elsewhere.stderr.split("\n")[0], `brain: the daemon at ${daemon.url}`);
  stage.command.env["VIDRO_MODEL"] = "ollama/x";
  const noted = await stage.run("run", "--workspace", other, "what is the working folder?");
  assert.match(
    noted.stderr,
    /^brain: .*\nVIDRO_MODEL is ollama\/x here, and the daemon .*: --model ollama\/x, or vidro restart\n/,
  );
  stage.command.env["VIDRO_MODEL"] = "offline";
  const [made] = lines((await stage.run("tokens", "create", "--json")).stdout);
  const user = await stage.run("run", "--workspace", other, "hello", "--token", String(made?.["token"]));
  assert.equal(user.code, 5, user.stderr);
  const gone = await stage.run("run", "--workspace", join(other, "gone"), "hello");
  assert.equal(gone.code, 2);
  const named = await stage.run("run", "--workspace", stage.home, "hello", "--url", daemon.url);
  assert.equal(named.code, 2);
});

test("a client that is killed leaves its run with the daemon", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, goOn } = await waitingStage(things);
  things.use(await up(stage));
  const other = join(stage.workspace, "other");
  await mkdir(other);
  const client = stage.start("run", "--json", "--yes", "--workspace", other, "wait for it");
  await told(client, "action.finished");
  client.kill("SIGKILL");
  goOn();
  const { code, stdout } = await stage.run("attach", "--last");
  assert.deepEqual([code, stdout], [0, "at last\n"]);
});

test("a wrong token is refused by every command, with a daemon and without", async () => {
  await using stage = await Stage.set();
  const wrong = ["--token", "0123456789abcdef0123456789abcdef.c2VjcmV0"];
  const commands = [
    ["run", "hello"],
    ["runs", "list"],
    ["agents", "list"],
    ["hands", "list"],
    ["attach", "--last"],
  ];
  for (const command of commands) assert.equal((await stage.run(...command, ...wrong)).code, 4, command.join(" "));
  await using _ = await up(stage);
  for (const command of [...commands, ["status"], ["console"], ["code", "hello"]])
    assert.equal((await stage.run(...command, ...wrong)).code, 4, command.join(" "));
});

test("a second command watches the same run live, to the same end", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, goOn } = await waitingStage(things);
  things.use(await up(stage));
  const first = stage.start("run", "--json", "--yes", "wait for it");
  const running = ended(first);
  await once(first.stdout, "data");
  const second = stage.start("attach", "--json", "--last", "--verbose");
  const watching = ended(second);
  await once(second.stdout, "data");
  goOn();
  assert.deepEqual([(await running).code, (await watching).code], [0, 0]);
  const kept = lines((await watching).stdout).filter(({ seq }) => seq !== undefined);
  assert.deepEqual(kept, lines((await running).stdout));
  assert.ok(
    lines((await watching).stdout).some(({ event }) => event === "model.delta"),
    "what is live comes too",
  );
});

test("SIGINT aborts a run that the command started, and leaves one that it only watches", async () => {
  await using things = new AsyncDisposableStack();
  const { stage } = await waitingStage(things);
  things.use(await up(stage));
  const starter = stage.start("run", "--json", "--yes", "wait for it");
  const started = ended(starter);
  await once(starter.stdout, "data");
  const watcher = stage.start("attach", "--json", "--last");
  const watched = ended(watcher);
  await once(watcher.stdout, "data");
  watcher.kill("SIGINT");
  const left = await watched;
  assert.equal(left.code, 130);
  assert.match(left.stderr, /the run is left open \(the brain goes on with it\)/);
  starter.kill("SIGINT");
  const { code, stdout } = await started;
  assert.equal(code, 130);
  assert.equal(lines(stdout).at(-1)?.["code"], "ABORTED");
});

test("a daemon that is killed and comes back is followed on, without a gap or a repetition", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, goOn } = await waitingStage(things);
  const first = await up(stage);
  const running = stage.start("run", "--json", "--yes", "wait for it");
  const over = ended(running);
  await told(running, "action.finished");
  await first.kill();
  things.use(await up(stage, first.port));
  goOn();
  const { code, stdout, stderr } = await over;
  assert.equal(code, 0, stderr);
  gapless(stdout);
  assert.equal(lines(stdout).at(-1)?.["data"], "at last");
});

test("a daemon that is gone for good is exit 7, and its run goes on without it", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, goOn } = await waitingStage(things, { VIDRO_RETRIES: "1" });
  const daemon = await up(stage);
  const running = stage.start("run", "--json", "--yes", "wait for it");
  const over = ended(running);
  await told(running, "action.finished");
  await daemon.kill();
  const { code, stderr } = await over;
  assert.equal(code, 7, stderr);
  assert.match(stderr, /the run is left as it is: vidro attach run_/);
  goOn();
  const attached = await stage.run("attach", "--json", "--last");
  assert.equal(attached.code, 0, attached.stderr);
  gapless(attached.stdout);
});

test("a token that is revoked ends the watching with exit 4", async () => {
  await using things = new AsyncDisposableStack();
  const { stage } = await waitingStage(things);
  await using daemon = await up(stage);
  const [made] = lines((await stage.run("tokens", "create", "--json")).stdout);
  const child = stage.start("run", "--json", "--yes", "wait", "--url", daemon.url, "--token", String(made?.["token"]));
  const over = ended(child);
  await once(child.stdout, "data");
  assert.equal((await stage.run("tokens", "revoke", String(made?.["token_id"]))).code, 0);
  const { code, stderr } = await over;
  assert.equal(code, 4, stderr);
});
