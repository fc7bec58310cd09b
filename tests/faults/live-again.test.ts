import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { failSyncs } from "../../packages/brain/src/stores/failing-sync.fixture.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { ChaosStand } from "../chaos/harness.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import { Peer } from "../support/peer-process.ts";
import type { FakeOpenAi, FakeReply } from "../support/fake-openai.ts";

/*
 * G9, F31, F34: whatever the store or the process met, within 30 s of its healing the run goes on by itself, nothing
 * that was acknowledged is lost, and its one effect happened once.
 */

/** From the healing of a fault to the end of the run that it held up. */
const LIVE_AGAIN_MS = 30_000;

/** Answers when it is told to, so that a fault can be put in between. */
class Held {
  readonly #gate = Promise.withResolvers<void>();

  open(): void {
    this.#gate.resolve();
  }

  reply(then: FakeReply): FakeReply {
    return (response) => void this.#gate.promise.then(() => then(response));
  }
}

const EFFECT = calls({ id: "c1", name: "shell", input: '{"command":"echo x >> effects.txt"}' });

interface Scene extends AsyncDisposable {
  readonly stage: Stage;
  readonly fake: FakeOpenAi;
  readonly held: Held;
}

/** A home, and a model whose first answer is held back; it is an effect, as are those that are given besides. */
async function scene(...more: FakeReply[]): Promise<Scene> {
  const held = new Held();
  const fake = await fakeOpenAi(held.reply(EFFECT), ...more, text("done"));
  const stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
  return {
    stage,
    fake,
    held,
    async [Symbol.asyncDispose]() {
      await fake.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}

async function statusOf(daemon: DaemonProcess, run: string): Promise<string> {
  return ((await (await daemon.ask(`/v1/runs/${run}`)).json()) as { status: string }).status;
}

/** Waits for the question of the effect, says yes, and waits for the end. */
async function goOn(daemon: DaemonProcess, run: string): Promise<void> {
  await until("the effect is asked for", async () => (await statusOf(daemon, run)) === "asking", LIVE_AGAIN_MS);
  await until("the answer is taken", async () => (await answer(daemon, run)).ok, LIVE_AGAIN_MS);
  await until("the run is over", async () => (await statusOf(daemon, run)) === "finished", LIVE_AGAIN_MS);
}

function answer(daemon: DaemonProcess, run: string): Promise<Response> {
  return daemon.ask(`/v1/runs/${run}/answers`, { method: "POST", body: JSON.stringify({ answer: "yes" }) });
}

function assertOneEffect(stage: Stage): void {
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), "x\n");
}

async function eventsOf(daemon: DaemonProcess, run: string): Promise<string> {
  const headers = { accept: "application/x-ndjson" };
  return (await daemon.ask(`/v1/runs/${run}/events`, { headers })).text();
}

async function audited(stage: Stage): Promise<void> {
  const audit = await stage.run("audit", "verify");
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
}

test("G9 F31 a store that another process keeps for 7 s is waited for, and the wait is on record", async () => {
  await using it = await scene();
  await using daemon = await DaemonProcess.up(it.stage);
  const asked = it.fake.next();
  const run = await daemon.run("do it");
  await asked;
  const other = new DatabaseSync(join(it.stage.home, "journal.db"));
  other.exec("BEGIN IMMEDIATE");
  it.held.open();
  await sleep(7000);
  assert.equal(await statusOf(daemon, run), "running");
  other.exec("ROLLBACK");
  other.close();
  await goOn(daemon, run);
  assertOneEffect(it.stage);
  assert.match(await eventsOf(daemon, run), /wait_for_store.*STORE_BUSY|STORE_BUSY.*wait_for_store/);
  await audited(it.stage);
});

