import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folder } from "../stores/journal.fixture.ts";
import { backUpHome, restoreHome } from "./backup.ts";
import { claimDaemonFile } from "./daemon-file.ts";

const NOW = 1_700_000_000_000;

/** Writes files below a folder, by their paths. */
function fill(home: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
}

/** The paths of all files below a folder. */
function filesBelow(place: string): readonly string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1))
    .sort();
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Changes the manifest of a backup. */
function editManifest(place: string, edit: (manifest: { files: { path: string; sha256: string }[] }) => unknown): void {
  const path = join(place, "manifest.json");
  writeFileSync(path, JSON.stringify(edit(JSON.parse(readFileSync(path, "utf8")))));
}

test("what is backed up comes back byte for byte, with its folders, closed to other users", async () => {
  using place = folder();
  const [home, copy, back] = ["home", "copy", "back"].map((name) => join(place.path, name)) as [string, string, string];
  const files = { token: "t\n", "hand/ledger/0": "\0\xff", "joined/a b/ключ": "k", "config.json": "" };
  fill(home, files);
  const made = await backUpHome(home, copy, { now: NOW });
  assert.equal(made.at, NOW);
  assert.deepEqual(made.files.map(({ path }) => path).sort(), Object.keys(files).sort());
  for (const { path, bytes } of made.files) assert.equal(bytes, statSync(join(home, path)).size, path);
  assert.equal((await restoreHome(copy, back, { now: NOW, replace: false })).moved, undefined);
  assert.deepEqual(filesBelow(back), Object.keys(files).sort());
  for (const path of Object.keys(files)) {
    assert.deepEqual(readFileSync(join(back, path)), readFileSync(join(home, path)), path);
    assert.equal(statSync(join(back, path)).mode & 0o777, 0o600, path);
  }
  assert.equal(statSync(back).mode & 0o077, 0);
});

test("files of a running process, of installed packages and links are left out", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "copy")];
  fill(home, {
    token: "t",
    "daemon.json": "{}",
    "daemon.lock": "",
    "daemon.log": "",
    "daemon.log.1": "",
    "vidro.log": "",
    "journal.db-wal": "",
    "journal.db-shm": "",
    "engine/bin": "",
    "engine.123/bin": "",
    "vendors/node_modules/a": "",
    "hand/spool/act_1": "",
  });
  symlinkSync("/etc/hostname", join(home, "link"));
  await backUpHome(home, copy, { now: NOW });
  assert.deepEqual(filesBelow(copy), ["manifest.json", "token"]);
});

test("a database is copied with the commits that only its log has", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "copy")];
  mkdirSync(home);
  const database = new DatabaseSync(join(home, "knowledge.db"));
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE fact (word TEXT); INSERT INTO fact VALUES ('kept')");
  await backUpHome(home, copy, { now: NOW });
  database.close();
  const read = new DatabaseSync(join(copy, "knowledge.db"), { readOnly: true });
  assert.equal(read.prepare("SELECT word FROM fact").get()?.["word"], "kept");
  read.close();
});

test("a backup to a path that is a file is refused, and the file stays as it is", async () => {
  using place = folder();
  const [home, file] = [join(place.path, "home"), join(place.path, "letter.txt")];
  fill(home, { token: "t" });
  writeFileSync(file, "dear ana");
  await assert.rejects(backUpHome(home, file, { now: NOW }), { code: "STORE_UNREADABLE" });
  assert.equal(readFileSync(file, "utf8"), "dear ana");
});

test("a restore to a path that is a file is refused, and the file stays as it is", async () => {
  using place = folder();
  const [home, copy, file] = [join(place.path, "home"), join(place.path, "copy"), join(place.path, "letter.txt")];
  fill(home, { token: "t" });
  await backUpHome(home, copy, { now: NOW });
  writeFileSync(file, "dear ana");
  for (const replace of [false, true])
    await assert.rejects(restoreHome(copy, file, { now: NOW, replace }), { code: "STORE_UNREADABLE" });
  assert.equal(readFileSync(file, "utf8"), "dear ana");
  assert.deepEqual(readdirSync(place.path).sort(), ["copy", "home", "letter.txt"]);
});

test("a folder with files, a folder in the home and a home without state are refused, and nothing is made", async () => {
  using place = folder();
  const [home, filled] = [join(place.path, "home"), join(place.path, "filled")];
  fill(home, { token: "t" });
  fill(filled, { mine: "m" });
  await assert.rejects(backUpHome(home, filled, { now: NOW }), { code: "CONFLICT" });
  await assert.rejects(backUpHome(home, join(home, "b", "c"), { now: NOW }), { code: "BAD_REQUEST" });
  await assert.rejects(backUpHome(home, join(place.path, "x", "..", "home", "b"), { now: NOW }), {
    code: "BAD_REQUEST",
  });
  const none = join(place.path, "none");
  await assert.rejects(backUpHome(none, join(place.path, "copy"), { now: NOW }), { code: "NOT_FOUND" });
  assert.deepEqual(filesBelow(place.path), ["filled/mine", "home/token"]);
  // Its name only begins like that of the home.
  await backUpHome(home, `${home}-copy`, { now: NOW });
});

test("a database that cannot be read ends the backup, and no half of one stays", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "deep", "copy")];
  fill(home, { token: "t", "journal.db": "this is no database, but as long as the head of one would be. ".repeat(9) });
  await assert.rejects(backUpHome(home, copy, { now: NOW }), { code: "STORE_UNREADABLE" });
  assert.equal(existsSync(copy), false);
});

