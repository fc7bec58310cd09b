import { closeSync, fstatSync, openSync, readlinkSync, realpathSync, type BigIntStats } from "node:fs";
import { join } from "node:path";

/*
 * A path may lead to another folder after a rename. A folder that must not be confused with another one, such as that of
 * Vidro's own state, is opened once and is identified by its descriptor from then on.
 */

/** A folder that is identified by an open descriptor. */
export interface HeldFolder {
  /** Its real path at present; the last one that it had if it was removed. */
  readonly path: string;
  /** A path to one of its entries, valid also after the folder was renamed. */
  entry(name: string): string;
}

const held = new Map<string, HeldFolder>();

/** Opens the folder at a path; it stays open until the process ends. */
export function holdFolder(path: string): HeldFolder {
  const real = realpathSync(path);
  const descriptor = openSync(real, "r");
  const stat = fstatSync(descriptor, { bigint: true });
  const key = keyOf(stat);
  const before = held.get(key);
  if (before !== undefined) {
    closeSync(descriptor);
    return before;
  }
  const folder = folderOf(descriptor, real);
  held.set(key, folder);
  return folder;
}

const keyOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

function folderOf(descriptor: number, real: string): HeldFolder {
  const link = `/proc/self/fd/${descriptor}`;
  let last = real;
  const find = (): string => {
    // The kernel appends a note to the name of a folder that was removed, so the last name is kept.
    if (fstatSync(descriptor).nlink > 0) last = readLinkIfAny(link) ?? last;
    return last;
  };
  const hasProc = readLinkIfAny(link) !== undefined;
  return {
    get path() {
      return find();
    },
    entry: (name) => join(hasProc ? link : find(), name),
  };
}

/** What a link says; undefined on a system without /proc. */
function readLinkIfAny(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
