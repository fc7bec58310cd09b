import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, copyFile, lstat, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { backup, DatabaseSync } from "node:sqlite";
import { asFault, Fault, isObject, STORE_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { dumpPostgres, loadPostgres } from "../stores/postgres/dump.ts";
import type { DumpedStore } from "../stores/postgres/dump.ts";
import { findDaemonProcess } from "./daemon-file.ts";
import { makeFolder } from "./home-folder.ts";

/*
 * A backup is a folder with copies of a home's files and a manifest that names each file with its size and digest. It
 * is made while a daemon runs: a database is copied within one read transaction of SQLite.
 */

/** One file of a backup. */
interface BackupFile {
  /** Path below the home. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The content of a backup. */
interface Backup {
  readonly format: typeof FORMAT;
  /** When it was made. */
  readonly at: number;
  readonly files: readonly BackupFile[];
}

const FORMAT = 1;
const MANIFEST = "manifest.json";
/** The dump of a store that does not lie in the home. */
const DUMP = "store.pgdump";
/** What belongs to a running process, can be installed again, or would be wrong in another file. */
const LEFT_OUT =
  /^(?:daemon\.(?:json|lock|log.*)|vidro\.log.*|.*\.db-(?:wal|shm|mark)|engine.*|vendors.*|node_modules|spool)$/;
/** Folders with the operator's own files, which are copied whole, whatever their names are. */
const OPERATORS = new Set(["agents", "skills"]);
/** Copied first, in this order: a mark of seals that is older than its store is valid, a newer one is not. */
const FIRST = ["journal.db-seal", "journal.db"];

/** Options of a backup. */
interface BackupOptions {
  readonly now: number;
  /** The store in PostgreSQL, when the home has none of its own. */
  readonly store?: DumpedStore;
}

/** Copies the state of a home, and its store in PostgreSQL, into a new folder; CONFLICT when that has files already. */
export async function backUpHome(home: string, folder: string, { now, store }: BackupOptions): Promise<Backup> {
  await refuseFilled(folder, "The folder of the backup");
  if (resolve(folder).startsWith(`${resolve(home)}/`))
    throw new Fault("BAD_REQUEST", `The backup cannot lie in the home that it is of: ${folder}`);
  const paths = await statePaths(home);
  const taken = paths.find((path) => path === MANIFEST || path === DUMP);
  if (taken !== undefined)
    throw new Fault("CONFLICT", `A backup has a file ${taken} of its own: give the one in ${home} another name.`);
  if (paths.length === 0 && store === undefined)
    throw new Fault("NOT_FOUND", `There is no state in ${home} to back up.`);
  try {
    makeFolder(folder);
    const files: BackupFile[] = [];
    if (store !== undefined) {
      await dumpPostgres(store, join(folder, DUMP));
      files.push(await describeFile(folder, DUMP));
    }
    for (const path of paths) files.push(...(await copyState(home, folder, path)));
    const made: Backup = { format: FORMAT, at: now, files };
    await writeSynced(join(folder, MANIFEST), `${JSON.stringify(made, null, 2)}\n`);
    return made;
  } catch (thrown) {
    await rm(folder, { recursive: true, force: true });
    throw copyFault(thrown, folder);
  }
}

/**
 * Puts the state of a backup in the place of a home that has none. With `replace`, a home that is there is renamed
 * first; the name is returned. Every file is checked before anything changes.
 */
export async function restoreHome(
  folder: string,
  home: string,
  { replace, now, store }: BackupOptions & { readonly replace: boolean },
): Promise<{ readonly backup: Backup; readonly moved?: string }> {
  const daemon = await findDaemonProcess(home);
  if (daemon !== undefined)
    throw new Fault("HOME_BUSY", `Process ${daemon.pid} is the daemon of this home. End it first: vidro stop`);
  const found = await readBackup(folder);
  const isFilled = (await namesIn(home)).length > 0;
  if (isFilled && !replace)
    throw new Fault("CONFLICT", `${home} has state already. To keep it under another name, repeat with --replace.`);
  const dump = found.files.find(({ path }) => path === DUMP);
  if (dump !== undefined && store === undefined)
    throw new Fault(
      "BAD_REQUEST",
      "The backup has a store in PostgreSQL: name an empty database for it in VIDRO_STORE.",
    );
  const fresh = `${home}.restoring-${process.pid}`;
  try {
    makeFolder(fresh);
    for (const file of found.files) if (file !== dump) await copyBack(folder, fresh, file);
    if (dump !== undefined && store !== undefined) await loadPostgres(store, join(folder, DUMP));
    const moved = isFilled ? `${home}.before-${now}` : undefined;
    if (moved === undefined) await rm(home, { recursive: true, force: true });
    else await rename(home, moved);
    await rename(fresh, home);
    return { backup: found, ...(moved === undefined ? {} : { moved }) };
  } catch (thrown) {
    await rm(fresh, { recursive: true, force: true });
    throw copyFault(thrown, home);
  }
}

/** The paths of a home's state in the order in which they are copied. */
async function statePaths(home: string): Promise<readonly string[]> {
  const found = await readdir(home, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .filter((path) => isOperators(path) || !path.split("/").some((name) => LEFT_OUT.test(name)));
  return [...FIRST.filter((path) => paths.includes(path)), ...paths.filter((path) => !FIRST.includes(path)).sort()];
}

/** Whether a path below a home is that of a file of the operator. */
function isOperators(path: string): boolean {
  return OPERATORS.has(path.split("/", 1)[0] ?? "");
}

/** Copies a file and describes the copy; none of a file that a running process has removed since it was listed. */
async function copyState(home: string, folder: string, path: string): Promise<readonly BackupFile[]> {
  const [from, to] = [join(home, path), join(folder, path)];
  makeFolder(dirname(to));
  try {
    if (path.endsWith(".db") && !isOperators(path)) await copyDatabase(from, to);
    else await copyFile(from, to);
  } catch (thrown) {
    if (existsSync(from)) throw thrown;
    return [];
  }
  return [await describeFile(folder, path)];
}

/** Closes a copied file to other users, waits until it is on disk, and describes it. */
async function describeFile(folder: string, path: string): Promise<BackupFile> {
  const copy = join(folder, path);
  await chmod(copy, 0o600);
  await sync(copy);
  return { path, bytes: (await lstat(copy)).size, sha256: await digestOfFile(copy) };
}

/** Copies a database in one step, so that no commit of another process makes it begin again. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true, timeout: STORE_LIMITS.busyMs });
  try {
    await backup(database, to, { rate: STORE_LIMITS.copyPages });
  } finally {
    database.close();
  }
}

/** Reads the manifest of a backup and compares each file with it; BAD_REQUEST names what differs. */
async function readBackup(folder: string): Promise<Backup> {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch(() => undefined);
  if (text === undefined) throw new Fault("NOT_FOUND", `${folder} is no backup: it has no ${MANIFEST}.`);
  const said = parseLine(text);
  if (!isBackup(said)) throw new Fault("BAD_REQUEST", `${join(folder, MANIFEST)} is not a manifest of this version.`);
  for (const { path, sha256 } of said.files) {
    const digest = await digestOfFile(join(folder, path)).catch(() => undefined);
    if (digest !== sha256)
      throw new Fault(
        "BAD_REQUEST",
        `The file ${path} of the backup is ${digest === undefined ? "missing" : "not what was copied"}; nothing was restored.`,
      );
  }
  return said;
}

function parseLine(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function isBackup(said: Json): said is Json & Backup {
  return (
    isObject(said) &&
    said["format"] === FORMAT &&
    typeof said["at"] === "number" &&
    Array.isArray(said["files"]) &&
    said["files"].every(
      (file) =>
        isObject(file) &&
        typeof file["sha256"] === "string" &&
        typeof file["path"] === "string" &&
        isBelow(file["path"]),
    )
  );
}

/** Whether a path names a file below the folder that it is joined to. */
function isBelow(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
}

async function copyBack(folder: string, home: string, { path }: BackupFile): Promise<void> {
  const to = join(home, path);
  makeFolder(dirname(to));
  await copyFile(join(folder, path), to);
  await chmod(to, 0o600);
  await sync(to);
}

async function refuseFilled(folder: string, what: string): Promise<void> {
  if ((await namesIn(folder)).length > 0) throw new Fault("CONFLICT", `${what} has files already: ${folder}`);
}

/** The names in a folder; none when there is no such folder. A file in its place is refused, since it would be removed. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((thrown: unknown) => {
    if (isObject(thrown) && thrown["code"] === "ENOENT") return [];
    throw copyFault(thrown, folder);
  });
}

async function digestOfFile(path: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(path), digest);
  return digest.digest("hex");
}

async function sync(path: string): Promise<void> {
  await using file = await open(path, "r+");
  await file.sync();
}

async function writeSynced(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await sync(path);
}

function copyFault(thrown: unknown, folder: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const isFull = isObject(thrown) && thrown["code"] === "ENOSPC";
  const message = `${folder} cannot be written: ${asFault(thrown).message}`;
  return new Fault(isFull ? "STORAGE_FULL" : "STORE_UNREADABLE", message, { cause: thrown });
}
