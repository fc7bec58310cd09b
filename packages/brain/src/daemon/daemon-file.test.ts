import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { JsonObject } from "@vidro/core";
import { thisHolder } from "../stores/lease-holder.ts";
import {
  claimDaemonFile,
  findDaemon,
  findDaemonProcess,
  readDaemonFile,
  removeDaemonFile,
  tokenFile,
  writeDaemonFile,
} from "./daemon-file.ts";
import { holdHome } from "./daemon-lock.ts";

function homeOf(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "vidro-daemon-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

const DAEMON = { url: "http://127.0.0.1:3120", tokenFile: "/h/token", workspace: "/w", startedAt: 7, args: ["--x"] };
const fileOf = (home: string): string => join(home, "daemon.json");

/** What the file of a running daemon says, with some fields changed. */
function write(home: string, change: JsonObject): void {
  const said = { pid: process.pid, url: "u", token_file: "t", workspace: "w", holder: { ...thisHolder() }, ...change };
  writeFileSync(fileOf(home), JSON.stringify(said));
}

void test("a daemon is found with all that it wrote of itself", async (t) => {
  const home = homeOf(t);
  await writeDaemonFile(home, { ...DAEMON, log: "/h/log", model: "offline" });
  assert.deepEqual(await findDaemon(home), { pid: process.pid, ...DAEMON, log: "/h/log", model: "offline" });
  assert.deepEqual(readDaemonFile(home), { pid: process.pid, host: thisHolder().host, url: DAEMON.url });
  const found = await findDaemonProcess(home);
  assert.equal(found?.pid, process.pid);
  assert.equal(found.lives(), true);
});

void test("a daemon that is about to start is a process without an address", async (t) => {
  const home = homeOf(t);
  await claimDaemonFile(home);
  assert.equal(await findDaemon(home), undefined);
  assert.equal((await findDaemonProcess(home))?.pid, process.pid);
  assert.deepEqual(readDaemonFile(home), { pid: process.pid, host: thisHolder().host });
});

void test("the file is its owner's alone, also in place of one with wider permissions, and no draft stays", async (t) => {
  const home = homeOf(t);
  writeFileSync(fileOf(home), "{}");
  chmodSync(fileOf(home), 0o666);
  await writeDaemonFile(home, DAEMON);
  assert.equal(statSync(fileOf(home)).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(home), ["daemon.json"]);
});

void test("no file, rubbish and files of another shape tell of no daemon and throw nothing", async (t) => {
  const home = homeOf(t);
  const texts = ["", "{", "null", "[]", "7", '"x"', "{}", '{"pid":1}', '{"pid":"1","holder":{}}', "[".repeat(100_000)];
  for (const text of [undefined, ...texts]) {
    if (text !== undefined) writeFileSync(fileOf(home), text);
    const shown = text?.slice(0, 30) ?? "no file";
    assert.equal(await findDaemon(home), undefined, shown);
    assert.equal(await findDaemonProcess(home), undefined, shown);
    assert.equal(readDaemonFile(home).url, undefined, shown);
  }
});

void test("a holder of another host or boot is no process here, whatever its pid", async (t) => {
  const home = homeOf(t);
  for (const change of [{ host: "elsewhere" }, { boot: "another boot" }]) {
    write(home, { holder: { ...thisHolder(), ...change } });
    assert.equal(await findDaemon(home), undefined);
    assert.equal(await findDaemonProcess(home), undefined);
  }
  write(home, { holder: { ...thisHolder(), host: "elsewhere" } });
  assert.equal(readDaemonFile(home).host, "elsewhere", "it may live, and a person is told where");
});

void test("fields that are missing have their defaults, and those of another type are left out", async (t) => {
  const home = homeOf(t);
  write(home, { started_at: "yesterday", args: ["--a", 1, null, "--b"], log: 5, model: false });
  const found = await findDaemon(home);
  assert.deepEqual(found, {
    pid: process.pid,
    url: "u",
    tokenFile: "t",
    workspace: "w",
    startedAt: 0,
    args: ["--a", "--b"],
  });
  for (const field of ["url", "token_file", "workspace"]) {
    write(home, { [field]: 5 });
    assert.equal(await findDaemon(home), undefined, field);
  }
});

void test("removing the file is the end of it, and once more is no error", async (t) => {
  const home = homeOf(t);
  await writeDaemonFile(home, DAEMON);
  await removeDaemonFile(home);
  await removeDaemonFile(home);
  assert.deepEqual(readDaemonFile(home), {});
  assert.equal(tokenFile(home), join(home, "token"));
});

void test("a home has one daemon: the second is told which process it is, and at which address", async (t) => {
  const home = homeOf(t);
  const place = await holdHome(home);
  t.after(() => place.leave());
  await assert.rejects(holdHome(home), { code: "HOME_BUSY", message: /is the daemon of this home and is starting/ });
  await writeDaemonFile(home, DAEMON);
  await assert.rejects(holdHome(home), {
    code: "HOME_BUSY",
    message: new RegExp(`Process ${process.pid} on .* is the daemon of this home, at http://127\\.0\\.0\\.1:3120\\.`),
    detail: { pid: process.pid, url: DAEMON.url },
  });
});

void test("a home that was left can be held again, and leaving twice ends nothing of the next daemon", async (t) => {
  const home = homeOf(t);
  const first = await holdHome(home);
  await first.leave();
  assert.deepEqual(readDaemonFile(home), {});
  const second = await holdHome(home);
  t.after(() => second.leave());
  await first.leave();
  await assert.rejects(holdHome(home), { code: "HOME_BUSY" });
  assert.equal(readDaemonFile(home).pid, process.pid, "the file of the second daemon is still there");
});

void test("rubbish in the lock file does not keep a daemon out, and the lock is its owner's alone", async (t) => {
  const home = homeOf(t);
  const lock = join(home, "daemon.lock");
  writeFileSync(lock, "this is no database at all, and long enough to be taken for one".repeat(20), { mode: 0o644 });
  const place = await holdHome(home);
  t.after(() => place.leave());
  assert.equal(statSync(lock).mode & 0o777, 0o600);
  await assert.rejects(holdHome(home), { code: "HOME_BUSY" });
});

void test("a home that cannot be made is a named fault with its path", async (t) => {
  const home = homeOf(t);
  writeFileSync(join(home, "file"), "");
  await assert.rejects(holdHome(join(home, "file", "below")), { code: "STORE_UNREADABLE", message: /file\/below/ });
  assert.equal(readFileSync(join(home, "file"), "utf8"), "");
});
