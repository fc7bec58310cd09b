/*
 * What tells a file from a copy of it. A ledger and a store keep the identity of the file that they are in, inside of
 * it: a copy, or a backup that was restored as a new file, carries the identity of another one.
 */

/** A file as its file system knows it; `born` is empty where the system does not say when the file was made. */
export interface FileIdentity {
  readonly inode: string;
  readonly born: string;
  /** The machine, empty where it has no id of its own; a cloned disk is often given another one. */
  readonly machine: string;
}

/** What is asked of the system; both throw when there is no such file. */
export interface FileSystem {
  stat(path: string): { readonly ino: bigint; readonly birthtimeNs: bigint; readonly ctimeNs: bigint };
  read(path: string): string;
}

/** The identity of the file at `path`, which is there. The device is left out: its number changes with a reboot. */
export function fileIdentity(path: string, system: FileSystem): FileIdentity {
  const { ino, birthtimeNs, ctimeNs } = system.stat(path);
  // A system that does not know when a file was made shows 0, or when it was last changed.
  const isTold = birthtimeNs !== 0n && birthtimeNs !== ctimeNs;
  return { inode: String(ino), born: isTold ? String(birthtimeNs) : "", machine: machineId(system) };
}

/** Whether two identities may be of one file: what one of them does not say does not tell them apart. */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  const agree = (a: string, b: string): boolean => a === b || a === "" || b === "";
  return one.inode === other.inode && agree(one.born, other.born) && agree(one.machine, other.machine);
}

function machineId(system: FileSystem): string {
  try {
    return system.read("/etc/machine-id").trim();
  } catch {
    return "";
  }
}
