import { createHash, randomUUID } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, opendirSync, openSync, readSync } from "node:fs";
import type { BigIntStats, Dir, Dirent } from "node:fs";
import { lstat, mkdir, open, readlink, rename, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Fault, HAND_LIMITS } from "@vidro/core";

/*
 * Files are opened by walking from the root through open folders and following no symlink, so that exactly the file at
 * the path is opened, or none. Node has no openat; on Linux /proc/self/fd/<n>/<name> does the same. Elsewhere the walk
 * goes by name, which refuses every link it meets but not one that is swapped in between two steps.
 *
 * Opening, listing and reading are synchronous: a search does them for many thousands of small files, and handing each
 * call to another thread takes several times as long as the call. A walk lets the event loop turn in between.
 */

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd");
/** Linux's O_PATH, which Node does not define: opens a folder to walk through, without permission to list it. */
const O_WALK = DESCRIPTORS ? 0o10000000 : O_RDONLY;

/** The bytes of a file, and its stat when they were read. */
export interface FileBytes {
  readonly bytes: Buffer;
  readonly stat: BigIntStats;
}

/** The bytes of a file with their hash. */
export interface FileContent {
  readonly bytes: Buffer;
  readonly sha256: string;
  /** The file on disk when they were read; undefined if only an editor has it. */
  readonly stat: BigIntStats | undefined;
}

/** Precondition of a write: the file as it was read, no file, or anything. */
type WriteCondition = BigIntStats | "nothing" | "anything";

/** An entry of a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "link" | "other";
}

/** Entries of a folder that are read in one turn of the event loop. */
const LISTED_AT_ONCE = 1024;

/** An open folder. Operations act on the opened folder even if its path leads elsewhere by now. Must be closed. */
export class Folder implements AsyncDisposable {
  readonly path: string;
  readonly #descriptor: number;

  private constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  /** Opens a folder by its real path; with `make`, missing folders are created. */
  static async open(path: string, make = false): Promise<Folder> {
    let folder = new Folder("/", openSync("/", O_WALK | O_DIRECTORY));
    for (const name of path.split("/").filter((part) => part !== "")) {
      await using parent = folder;
      folder = await parent.folder(name, make);
    }
    return folder;
  }

