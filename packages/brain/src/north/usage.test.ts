import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PAGE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { counting, fakeOpenAi, text } from "../../../../tests/support/fake-openai.ts";
import type { FakeOpenAi } from "../../../../tests/support/fake-openai.ts";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

let [daemon, server]: [ServedDaemon | undefined, FakeOpenAi | undefined] = [undefined, undefined];
let [ana, bea] = ["", ""];
before(async () => {
  server = await fakeOpenAi(counting(20, text("done")));
  daemon = await servedDaemon({ env: { VIDRO_MODEL: "test", VIDRO_MODEL_URL: server.url } });
  [ana, bea] = [await daemon.tokenOf("ana"), await daemon.tokenOf("bea")];
  for (const token of [ana, bea, ana]) await runTo(token);
});
after(async () => {
  await daemon?.[Symbol.asyncDispose]();
  await server?.close();
});

/** Starts a run and waits for its end; gives its thread. */
async function runTo(token: string): Promise<string> {
  const { json } = await daemon!.ask("POST", "/v1/runs", { task: "say done" }, token);
  const headers = { authorization: `Bearer ${token}`, accept: "application/x-ndjson" };
  await (await fetch(`${daemon!.url}/v1/runs/${textOrEmpty(json, "id")}/events`, { headers })).text();
  return textOrEmpty(json, "thread");
}

async function usage(query: string, token?: string): Promise<readonly JsonObject[]> {
  const { status, json } = await daemon!.ask("GET", `/v1/usage${query}`, undefined, token);
  assert.equal(status, 200, JSON.stringify(json));
  return json["usage"] as readonly JsonObject[];
}

test("a day counts the runs, steps and tokens of its owner alone; an administrator sees all owners", async () => {
  const [row, ...others] = await usage("", ana);
  assert.deepEqual(others, []);
  const today = new Date(Number(row?.["updatedAt"])).toISOString().slice(0, 10);
  assert.partialDeepStrictEqual(row, { key: today, owner: "ana", runs: 2, steps: 2, inputTokens: 40 });
  assert.ok(Number(row?.["unpricedTokens"]) > 40, "the price of this model is not known");
  assert.equal(row?.["costUsd"], 0);
  const owners = (await usage("")).map((one) => textOrEmpty(one, "owner"));
  assert.deepEqual(owners.toSorted(), ["ana", "bea"]);
});

test("by thread there is a row for each conversation, newest first, as many as asked for", async () => {
  const rows = await usage("?by=thread", ana);
  assert.deepEqual(
    rows.map(({ runs, inputTokens }) => [runs, inputTokens]),
    [
      [1, 20],
      [1, 20],
    ],
  );
  assert.ok(Number(rows[0]?.["updatedAt"]) >= Number(rows[1]?.["updatedAt"]));
  assert.deepEqual(await usage("?by=thread&limit=1", ana), rows.slice(0, 1));
});

test("what was used before a time is left out", async () => {
  const [newest] = await usage("?by=thread", ana);
  assert.deepEqual(await usage(`?by=thread&since=${Number(newest?.["updatedAt"]) + 1}`, ana), []);
  assert.equal((await usage("?by=thread&since=0", ana)).length, 2);
});

test("a query that is none is refused, and so is a token that may not see runs", async () => {
  const refused = ["by=week", "since=yesterday", "since=-1", "limit=0", `limit=${PAGE_LIMITS.items + 1}`, "owner=bea"];
  for (const query of refused) {
    const { status, json } = await daemon!.ask("GET", `/v1/usage?${query}`, undefined, ana);
    assert.deepEqual([status, json["code"]], [422, "BAD_ARGUMENTS"], query);
  }
  const blind = await daemon!.tokenOf("carl", ["approve"]);
  assert.equal((await daemon!.ask("GET", "/v1/usage", undefined, blind)).status, 403);
});
