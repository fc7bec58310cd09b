import { closeSync, fstatSync, openSync, readlinkSync, realpathSync, type BigIntStats } from "node:fs";
import { join } from "node:path";

/*
 * A name says which folder it was that bore it when it was looked up. A folder that must not be mistaken, such as that
 * of Vidro's own state, is opened once and known by its descriptor from then on, however it or one above it is renamed.
 */

/** A folder that is known by an open descriptor. */
export interface HeldFolder {
  /** Its real path at present; the last one that it had if it was removed. */
  readonly path: string;
  /** A path to one of its entries that leads there whatever the folder is called at present. */
  entry(name: string): string;
}

const held = new Map<string, HeldFolder>();

/** Holds the folder that a path names now; it stays open for as long as this process runs. */
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
    // The kernel still tells a name of a folder that was removed, with a note behind it.
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
