import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SCHEDULE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

let daemon: ServedDaemon;
let [ana, bea] = ["", ""];
before(async () => {
  daemon = await servedDaemon();
  [ana, bea] = [await daemon.tokenOf("ana"), await daemon.tokenOf("bea")];
});
after(() => daemon[Symbol.asyncDispose]());

const add = (input: JsonObject, token = ana) =>
  daemon.ask("POST", "/v1/schedules", { cron: "0 7 * * 1", task: "look", ...input }, token);

test("a schedule is stored with its next time and without the token by whose rights it works", async () => {
  const now = Date.now();
  const { status, json } = await add({ cron: "0 0 29 2 *", missed: "skip", agent: "scout" });
  assert.equal(status, 201);
  assert.deepEqual(
    [json["owner"], json["cron"], json["missed"], json["agent"], json["token"], json["doneUpTo"]],
    ["ana", "0 0 29 2 *", "skip", "scout", undefined, undefined],
  );
  const next = new Date(Number(json["nextAt"]));
  assert.deepEqual([next.getMonth(), next.getDate(), next.getTime() > now], [1, 29, true]);
  const { json: found } = await daemon.ask("GET", `/v1/schedules/${textOrEmpty(json, "id")}`, undefined, ana);
  assert.deepEqual(found, json);
  assert.equal((await add({})).json["missed"], "once");
});

test("times that are none, or never come, are refused with the schedule that they are in", async () => {
  const refused: readonly JsonObject[] = [
    { cron: "" },
    { cron: "* * * *" },
    { cron: "* * * * * *" },
    { cron: "60 * * * *" },
    { cron: "* 24 * * *" },
    { cron: "0 0 30 2 *" },
    { cron: "0 0 31 4,6,9,11 *" },
    { cron: "@reboot" },
    { cron: "*/0 * * * *" },
    { cron: "5-1 * * * *" },
    { cron: "1,,2 * * * *" },
    { cron: "x".repeat(SCHEDULE_LIMITS.cronChars + 1) },
    { cron: 5 },
    { task: "" },
    { task: " \n" },
    { missed: "twice" },
    { every: "day" },
  ];
  for (const input of refused) {
    const { status, json } = await add(input);
    assert.equal(status, json["code"] === "BAD_ARGUMENTS" ? 422 : 400, JSON.stringify([input, json]));
  }
});

test("a schedule for an agent or hand that is not there, or a folder that its token may not choose, is refused", async () => {
  const statuses = await Promise.all([
    add({ agent: "nobody" }),
    add({ hand: "no-such-host" }),
    add({ workspace: "/" }),
    add({ workspace: "relative" }, daemon.admin),
  ]);
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [404, 404, 403, 400],
  );
});

test("each owner finds, lists and removes its own schedules, an administrator all", async () => {
  const { json: mine } = await add({}, bea);
  const path = `/v1/schedules/${textOrEmpty(mine, "id")}`;
  for (const method of ["GET", "DELETE"]) {
    const foreign = await daemon.ask(method, path, undefined, ana);
    assert.deepEqual([foreign.status, foreign.json["code"]], [404, "NOT_FOUND"], method);
  }
  const ids = async (token?: string): Promise<readonly unknown[]> =>
    ((await daemon.ask("GET", "/v1/schedules", undefined, token)).json["schedules"] as JsonObject[]).map(
      (row) => row["id"],
    );
  assert.deepEqual(await ids(bea), [mine["id"]]);
  assert.ok(!(await ids(ana)).includes(mine["id"]));
  assert.ok((await ids()).includes(mine["id"]));
  assert.deepEqual((await daemon.ask("DELETE", path)).json, mine);
  assert.equal((await daemon.ask("GET", path, undefined, bea)).status, 404);
});

test("an owner has a bounded number of schedules, and pages hold them all", async () => {
  const token = await daemon.tokenOf("paula");
  for (let count = 0; count < SCHEDULE_LIMITS.perOwner; count += 1)
    assert.equal((await add({ task: `look ${count}` }, token)).status, 201);
  const over = await add({}, token);
  assert.deepEqual([over.status, over.json["code"]], [409, "CONFLICT"]);
  assert.match(textOrEmpty(over.json, "error"), /at most 100 schedules; remove one first/);
  const tasks: unknown[] = [];
  for (let cursor = ""; ;) {
    const { json } = await daemon.ask("GET", `/v1/schedules?limit=30${cursor}`, undefined, token);
    const rows = json["schedules"] as JsonObject[];
    tasks.push(...rows.map((row) => row["task"]));
    if (rows.length < 30) break;
    cursor = `&after=${textOrEmpty(rows.at(-1) ?? {}, "id")}`;
  }
  assert.deepEqual(
    tasks,
    Array.from({ length: SCHEDULE_LIMITS.perOwner }, (_, count) => `look ${count}`),
  );
});
