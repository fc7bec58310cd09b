/*
 * The identity of a file, which distinguishes it from its copies. A ledger and a store keep the identity of their file
 * inside that file: in a copy or a restored backup the stored identity differs from the actual one.
 */

/** A file as its file system identifies it; `born` is empty where the creation time is not available. */
export interface FileIdentity {
  readonly inode: string;
  readonly born: string;
  /** The machine id, empty where there is none; a cloned disk often gets a new one. */
  readonly machine: string;
}

/** The calls to the file system; both throw when there is no such file. */
export interface FileSystem {
  stat(path: string): { readonly ino: bigint; readonly birthtimeNs: bigint; readonly ctimeNs: bigint };
  read(path: string): string;
}

/** The identity of an existing file. The device number is left out because it changes with a reboot. */
export function fileIdentity(path: string, system: FileSystem): FileIdentity {
  const { ino, birthtimeNs, ctimeNs } = system.stat(path);
  // A system without creation times reports 0 or the time of the last change.
  const isTold = birthtimeNs !== 0n && birthtimeNs !== ctimeNs;
  return { inode: String(ino), born: isTold ? String(birthtimeNs) : "", machine: machineId(system) };
}

/** Whether two identities may be of the same file; a field that is empty in one of them is not compared. */
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
