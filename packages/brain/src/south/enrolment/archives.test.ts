import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { SOUTHBOUND_LIMITS } from "@vidro/core";
import { folder } from "../../stores/journal.fixture.ts";
import { HandArchives } from "./archives.ts";

const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");
const signal = new AbortController().signal;

/** Archives of version 1.2.3 in a folder. */
function archivesIn(place: string, make?: () => Promise<void>): HandArchives {
  const source = { folder: place, script: join(place, "install.sh"), version: "1.2.3" };
  return new HandArchives(make === undefined ? source : { ...source, make });
}

test("the archives of this version are listed by platform with their hashes, and nothing else is", async () => {
  using place = folder();
  for (const name of [
    "vidro-1.2.3-linux-x64.tar.gz",
    "vidro-1.2.3-darwin-arm64.tar.gz",
    "vidro-1.2.3-rc1-linux-x64.tar.gz",
    "vidro-1.2.30-linux-x64.tar.gz",
    "vidro-1.2.2-linux-x64.tar.gz",
    "vidro-1.2.3-.tar.gz",
    "vidro-1.2.3-linux-x64.tar.gz.part",
    "notes.txt",
  ])
    writeFileSync(join(place.path, name), name);
  assert.deepEqual(
    await archivesIn(place.path).list(),
    ["darwin-arm64", "linux-x64"].map((platform) => {
      const name = `vidro-1.2.3-${platform}.tar.gz`;
      return { platform, name, sha256: sha256(name) };
    }),
  );
});

test("a folder that is not there has no archives, and more than the bound are cut", async () => {
  using place = folder();
  assert.deepEqual(await archivesIn(join(place.path, "none")).list(), []);
  for (let at = 0; at <= SOUTHBOUND_LIMITS.archives; at += 1)
    writeFileSync(join(place.path, `vidro-1.2.3-os${at}-x64.tar.gz`), "");
  assert.equal((await archivesIn(place.path).list()).length, SOUTHBOUND_LIMITS.archives);
});

test("an archive that was replaced has its new hash, also one of the same length", async () => {
  using place = folder();
  const file = join(place.path, "vidro-1.2.3-linux-x64.tar.gz");
  const archives = archivesIn(place.path);
  writeFileSync(file, "one");
  assert.equal((await archives.list())[0]?.sha256, sha256("one"));
  writeFileSync(file, "two");
  utimesSync(file, 1, 1);
  assert.equal((await archives.list())[0]?.sha256, sha256("two"));
});

test("an archive that cannot be read is named", async () => {
  using place = folder();
  mkdirSync(join(place.path, "vidro-1.2.3-linux-x64.tar.gz"));
  await assert.rejects(archivesIn(place.path).list(), { code: "STORE_UNREADABLE", message: /linux-x64/ });
});

test("an archive is read whole, and a platform that is none names no file", async () => {
  using place = folder();
  writeFileSync(join(place.path, "vidro-1.2.3-linux-x64.tar.gz"), "bytes");
  writeFileSync(join(place.path, "secret"), "s");
  const archives = archivesIn(place.path);
  const { stream, bytes } = await archives.read("linux-x64", signal);
  assert.deepEqual([bytes, await text(stream)], [5, "bytes"]);
  for (const platform of [
    "",
    "linux",
    "linux-arm64",
    "../secret",
    "linux-x64/../../secret",
    "LINUX-X64",
    "linux-x64\0",
    "x".repeat(10_000),
  ])
    await assert.rejects(archives.read(platform, signal), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, "NOT_FOUND");
      assert.ok(thrown.message.length < 200);
      return true;
    });
});

test("a reader that leaves ends the stream of its archive", async () => {
  using place = folder();
  writeFileSync(join(place.path, "vidro-1.2.3-linux-x64.tar.gz"), Buffer.alloc(1 << 20));
  const leaving = new AbortController();
  const { stream } = await archivesIn(place.path).read("linux-x64", leaving.signal);
  leaving.abort();
  await assert.rejects(text(stream), { name: "AbortError" });
});

test("invitations that come at once make the archive once, and a failure is tried again with the next", async () => {
  using place = folder();
  let made = 0;
  const archives = archivesIn(place.path, async () => {
    made += 1;
    await new Promise(setImmediate);
    if (made === 1) throw new Error("no compiler");
    writeFileSync(join(place.path, "vidro-1.2.3-linux-x64.tar.gz"), "made");
  });
  const both = await Promise.allSettled([archives.prepare(), archives.prepare()]);
  assert.deepEqual([made, both.map(({ status }) => status)], [1, ["rejected", "rejected"]]);
  assert.equal((await archives.prepare())[0]?.sha256, sha256("made"));
  assert.equal(made, 2);
});

test("the template of the script is read as it is now, within its bound", async () => {
  using place = folder();
  const archives = archivesIn(place.path);
  await assert.rejects(archives.template());
  writeFileSync(join(place.path, "install.sh"), "#!/bin/sh\n");
  assert.equal(await archives.template(), "#!/bin/sh\n");
  writeFileSync(join(place.path, "install.sh"), "x".repeat(SOUTHBOUND_LIMITS.scriptBytes + 1));
  await assert.rejects(archives.template(), { code: "INTERNAL_ERROR" });
});
