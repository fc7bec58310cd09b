import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isObject, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

/* What stands behind a journal, asked of a daemon with a real hand. */

const NUMBERS = Array.from({ length: 60_000 }, (_, n) => `${n + 1}\n`).join("");

let daemon: ServedDaemon;
let run: string;
let action: JsonObject;

before(async () => {
  daemon = await servedDaemon();
  writeFileSync(join(daemon.workspace, "numbers.txt"), NUMBERS);
  const { json } = await daemon.ask("POST", "/v1/runs", { task: 'run "cat numbers.txt"' });
  run = textIn(json, "id") ?? "";
  const ended = (await daemon.entries(run)).map(({ event }) => event as unknown as JsonObject);
  action = ended.find(({ type }) => type === "action.finished") ?? {};
});

after(() => daemon[Symbol.asyncDispose]());

const outputPath = (): string => `/v1/runs/${run}/actions/${textIn(action, "action") ?? ""}/output`;

test("the whole of an output that the journal cut is given as text, to be saved and never shown as a page", async () => {
  const stdout = isObject(action["outcome"]) ? action["outcome"]["stdout"] : undefined;
  assert.equal(isObject(stdout) && stdout["truncated"], true);
  const { status, headers, text } = await daemon.read(outputPath());
  assert.equal(status, 200);
  assert.equal(text, NUMBERS);
  assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(headers.get("content-disposition") ?? "", /^attachment; filename="act_[\w-]+\.txt"$/);
  assert.equal(headers.get("x-output-bytes"), String(text.length));
  assert.equal(headers.get("x-content-type-options"), "nosniff");
});

test("whole outputs and checks of another owner's run are not there", async () => {
  const made = await daemon.ask("POST", "/v1/tokens", { owner: "ana", scopes: ["runs"] });
  const token = textIn(made.json, "token") ?? "";
  for (const path of [outputPath(), `/v1/runs/${run}/verification`]) {
    const { status, json } = await daemon.ask("GET", path, undefined, token);
    assert.deepEqual([status, json["code"]], [404, "NOT_FOUND"], path);
  }
});

test("a journal is verified: its chain, and how far it is sealed", async () => {
  const { json } = await daemon.ask("GET", `/v1/runs/${run}/verification`);
  assert.deepEqual([json["ok"], json["findings"], json["broken_at"]], [true, [], undefined]);
  assert.equal(json["entries"], (await daemon.entries(run)).length);
  assert.match(textIn(json, "key_sha256") ?? "", /^[0-9a-f]{64}$/);
  assert.ok(Number(json["sealed_up_to"]) <= (await daemon.entries(run)).length);
});

test("an entry that was changed in the store is where the chain breaks", async () => {
  {
    using database = new DatabaseSync(join(daemon.home, "journal.db"));
    database
      .prepare("UPDATE entry SET at = at + 1 WHERE seq = 2 AND run = (SELECT number FROM run WHERE id = ?)")
      .run(run);
  }
  const { json } = await daemon.ask("GET", `/v1/runs/${run}/verification`);
  assert.deepEqual([json["ok"], json["broken_at"]], [false, 2]);
  assert.equal(typeof json["reason"], "string");
});

test("an output that the hand keeps no longer is not found, in words that say so", async () => {
  const { json } = await daemon.ask("POST", "/v1/runs", { task: 'run "cat -n numbers.txt"' });
  const other = textIn(json, "id") ?? "";
  const ended = (await daemon.entries(other)).map(({ event }) => event as unknown as JsonObject);
  const id =
    textIn(
      ended.find(({ type }) => type === "action.finished"),
      "action",
    ) ?? "";
  rmSync(join(daemon.home, "hand", "spool"), { recursive: true });
  const answer = await daemon.ask("GET", `/v1/runs/${other}/actions/${id}/output`);
  assert.deepEqual([answer.status, answer.json["code"]], [404, "NOT_FOUND"]);
  assert.match(textIn(answer.json, "error") ?? "", /no longer keeps the whole output/);
});