test("a restored home takes the place of another only with replace, and that one stays under its own name", async () => {
  using place = folder();
  const [home, copy, other] = [join(place.path, "home"), join(place.path, "copy"), join(place.path, "other")];
  fill(home, { token: "old" });
  await backUpHome(home, copy, { now: NOW });
  fill(other, { token: "new", more: "m" });
  await assert.rejects(restoreHome(copy, other, { now: NOW, replace: false }), { code: "CONFLICT" });
  const { moved } = await restoreHome(copy, other, { now: NOW, replace: true });
  assert.equal(moved, `${other}.before-${NOW}`);
  assert.deepEqual([readFileSync(join(other, "token"), "utf8"), existsSync(join(other, "more"))], ["old", false]);
  assert.deepEqual(filesBelow(moved), ["more", "token"]);
});

test("the home of a process that lives is not replaced", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "copy")];
  fill(home, { token: "t" });
  await backUpHome(home, copy, { now: NOW });
  await claimDaemonFile(home);
  await assert.rejects(restoreHome(copy, home, { now: NOW, replace: true }), {
    code: "HOME_BUSY",
    message: new RegExp(`${process.pid}`),
  });
});

const MANIFESTS: readonly (readonly [what: string, text: string])[] = [
  ["is no JSON", "{"],
  ["is a list", "[]"],
  ["is null", "null"],
  ["has another format", JSON.stringify({ format: 2, at: 1, files: [] })],
  ["has no time", JSON.stringify({ format: 1, files: [] })],
  ["has no files", JSON.stringify({ format: 1, at: 1 })],
  ["has a file without a digest", JSON.stringify({ format: 1, at: 1, files: [{ path: "token" }] })],
  ...["", "/etc/passwd", "../token", "a/../../token", ".."].map(
    (path) =>
      [
        `names the path ${JSON.stringify(path)}`,
        JSON.stringify({ format: 1, at: 1, files: [{ path, bytes: 1, sha256: sha256("t") }] }),
      ] as const,
  ),
];

test("a manifest that names no file below its folder is refused before anything changes", async (t) => {
  for (const [what, text] of MANIFESTS)
    await t.test(`one that ${what}`, async () => {
      using place = folder();
      const [copy, home] = [join(place.path, "copy"), join(place.path, "home")];
      fill(copy, { token: "t", "manifest.json": text });
      await assert.rejects(restoreHome(copy, home, { now: NOW, replace: true }), { code: "BAD_REQUEST" });
      assert.deepEqual(readdirSync(place.path), ["copy"]);
    });
});

test("a file that was changed or lost since the backup is named, and the home stays", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "copy")];
  fill(home, { token: "t", "audit-key": "k" });
  await backUpHome(home, copy, { now: NOW });
  editManifest(copy, (manifest) => ({
    ...manifest,
    files: [...manifest.files, { path: "lost", bytes: 1, sha256: sha256("x") }],
  }));
  const refused = (reason: RegExp): Promise<void> =>
    assert.rejects(restoreHome(copy, home, { now: NOW, replace: true }), { code: "BAD_REQUEST", message: reason });
  await refused(/The file lost of the backup is missing/);
  writeFileSync(join(copy, "audit-key"), "K");
  await refused(/audit-key of the backup is not what was copied/);
  assert.deepEqual(filesBelow(home), ["audit-key", "token"]);
  await assert.rejects(restoreHome(home, join(place.path, "new"), { now: NOW, replace: false }), {
    code: "NOT_FOUND",
    message: /is no backup/,
  });
});

test("a backup with a store in PostgreSQL is not restored without a database for it", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "copy")];
  fill(copy, {
    "store.pgdump": "d",
    "manifest.json": JSON.stringify({
      format: 1,
      at: 1,
      files: [{ path: "store.pgdump", bytes: 1, sha256: sha256("d") }],
    }),
  });
  await assert.rejects(restoreHome(copy, home, { now: NOW, replace: false }), {
    code: "BAD_REQUEST",
    message: /VIDRO_STORE/,
  });
  assert.equal(existsSync(home), false);
});

test("agents and skills are copied whole, whatever their files are called", async () => {
  using place = folder();
  const [home, copy] = [join(place.path, "home"), join(place.path, "copy")];
  const files = {
    "agents/engineer.md": "---\n---\n",
    "agents/vendors-desk.md": "---\n---\n",
    "skills/engine-tuning/SKILL.md": "s",
    "skills/spool/SKILL.md": "s",
    "skills/web/daemon.json": "{}",
    "skills/web/Thumbs.db": "no database",
  };
  fill(home, files);
  await backUpHome(home, copy, { now: NOW });
  assert.deepEqual(filesBelow(copy), [...Object.keys(files), "manifest.json"].sort());
});

test("a home with a file of the manifest's name is refused, since its backup could not be restored", async () => {
  using place = folder();
  const copy = join(place.path, "copy");
  for (const name of ["manifest.json", "store.pgdump"]) {
    const home = join(place.path, `home of ${name}`);
    fill(home, { token: "t", [name]: "mine" });
    await assert.rejects(backUpHome(home, copy, { now: NOW }), { code: "CONFLICT", message: new RegExp(name) });
    assert.equal(existsSync(copy), false);
  }
  fill(join(place.path, "other"), { "skills/web/manifest.json": "mine" });
  const made = await backUpHome(join(place.path, "other"), copy, { now: NOW });
  assert.deepEqual(
    made.files.map(({ path, sha256: digest }) => [path, digest]),
    [["skills/web/manifest.json", sha256("mine")]],
  );
});
