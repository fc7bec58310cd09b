import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Event } from "@vidro/core";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { linkHash } from "../../packages/brain/src/stores/hash-chain.ts";
import { sqliteJournalAt, startedEvent } from "../../packages/brain/src/stores/journal.fixture.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { until } from "../support/daemon-process.ts";
import { ServingProcess } from "../support/serving-process.ts";

/* Open runs whose second entry this version does not understand, beside one that it does. */

const BODIES = {
  newer: { type: "note.dreamt", note: "from the future" },
  altered: { type: "model.replied" },
} as const;

/** Makes the runs, and appends to the first two what no run of this version has; the chains are whole. */
async function prepare(stage: Stage): Promise<void> {
  mkdirSync(stage.home, { mode: 0o700 });
  const path = join(stage.home, "journal.db");
  const journal = await sqliteJournalAt(path);
  for (const id of [...Object.keys(BODIES), "sound"]) {
    const { lease } = await journal.create(
      { id: `run_${id}`, owner: "local", thread: `thread_${id}` },
      [
        {
          seq: 1,
          at: Date.now(),
          event: { ...startedEvent("say hello"), hand: "local", workspace: stage.workspace } as Event,
        },
      ],
      thisHolder(),
    );
    if (lease !== undefined) await journal.release(lease);
  }
  await journal.close();
  const database = new DatabaseSync(path);
  const first = database.prepare(
    "SELECT number, lower(hex(hash)) AS hash FROM run JOIN entry ON run = number WHERE id = ?",
  );
  const insert = database.prepare("INSERT INTO entry (run, seq, at, body, hash) VALUES (?, 2, 2, ?, unhex(?))");
  for (const [id, event] of Object.entries(BODIES)) {
    const { number, hash } = first.get(`run_${id}`) as { number: number; hash: string };
    const body = JSON.stringify(event);
    insert.run(number, body, linkHash(`run_${id}`, hash, { seq: 2, at: 2, body }));
  }
  database.close();
}

test("a run with an entry that this version does not know is not driven and says why; the others go on", async () => {
  await using stage = await Stage.set();
  await prepare(stage);
  const audit = lines((await stage.run("audit", "verify", "--json")).stdout);
  const newer = audit.find(({ run_id: run }) => run === "run_newer");
  assert.deepEqual([newer?.["ok"], newer?.["broken_at"]], [false, 2]);
  const said = "entry 2 has type note.dreamt, which this version does not know";
  assert.ok(String(newer?.["reason"]).includes(said), JSON.stringify(newer));
  assert.equal(audit.find(({ run_id: run }) => run === "run_sound")?.["ok"], true);

  await using daemon = await ServingProcess.start(stage, [...stage.command.argv, "up", "--json", "--port", "0"]);
  const token = readFileSync(join(stage.home, "token"), "utf8").trim();
  const ask = (path: string, method = "GET"): Promise<Response> =>
    fetch(daemon.url + path, { method, headers: { authorization: `Bearer ${token}` } });
  await until("the sound run is over", async () => {
    const { status } = (await (await ask("/v1/runs/run_sound")).json()) as { status: string };
    return status !== "running";
  });
  const refused = lines(daemon.log).filter(({ event }) => event === "run.resume_failed");
  assert.deepEqual(refused.map(({ run_id: run, code }) => `${String(run)} ${String(code)}`).sort(), [
    "run_altered JOURNAL_CORRUPT",
    "run_newer STORE_NEWER",
  ]);
  for (const [path, method] of [
    ["/v1/runs/run_newer/events", "GET"],
    ["/v1/runs/run_newer/resume", "POST"],
  ] as const) {
    const text = await (await ask(path, method)).text();
    assert.ok(text.includes("STORE_NEWER") && text.includes(said), text);
  }
  const { seq } = (await (await ask("/v1/runs/run_newer")).json()) as { seq: number };
  assert.equal(seq, 2, "nothing was added to it");
});