  /** Opens a folder in this one. */
  async folder(name: string, make = false): Promise<Folder> {
    const path = join(this.path, name);
    const enter = () => new Folder(path, openSync(this.#at(name), O_WALK | O_DIRECTORY | O_NOFOLLOW));
    try {
      return enter();
    } catch (error) {
      if (errnoCode(error) === "ENOTDIR" && (await this.look(name))?.isSymbolicLink()) throw swappedFault(path);
      if (errnoCode(error) !== "ENOENT" || !make) throw asFileFault(error, path);
    }
    try {
      await mkdir(this.#at(name));
      await this.#sync();
      return enter();
    } catch (error) {
      throw asFileFault(error, path);
    }
  }

  /** The stat of a name, without following links; undefined if it does not exist. */
  async look(name: string): Promise<BigIntStats | undefined> {
    try {
      return await lstat(this.#at(name), { bigint: true });
    } catch (error) {
      if (errnoCode(error) === "ENOENT") return undefined;
      throw asFileFault(error, join(this.path, name));
    }
  }

  /** The target of a symlink in this folder, as written. */
  async target(name: string): Promise<string> {
    return await readlink(this.#at(name));
  }

  /** Up to `most` entries including hidden ones, sorted by name, and whether there are more. */
  async entries(most: number): Promise<{ readonly entries: readonly FolderEntry[]; readonly more: boolean }> {
    const entries: FolderEntry[] = [];
    let listing: Dir | undefined;
    try {
      listing = opendirSync(this.#at("."), { bufferSize: LISTED_AT_ONCE });
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        if (entries.length === most) return { entries: entries.sort(byName), more: true };
        entries.push({ name: entry.name, type: typeOf(entry) });
        if (entries.length % LISTED_AT_ONCE === 0) await setImmediate();
      }
    } catch (error) {
      throw asFileFault(error, this.path);
    } finally {
      listing?.closeSync();
    }
    return { entries: entries.sort(byName), more: false };
  }

  /** Reads a regular file in this folder. */
  async read(name: string): Promise<FileBytes> {
    const path = join(this.path, name);
    // The lstat keeps a fifo unopened; O_NONBLOCK and the second stat cover a swap in between.
    const seen = await this.look(name);
    if (seen === undefined) throw missingFault(path);
    refuseIrregular(seen, path);
    return this.readListed(name);
  }

  /** Reads a regular file that was listed as one. */
  readListed(name: string): FileBytes {
    const path = join(this.path, name);
    let file: number | undefined;
    try {
      file = openSync(this.#at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const stat = fstatSync(file, { bigint: true });
      refuseIrregular(stat, path);
      return { bytes: readBounded(file, Number(stat.size), path), stat };
    } catch (error) {
      throw asFileFault(error, path);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /**
   * Replaces the file `name` atomically and durably: readers see the old or the new content, never a part. A file with
   * other hard links is replaced under this name only; the other names keep the old content.
   */
  async replace(name: string, bytes: Uint8Array, expected: WriteCondition): Promise<void> {
    const path = join(this.path, name);
    const before = await this.look(name);
    refuseUnwritable(before, path);
    const temporary = `.vidro-${randomUUID()}.tmp`;
    try {
      // Mode 0600 until the old file's mode is set, so that no other user can read the new content early.
      const mode = before === undefined ? 0o666 : 0o600;
      await using handle = await open(this.#at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      if (before !== undefined) await copyModeAndOwner(handle, before);
      await handle.writeFile(bytes);
      await handle.sync();
      refuseChanged(await this.look(name), expected, path);
      await rename(this.#at(temporary), this.#at(name));
    } catch (error) {
      await unlink(this.#at(temporary)).catch(() => undefined);
      throw asFileFault(error, path);
    }
    await this.#sync();
  }

  /** Removes the regular file `name` durably, if it still is the expected one. */
  async remove(name: string, expected: WriteCondition): Promise<void> {
    const path = join(this.path, name);
    try {
      refuseChanged(await this.look(name), expected, path);
      await unlink(this.#at(name));
    } catch (error) {
      throw asFileFault(error, path);
    }
    await this.#sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    closeSync(this.#descriptor);
  }

  #at(name: string): string {
    return DESCRIPTORS ? `/proc/self/fd/${this.#descriptor}/${name}` : join(this.path, name);
  }

  async #sync(): Promise<void> {
    await using handle = await open(this.#at("."), O_RDONLY | O_DIRECTORY);
    await handle.sync();
  }
}

/** Reads the regular file at a real path. */
export async function readContent(path: string): Promise<FileContent & FileBytes> {
  await using folder = await Folder.open(dirname(path));
  const { bytes, stat } = await folder.read(basename(path));
  return { bytes, stat, sha256: sha256(bytes) };
}

/** Reads the file at a real path; undefined if it or its folder does not exist. */
export async function readContentIfAny(path: string): Promise<FileContent | undefined> {
  try {
    return await readContent(path);
  } catch (error) {
    if (error instanceof Fault && errnoCode(error.cause) === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces or creates the file at a real path; with `make`, missing folders are created. */
export async function writeContent(
  path: string,
  content: string | Uint8Array,
  how: { expected: WriteCondition; make: boolean },
): Promise<void> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  if (bytes.length > HAND_LIMITS.fileBytes) throw tooLargeFault(path, bytes.length);
  await using folder = await Folder.open(dirname(path), how.make);
  await folder.replace(basename(path), bytes, how.expected);
}

/** Throws what keeps the file at a real path from being written; missing folders are created. */
export async function requireWritable(path: string): Promise<void> {
  await using folder = await Folder.open(dirname(path), true);
  refuseUnwritable(await folder.look(basename(path)), path);
}

/** Removes the file at a real path, if it still is the expected one. */
export async function removeContent(path: string, expected: WriteCondition): Promise<void> {
  await using folder = await Folder.open(dirname(path));
  await folder.remove(basename(path), expected);
}

/** The text of a file; throws TOOL_FAILED if it is not UTF-8. */
export function decodeText(content: FileContent, path: string): string {
  try {
    if (isBinary(content.bytes)) throw new TypeError("NUL byte");
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content.bytes);
  } catch (error) {
    const size = `${content.bytes.length} bytes, sha256 ${content.sha256}`;
    throw new Fault(
      "TOOL_FAILED",
      `${path} is not UTF-8 text (${size}); look at it with a command: file, xxd, strings.`,
      {
        cause: error,
      },
    );
  }
}

/** Whether the first 8 KiB contain a NUL byte, which marks a binary file for git and grep too. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

/** sha256 in hex. */
export function sha256(of: string | Uint8Array): string {
  return createHash("sha256").update(of).digest("hex");
}

/** Turns a system error about a path into a Fault that says what to do; Faults are returned unchanged. */
export function asFileFault(thrown: unknown, path: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = errnoCode(thrown);
  if (code === "ENOENT") return missingFault(path, thrown);
  if (code === "ELOOP") return swappedFault(path);
  return new Fault("TOOL_FAILED", SAYS[code]?.(path) ?? `${path} cannot be used (${code || String(thrown)}).`, {
    cause: thrown,
  });
}

const SAYS: { readonly [code: string]: (path: string) => string } = {
  EACCES: (path) => `This hand has no permission for ${path}.`,
  EPERM: (path) => `This hand has no permission for ${path}.`,
  EROFS: (path) => `${path} is on a file system that cannot be written.`,
  ENOSPC: (path) => `The disk of ${path} is full; free some space first.`,
  EDQUOT: (path) => `The disk quota for ${path} is used up; free some space first.`,
  ENOTDIR: (path) => `${path} is not a folder.`,
  EISDIR: (path) => `${path} is a folder; name a file.`,
  ENAMETOOLONG: (path) => `A name in ${path} is too long for the file system.`,
};

/** The fault of a path at which there is nothing. */
export function missingFault(path: string, cause: unknown = { code: "ENOENT" }): Fault {
  return new Fault("TOOL_FAILED", `There is no ${path}; look around with read_folder or find_files.`, { cause });
}

function swappedFault(path: string): Fault {
  return new Fault("PLAN_CHANGED", `${path} became a symlink after the plan was made, so nothing was done.`);
}

/** The fault of a file that is too large for file tools. */
export function tooLargeFault(path: string, bytes: number | bigint): Fault {
  const hint = "read a part of it with a command: head, tail, sed -n";
  return new Fault(
    "PAYLOAD_TOO_LARGE",
    `${path} has ${bytes} bytes and file tools stop at ${HAND_LIMITS.fileBytes}; ${hint}.`,
  );
}

function refuseIrregular(stat: BigIntStats, path: string): void {
  if (stat.isSymbolicLink()) throw swappedFault(path);
  if (stat.isDirectory()) throw new Fault("TOOL_FAILED", `${path} is a folder; list it with read_folder.`);
  if (!stat.isFile()) throw new Fault("TOOL_FAILED", `${path} is a device, a pipe or a socket, not a regular file.`);
  if (stat.size > HAND_LIMITS.fileBytes) throw tooLargeFault(path, stat.size);
}

function refuseUnwritable(stat: BigIntStats | undefined, path: string): void {
  if (stat === undefined) return;
  if (stat.isSymbolicLink()) throw swappedFault(path);
  if (!stat.isFile()) throw new Fault("TOOL_FAILED", `${path} exists and is not a regular file; choose another name.`);
  // Replacing needs only write permission on the folder, so the file's own mode is checked here.
  if ((stat.mode & 0o222n) === 0n)
    throw new Fault("TOOL_FAILED", `${path} is read-only; change its mode first if it must be written.`);
}

function refuseChanged(now: BigIntStats | undefined, expected: WriteCondition, path: string): void {
  if (expected === "anything") return;
  const same =
    expected === "nothing"
      ? now === undefined
      : now?.ino === expected.ino && now.size === expected.size && now.mtimeNs === expected.mtimeNs;
  if (!same)
    throw new Fault("CONFLICT", `${path} was changed by another process while it was being edited; read it again.`);
}

/** Copies mode and owner of the old file; only root can change the owner, for others the writer owns the file. */
async function copyModeAndOwner(handle: FileHandle, before: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid !== before.uid || own.gid !== before.gid) {
    await handle.chown(Number(before.uid), Number(before.gid)).catch(() => undefined);
  }
  await handle.chmod(Number(before.mode & 0o777n));
}

/** Reads to the end of a file that may have grown since its stat, up to HAND_LIMITS.fileBytes. */
function readBounded(file: number, size: number, path: string): Buffer {
  // One byte larger than the file, so that the first read also finds the end.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (true) {
    const read = readSync(file, buffer, length, buffer.length - length, length);
    length += read;
    if (length > HAND_LIMITS.fileBytes) throw tooLargeFault(path, length);
    if (read === 0 || length < buffer.length) return buffer.subarray(0, length);
    buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}

function typeOf(entry: Dirent): FolderEntry["type"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

function byName(one: FolderEntry, other: FolderEntry): number {
  return one.name < other.name ? -1 : 1;
}

/** The code of a system error; empty for anything else. */
export function errnoCode(thrown: unknown): string {
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : "";
  return typeof code === "string" ? code : "";
}
