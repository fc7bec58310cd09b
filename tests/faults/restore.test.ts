import assert from "node:assert/strict";
import { copyFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Entry, QuestionAsked } from "@vidro/core";
import { Stage, wholeBody } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";

/*
 * A real daemon whose store is put back to a backup that was taken in the middle of a run, after the run has gone on
 * and had its effect: the run waits for an answer, and what was done is not done again.
 */

/** Leaves its mark, and ends when the file `hold` is gone. */
const TASK = 'run "echo effect >> effects.txt; while [ -e hold ]; do sleep 0.05; done"';

/** How a backup comes back. */
const WAYS: { readonly [way: string]: (store: string, backup: string) => void } = {
  "in place": (store, backup) => {
    removeLog(store);
    writeFileSync(store, readFileSync(backup));
  },
  "as a new file": (store, backup) => {
    removeLog(store);
    // The copy is made first, so that the system cannot give it the inode of the one that it replaces.
    copyFileSync(backup, `${store}.new`);
    rmSync(store);
    copyFileSync(`${store}.new`, store);
  },
};

/** What SQLite keeps beside a store belongs to the state that is replaced. */
function removeLog(store: string): void {
  for (const file of globSync(`${store}-{wal,shm}`)) rmSync(file);
}

/** One daemon after the other on one home, and its only run. */
class Play implements AsyncDisposable {
  readonly stage: Stage;
  readonly store: string;
  daemon: DaemonProcess;
  run = "";

  private constructor(stage: Stage, daemon: DaemonProcess) {
    this.stage = stage;
    this.daemon = daemon;
    this.store = join(stage.home, "journal.db");
  }

  static async begin(): Promise<Play> {
    const stage = await Stage.set();
    const play = new Play(stage, await DaemonProcess.up(stage, { flags: ["--port", "0"] }));
    writeFileSync(join(stage.workspace, "hold"), "");
    play.run = await play.daemon.run(TASK);
    return play;
  }

  get effects(): number {
    const file = join(this.stage.workspace, "effects.txt");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
  }

  async entries(): Promise<readonly Entry[]> {
    const { home } = this.stage;
    const database = new DatabaseSync(join(home, "journal.db"), { readOnly: true });
    const rows = database.prepare("SELECT seq, at, body FROM entry ORDER BY rowid").all();
    const entries = rows.map(({ seq, at, body }) => ({
      seq: Number(seq),
      at: Number(at),
      event: JSON.parse(wholeBody(database, body)),
    }));
    database.close();
    return entries;
  }

  /** The last entry, once it is of that type. */
  async last<Type extends Entry["event"]["type"]>(type: Type): Promise<Extract<Entry["event"], { type: Type }>> {
    let event: Entry["event"] | undefined;
    await until(`the run has come to ${type}`, async () => {
      event = (await this.entries()).at(-1)?.event;
      return event?.type === type;
    });
    return event as Extract<Entry["event"], { type: Type }>;
  }

  /** The open question, once it is of that kind. */
  async asked(kind: QuestionAsked["about"]["kind"]): Promise<QuestionAsked> {
    const question = await this.last("question.asked");
    assert.equal(question.about.kind, kind);
    return question;
  }

  async answers({ id }: QuestionAsked, answer: string): Promise<void> {
    const body = JSON.stringify({ question: id, answer });
    assert.equal((await this.daemon.ask(`/v1/runs/${this.run}/answers`, { method: "POST", body })).status, 200);
  }

  /** A copy of the store as it is now, with the daemon at work. */
  backUp(): string {
    const backup = `${this.store}.backup`;
    const database = new DatabaseSync(this.store);
    database.exec(`VACUUM INTO '${backup}'`);
    database.close();
    return backup;
  }

  /** Whether the file beside the store counts all of its entries; it is written a moment after them. */
  async isCounted(): Promise<boolean> {
    const [, counted] = readFileSync(`${this.store}-mark`, "utf8").trim().split(" ");
    return Number(counted) === (await this.entries()).length;
  }

