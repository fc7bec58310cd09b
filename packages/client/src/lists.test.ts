import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@vidro/core";
import { Vidro } from "./client.ts";
import { answer, scriptedBrain } from "./scripted-brain.fixture.ts";

const QUICK = { retries: 2, backoffMs: 1 };

const HEAD = { id: "", owner: "me", thread: "t", task: "x", status: "running", seq: 1, startedAt: 1, updatedAt: 1 };
const page = (ids: readonly string[]): Json => ({ runs: ids.map((id) => ({ ...HEAD, id })) });

test("a list is read page by page until there is no next one, and no further than its limit", async () => {
  const all = Array.from({ length: 25 }, (_, at) => `run_${at}`);
  await using brain = await scriptedBrain((response, { url }) => {
    const from = url.searchParams.get("after") === null ? 0 : all.indexOf(url.searchParams.get("after")!) + 1;
    const to = from + Math.min(10, Number(url.searchParams.get("limit")));
    answer(response, 200, page(all.slice(from, to)), to < all.length ? { "x-next-cursor": all[to - 1]! } : {});
  });
  const vidro = new Vidro({ url: brain.url, ...QUICK });
  for (const limit of [1, 9, 10, 11, 24, 25, 100]) {
    const listed = await vidro.list({ limit });
    assert.deepEqual(
      listed.map(({ id }) => id),
      all.slice(0, limit),
      String(limit),
    );
  }
  assert.deepEqual(
    (await vidro.list({ after: "run_19" })).map(({ id }) => id),
    all.slice(20),
  );
});

test("a list whose next page begins where the last one did does not go on for ever", async () => {
  await using brain = await scriptedBrain((response) => answer(response, 200, page([]), { "x-next-cursor": "run_1" }));
  await assert.rejects(new Vidro({ url: brain.url, ...QUICK }).list(), {
    code: "BAD_ANSWER",
    message: /does not go on/,
  });
  assert.equal(brain.seen.length, 2);
});

test("a list whose page fails in the middle is asked for that page again", async () => {
  await using brain = await scriptedBrain((response, { url }, n) => {
    if (n === 2) return void response.destroy();
    const isFirst = url.searchParams.get("after") === null;
    answer(response, 200, page([isFirst ? "run_1" : "run_2"]), isFirst ? { "x-next-cursor": "run_1" } : {});
  });
  const listed = await new Vidro({ url: brain.url, ...QUICK }).list();
  assert.deepEqual(
    listed.map(({ id }) => id),
    ["run_1", "run_2"],
  );
});