test("G9 F31 a disk that is full for 3 s holds a run up for no longer", async () => {
  await using it = await scene();
  const { home } = it.stage;
  mkdirSync(home, { recursive: true });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", home], { encoding: "utf8" });
  assert.equal(mounted.status, 0, `a small disk needs the right to mount: ${mounted.stderr}`);
  try {
    await using daemon = await DaemonProcess.up(it.stage);
    const asked = it.fake.next();
    const run = await daemon.run("do it");
    await asked;
    const filler = join(home, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096"]);
    it.held.open();
    const refused = await daemon.ask("/v1/runs", { method: "POST", body: JSON.stringify({ task: "another" }) });
    assert.equal(refused.status, 507, await refused.text());
    await sleep(3000);
    rmSync(filler);
    await goOn(daemon, run);
    assertOneEffect(it.stage);
    await audited(it.stage);
    await daemon.end("SIGTERM");
  } finally {
    spawnSync("umount", [home]);
  }
});

test("G9 F31 a hand that dials while the brain's disk is full goes on dialling, and is there when it has room", async () => {
  await using stand = await ChaosStand.set();
  assert.ok(stand.hasDisk, "a small disk needs the right to mount");
  for (const host of ["ws", "http"] as const) {
    await stand.members[host].end();
    let said = "";
    const hear = (words: string): void => void (said += words);
    const filling = stand.fillDisk(3000);
    const { child, ready } = Peer.launch(stand.served(host), hear);
    await until(`${host}: the brain's trouble is told`, () => /full/.test(said), LIVE_AGAIN_MS);
    await filling;
    await ready;
    assert.equal(child.exitCode, null, said);
    await (await ready).end("SIGTERM");
  }
});

test("G9 F31 a sync that fails costs no run its entries", async () => {
  await using it = await scene();
  await using daemon = await DaemonProcess.up(it.stage);
  const asked = it.fake.next();
  const run = await daemon.run("do it");
  await asked;
  const syncs = await failSyncs(daemon.pid, "1..2");
  it.held.open();
  await goOn(daemon, run);
  await syncs.end();
  assertOneEffect(it.stage);
  await audited(it.stage);
});

test("F31 a run whose start met a failing disk is never called refused and then comes to life", async () => {
  await using it = await scene();
  const before = await DaemonProcess.up(it.stage);
  const syncs = await failSyncs(before.pid, "1+");
  const started = await before.ask("/v1/runs", { method: "POST", body: JSON.stringify({ task: "do it" }) });
  const said = (await started.json()) as { code?: string; error?: { code?: string } };
  assert.equal(started.status, 503, JSON.stringify(said));
  assert.match(JSON.stringify(said), /COMMIT_UNKNOWN/);
  assert.doesNotMatch(JSON.stringify(said), /disk.{0,20}full|refused/i);
  await before.end("SIGKILL");
  await syncs.end();
  await audited(it.stage);
});

test("G9 F34 a run of a process in another PID namespace is taken up when its lease has run out", async () => {
  await using it = await scene(EFFECT);
  const asked = it.fake.next();
  const first = await DaemonProcess.up(it.stage, { wrap: ["unshare", "--pid", "--fork", "--kill-child"] });
  const run = await first.run("do it");
  await asked;
  await first.end("SIGKILL");
  await using second = await DaemonProcess.up(it.stage);
  it.held.open();
  await goOn(second, run);
  assertOneEffect(it.stage);
});

test("G9 an embedded run that is killed beside a daemon is taken up by the daemon", async () => {
  await using it = await scene(EFFECT);
  const asked = it.fake.next();
  const embedded = it.stage.start("run", "--json", "do it");
  let said = "";
  embedded.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  await asked;
  await until("the run is told", () => said.includes("\n"));
  const run = String(lines(said.slice(0, said.indexOf("\n")))[0]?.["run_id"]);
  await using daemon = await DaemonProcess.up(it.stage);
  assert.equal(await statusOf(daemon, run), "running");
  embedded.kill("SIGKILL");
  it.held.open();
  await goOn(daemon, run);
  assertOneEffect(it.stage);
});
