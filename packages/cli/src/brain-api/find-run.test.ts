import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openBrain } from "@vidro/brain";
import { readConfig } from "@vidro/brain/config";
import type { Entry } from "@vidro/core";
import { findRun, lastRun } from "./find-run.ts";

const home = await mkdtemp(join(tmpdir(), "vidro-find-run-"));
const brain = await openBrain({ home, config: readConfig({ env: {} }), store: "memory" });
const { runs, journal } = brain;
after(async () => {
  await brain.close();
  await rm(home, { recursive: true });
});

const started: Entry = {
  seq: 1,
  at: 1,
  event: {
    type: "run.started",
    task: "look",
    system: "",
    agent: "bunny",
    model: "offline",
    hand: "local",
    workspace: "/",
    tools: [],
    budget: { steps: 1, actions: 1, tokens: 1, wallMs: 1 },
    thread: "thread_1",
    history: [],
  },
};

const IDS = ["run_0001-aaaa1234", "run_0002-bbbb1234", "run_0003-cccc5678"];

test("without any run the newest one is not found", async () => {
  await assert.rejects(lastRun(runs), { code: "NOT_FOUND" });
});

test("a run is found by its whole id or by an end that is its alone", async () => {
  for (const id of IDS) {
    await journal.create({ id, owner: "me", thread: "thread_1" }, [started], {
      host: "h",
      boot: "b",
      pid: 1,
      started: "",
    });
  }
  assert.equal((await findRun(runs, "run_0001-aaaa1234")).id, IDS[0]);
  assert.equal((await findRun(runs, "5678")).id, IDS[2]);
  assert.equal((await findRun(runs, "b1234")).id, IDS[1]);
  assert.equal((await lastRun(runs)).id, IDS[2]);
});

test("an end that several runs have is refused with their names, a short one with its length", async () => {
  await assert.rejects(findRun(runs, "1234"), {
    code: "BAD_REQUEST",
    message: /Several runs end with 1234: .*aaaa1234.*/,
  });
  await assert.rejects(findRun(runs, "678"), { code: "BAD_REQUEST", message: /at least the last 4/ });
  await assert.rejects(findRun(runs, "9999"), { code: "NOT_FOUND" });
  await assert.rejects(findRun(runs, "run_0009"), { code: "NOT_FOUND" });
});
