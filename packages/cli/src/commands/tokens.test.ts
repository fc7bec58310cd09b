import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openBrain } from "@vidro/brain";
import { Tokens } from "@vidro/brain/home";
import { readConfig } from "@vidro/brain/config";
import { lines, Stage } from "../stage.fixture.ts";

/** What a token may do when nothing is said: begin runs, and look at a host over TCP. */
const USER = ["runs", "getosinfo", "ps", "watch", "getwatches"];

/** The tokens of a stage's home as another process sees them, such as a daemon that is up. */
async function daemonTokens(stage: Stage): Promise<Tokens & AsyncDisposable> {
  const brain = await openBrain({ home: stage.home, config: readConfig({ env: {} }) });
  const tokens = new Tokens(brain.records);
  return Object.assign(tokens, {
    async [Symbol.asyncDispose]() {
      tokens.close();
      await brain.close();
    },
  });
}

test("002-20: tokens create prints a token that is good in another process", async () => {
  await using stage = await Stage.set();
  const { code, stdout } = await stage.run("tokens", "create", "--scopes", "getosinfo,ps", "--json");
  assert.equal(code, 0);
  const [made, ...more] = lines(stdout);
  assert.deepEqual([Object.keys(made ?? {}), more], [["token_id", "token", "scopes", "expires_at"], []]);
  assert.deepEqual([made?.["scopes"], made?.["expires_at"]], [["getosinfo", "ps"], null]);
  assert.match(String(made?.["token"]), /^[0-9a-f]{32}\.[\w-]{43}$/);
  await using tokens = await daemonTokens(stage);
  const verified = await tokens.verify(String(made?.["token"]));
  assert.deepEqual([verified.tokenId, verified.owner, verified.admin], [made?.["token_id"], "local", false]);
});

test("without --json the token alone is on stdout, and the words for people are on stderr", async () => {
  await using stage = await Stage.set();
  const { stdout, stderr } = await stage.run(
    "tokens",
    "create",
    "--role",
    "admin",
    "--owner",
    "ann",
    "--expires",
    "30d",
  );
  assert.match(stdout, /^[0-9a-f]{32}\.[\w-]{43}\n$/);
  assert.match(stderr, /It may do: \*\. It expires: \d{4}-.*Z\. Keep it now/);
  await using tokens = await daemonTokens(stage);
  const verified = await tokens.verify(stdout.trim());
  assert.deepEqual([verified.owner, verified.admin], ["ann", true]);
  assert.ok(Math.abs((verified.expiresAt ?? 0) - Date.now() - 30 * 86_400_000) < 60_000);
});

test("002-24: a role chooses the scopes; user when nothing is said", async () => {
  await using stage = await Stage.set();
  const made = async (...args: string[]): Promise<unknown> =>
    lines((await stage.run("tokens", "create", "--json", ...args)).stdout)[0]?.["scopes"];
  assert.deepEqual(await made(), USER);
  assert.deepEqual(await made("--role", "user"), USER);
  assert.deepEqual(await made("--role", "admin"), ["*"]);
});

test("002-21: tokens are listed, and no secret is in the list or in the store", async () => {
  await using stage = await Stage.set();
  assert.match((await stage.run("tokens", "list")).stderr, /No tokens yet/);
  const made = lines((await stage.run("tokens", "create", "--json", "--expires", "2999-01-01")).stdout)[0];
  const listed = await stage.run("tokens", "list", "--json");
  const [{ created_at: createdAt, ...row } = { body: {}, created_at: "" }] = lines(listed.stdout);
  assert.deepEqual(row, {
    token_id: made?.["token_id"],
    owner: "local",
    scopes: USER,
    expires_at: "2999-01-01T00:00:00.000Z",
    revoked: false,
  });
  assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < 60_000);
  const table = (await stage.run("tokens", "list")).stdout;
  assert.match(
    table,
    /^TOKEN {29}OWNER {17}STATE, .*\n[0-9a-f]{32} {2}local {17}good until 2999-01-01T00:00:00\.000Z {2}runs,getosinfo,ps,watch,getwatches\n$/,
  );
  const secret = String(made?.["token"]).split(".")[1] ?? "";
  const kept = await readFile(join(stage.home, "journal.db"));
  assert.equal(
    [listed.stdout, table, kept.toString("latin1")].some((text) => text.includes(secret)),
    false,
  );
});

test("tokens revoke ends the live sessions of another process, by id or by the whole token", async () => {
  await using stage = await Stage.set();
  const made = [0, 1].map(async () => lines((await stage.run("tokens", "create", "--json")).stdout)[0]);
  const [first, second] = await Promise.all(made);
  await using tokens = await daemonTokens(stage);
  for (const [token, given] of [
    [first?.["token"], first?.["token_id"]],
    [second?.["token"], second?.["token"]],
  ]) {
    const { revoked } = await tokens.verify(String(token));
    const ended = new Promise((resolve) => revoked.addEventListener("abort", resolve));
    const { code, stdout, stderr } = await stage.run("tokens", "revoke", String(given));
    assert.deepEqual([code, stdout, stderr], [0, "", `${String(token).split(".")[0]} is revoked.\n`]);
    await ended;
    await assert.rejects(tokens.verify(String(token)), { code: "INVALID_TOKEN" });
  }
  assert.match((await stage.run("tokens", "list")).stdout, /^TOKEN .*\n(?:[0-9a-f]{32} .* revoked .*\n){2}$/);
});

test("a slip of the pen makes no token", async () => {
  await using stage = await Stage.set();
  const slips = [
    [["create", "--role", "king"], 2, /Allowed choices are user, admin/],
    [["create", "--role", "admin", "--scopes", "ps"], 2, /cannot be used with option/],
    [["create", "--scopes", "Runs!"], 2, /is no scope/],
    [["create", "--scopes", ""], 2, /is no scope/],
    [["create", "--expires", "soon"], 2, /soon is no time/],
    [["create", "--expires", "2001-01-01"], 2, /still to come/],
    [["create", "--owner", " "], 2, /needs an owner/],
    [["revoke", "0123"], 3, /There is no token 0123\.\n {2}next: Look it up: vidro tokens list/],
    [["revoke"], 2, /missing required argument 'id'\n {2}next: vidro tokens revoke --help/],
    [["crate"], 2, /Did you mean create\?/],
  ] as const;
  for (const [args, exit, hint] of slips) {
    const { code, stdout, stderr } = await stage.run("tokens", ...args);
    assert.match(stderr, hint);
    assert.deepEqual([code, stdout], [exit, ""]);
  }
  assert.equal((await stage.run("tokens", "list", "--json")).stdout, "");
});