  /** Kills the daemon, and starts it again when the backup is back. */
  async restore(way: (store: string, backup: string) => void, backup: string, ...flags: string[]): Promise<void> {
    await until("the entries are counted", () => this.isCounted());
    await this.daemon.end("SIGKILL");
    way(this.store, backup);
    this.daemon = await DaemonProcess.up(this.stage, { flags: ["--port", "0", ...flags] });
  }

  async status(): Promise<unknown> {
    return ((await (await this.daemon.ask(`/v1/runs/${this.run}`)).json()) as { status: unknown }).status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon.end("SIGKILL");
    await this.stage[Symbol.asyncDispose]();
  }
}

/** Plays a run until its effect is there and it is over; the backup is from while the action ran. */
async function played(t: TestContext): Promise<{ readonly play: Play; readonly backup: string }> {
  const play = await Play.begin();
  t.after(() => play[Symbol.asyncDispose]());
  await play.answers(await play.asked("approval"), "yes");
  await until("the effect is there", () => play.effects === 1);
  const backup = play.backUp();
  rmSync(join(play.stage.workspace, "hold"));
  await play.last("run.finished");
  return { play, backup };
}

for (const [way, restore] of Object.entries(WAYS)) {
  test(`F33 G11 a run in a store that was restored ${way} waits for an answer, and goes on without a second effect`, async (t) => {
    const { play, backup } = await played(t);
    await play.restore(restore, backup);
    const question = await play.asked("restored");
    assert.deepEqual([await play.status(), play.effects, question.options], ["asking", 1, ["continue", "stop"]]);
    await play.answers(question, "continue");
    await play.last("run.finished");
    assert.equal(play.effects, 1);
    assert.equal((await play.entries()).filter(({ event }) => event.type === "action.finished").length, 1);
  });

  test(`F33 G11 a run in a store that was restored ${way} is stopped by name`, async (t) => {
    const { play, backup } = await played(t);
    await play.restore(restore, backup);
    await play.answers(await play.asked("restored"), "stop");
    assert.equal((await play.last("run.failed")).fault.code, "STORE_RESTORED");
    assert.equal(play.effects, 1);
  });
}

test("F33 G11 a run that was asking when the backup was taken keeps its question, and the other one follows", async (t) => {
  const play = await Play.begin();
  t.after(() => play[Symbol.asyncDispose]());
  const approval = await play.asked("approval");
  const backup = play.backUp();
  await play.answers(approval, "yes");
  await until("the effect is there", () => play.effects === 1);
  rmSync(join(play.stage.workspace, "hold"));
  await play.last("run.finished");
  await play.restore(WAYS["in place"]!, backup);
  assert.deepEqual(await play.asked("approval"), approval);
  await play.answers(approval, "yes");
  await until("the other one is asked", async () => (await play.last("question.asked")).about.kind === "restored");
  await play.answers(await play.asked("restored"), "continue");
  await play.last("run.finished");
  assert.equal(play.effects, 1);
});

test("F33 G11 the question outlives another death of the daemon, and is asked once", async (t) => {
  const { play, backup } = await played(t);
  await play.restore(WAYS["in place"]!, backup);
  const question = await play.asked("restored");
  await play.restore(() => undefined, backup);
  assert.deepEqual(await play.asked("restored"), question);
  await play.answers(question, "continue");
  await play.last("run.finished");
  const asked = (await play.entries()).filter(({ event }) => event.type === "question.asked");
  assert.deepEqual([asked.length, play.effects], [2, 1]);
});

test("F33 G11 a daemon that is told that its state came back asks, and one that was only killed does not", async (t) => {
  const play = await Play.begin();
  t.after(() => play[Symbol.asyncDispose]());
  await play.answers(await play.asked("approval"), "yes");
  await until("the effect is there", () => play.effects === 1);
  await play.restore(() => undefined, "");
  // The hand was killed with the daemon, so what is asked is about the action, not about the store.
  await play.asked("unknown");
  await play.restore(() => undefined, "", "--restored");
  const unknown = await play.asked("unknown");
  rmSync(join(play.stage.workspace, "hold"));
  await play.answers(unknown, "continue");
  await until("the store is asked about", async () => (await play.last("question.asked")).about.kind === "restored");
  await play.answers(await play.asked("restored"), "stop");
  assert.equal((await play.last("run.failed")).fault.code, "STORE_RESTORED");
});
