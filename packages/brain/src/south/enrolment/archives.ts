import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { asFault, Fault, SOUTHBOUND_LIMITS } from "@vidro/core";

/** Where a brain finds what it gives to the hosts that it invites. */
export interface ArchiveSource {
  /** The folder of the archives, `vidro-<version>-<platform>.tar.gz`. */
  readonly folder: string;
  /** The file with the template of the install script. */
  readonly script: string;
  /** The version of the archives that are given. */
  readonly version: string;
  /** Makes the archive of this platform, unless it is there and newer than what goes into it. */
  readonly make?: () => Promise<void>;
}

/** One archive that hosts may install. */
interface HandArchive {
  /** Such as `linux-x64`. */
  readonly platform: string;
  /** Name of the file. */
  readonly name: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Such as `linux-x64`. */
const PLATFORM = /^[a-z0-9]{1,16}-[a-z0-9]{1,16}$/;

interface KnownHash {
  /** Size and time of change of the file that was hashed. */
  readonly state: string;
  readonly sha256: string;
}

/** The archives of the hand that a brain gives to hosts. Nothing of them is held in memory. */
export class HandArchives {
  readonly #source: ArchiveSource;
  readonly #hashes = new Map<string, KnownHash>();
  #making: Promise<void> | undefined;

  constructor(source: ArchiveSource) {
    this.#source = source;
  }

  /** The archives for an invitation; a clone makes its own first. HAND_UNAVAILABLE when it cannot. */
  async prepare(): Promise<readonly HandArchive[]> {
    const { make } = this.#source;
    if (make !== undefined) {
      // Invitations that come meanwhile wait for the same one.
      this.#making ??= make().finally(() => (this.#making = undefined));
      await this.#making;
    }
    return this.list();
  }

  /** The archives that are there now, by platform. */
  async list(): Promise<readonly HandArchive[]> {
    const { folder, version } = this.#source;
    const names = await readdir(folder).catch(() => []);
    const [before, after] = [`vidro-${version}-`, ".tar.gz"];
    const platformOf = (name: string): string => name.slice(before.length, -after.length);
    // An archive of the version 1.2.3-rc1 begins like one of 1.2.3, and has no name of a platform behind that.
    const fitting = names
      .filter((name) => name.startsWith(before) && name.endsWith(after) && PLATFORM.test(platformOf(name)))
      .sort();
    const archives = fitting.slice(0, SOUTHBOUND_LIMITS.archives).map(async (name) => ({
      platform: platformOf(name),
      name,
      sha256: await this.#hashOf(join(folder, name)),
    }));
    return Promise.all(archives);
  }

  /** The template of the install script. */
  async template(): Promise<string> {
    const { script } = this.#source;
    const { size } = await stat(script);
    if (size > SOUTHBOUND_LIMITS.scriptBytes) throw new Fault("INTERNAL_ERROR", `${script} is too long for a script.`);
    return readFile(script, "utf8");
  }

  /** Opens the archive of a platform for reading; NOT_FOUND when there is none. */
  async read(platform: string, signal: AbortSignal): Promise<{ readonly stream: Readable; readonly bytes: number }> {
    const { folder, version } = this.#source;
    if (!PLATFORM.test(platform)) throw missingArchive(platform);
    const file = await open(join(folder, `vidro-${version}-${platform}.tar.gz`)).catch(() => undefined);
    if (file === undefined) throw missingArchive(platform);
    try {
      const { size: bytes } = await file.stat();
      return { stream: file.createReadStream({ signal }), bytes };
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  }

  /** The hash of a file, which is read again only when the file has changed. */
  async #hashOf(path: string): Promise<string> {
    const { size, mtimeMs } = await stat(path);
    const state = `${size} ${mtimeMs}`;
    const known = this.#hashes.get(path);
    if (known?.state === state) return known.sha256;
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash).catch((cause: unknown) => {
      throw new Fault("STORE_UNREADABLE", `${path} cannot be read: ${asFault(cause).message}`, { cause });
    });
    const sha256 = hash.digest("hex");
    this.#hashes.set(path, { state, sha256 });
    return sha256;
  }
}

function missingArchive(platform: string): Fault {
  return new Fault("NOT_FOUND", `There is no archive for ${JSON.stringify(platform.slice(0, 40))} here.`);
}
