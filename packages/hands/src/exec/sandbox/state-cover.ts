import { existsSync, readFileSync } from "node:fs";
import { isWithin } from "../../files/is-within.ts";
import { readMounts, type MountTable } from "../../files/mounts.ts";
import { CoveredNamespaces, NAMESPACE_TOOLS, type NamespaceCover } from "./covered-namespace.ts";
import { canScreen, entersNamespaces, screenedWords, type ScreenedPlace } from "./process-screen.ts";
import { listAncestors, resolveIfPresent } from "./file-view.ts";

/** A command that may use all of the host except some folders. */
export interface CoverScope extends NamespaceCover {
  readonly cwd: string;
}

/** A command that runs a line under a cover; its first word is an absolute path. */
export interface CoveredLine {
  readonly words: readonly string[];
  /** The place that a process enters before it executes the words. */
  readonly screen?: ScreenedPlace;
}

/** Builds the command that runs a line under a cover; the first word of the line is an absolute path. */
type CoverCommand = (line: readonly string[], cover: CoverScope) => Promise<CoveredLine>;

const NSENTER = "/usr/bin/nsenter";
const SETPRIV = "/usr/bin/setpriv";
const SHELL = "/bin/sh";

/**
 * Numbers of the capabilities with which root could look behind a cover or remove it: sys_admin, sys_ptrace, sys_module,
 * sys_rawio, mknod, dac_read_search, and of newer kernels perfmon and bpf.
 */
const UNCOVERING = [21, 19, 16, 17, 27, 2, 38, 39];

/** How this process covers folders, given a working bubblewrap; undefined if it cannot. */
export function findCover(bubblewrap: string): CoverCommand | undefined {
  if (!canMountOnHost())
    return async (line, cover) => ({
      words: [bubblewrap, ...coverOptions(cover), "--chdir", cover.cwd, "--", ...line],
    });
  return hasNamespaces() ? coverAsRoot : undefined;
}

/** Whether this process makes mount namespaces of its own; one that is not root leaves that to bubblewrap. */
export function hasNamespaces(): boolean {
  return (makesNamespaces ??=
    canMountOnHost() && [NSENTER, SETPRIV, ...NAMESPACE_TOOLS].every((tool) => existsSync(tool)));
}

let makesNamespaces: boolean | undefined;
const namespaces = new CoveredNamespaces();

/** Outer folders are mounted first, because a later mount covers an earlier one. */
function coverOptions({ workspace, reserved }: CoverScope): readonly string[] {
  const folders = reserved.flatMap(resolveIfPresent);
  const isAround = folders.some((folder) => isWithin(folder, workspace));
  return [
    ["--dev-bind", "/", "/"],
    // A folder that is a mount can be neither renamed nor removed, so nothing moves a reserved folder from its cover.
    ...listAncestors(folders).map((folder) => ["--dev-bind", folder, folder]),
    ...folders.filter((folder) => isWithin(folder, workspace)).map((folder) => ["--tmpfs", folder]),
    isAround ? ["--bind", workspace, workspace] : [],
    ...folders.filter((folder) => !isWithin(folder, workspace)).map((folder) => ["--tmpfs", folder]),
    ...folders.map((folder) => ["--remount-ro", folder]),
  ].flat();
}

/** Enters the working folder anew, because the one that the shell was started in is the host's. */
const ENTER = 'cd "$0" && unset PWD OLDPWD && exec "$@"';

/** The words before a line of root's that run it in a covered mount namespace. */
export async function enterNamespace(cover: NamespaceCover, mounts: MountTable): Promise<readonly string[]> {
  return [NSENTER, `--mount=${await namespaces.find(cover, mounts)}`, "--"];
}

/**
 * Bubblewrap leaves one of its processes outside the cover, and root could look around the cover through its /proc
 * entry. So root enters a mount namespace without bubblewrap, loses other processes' entries in /proc from view where
 * the kernel can do that, and drops the capabilities that would undo the cover.
 */
const coverAsRoot: CoverCommand = async (line, cover) => {
  const isScreened = await canScreen();
  const powers = (knownPowers ??= findKnownPowers());
  const folder = cover.cwd;
  if (isScreened && entersNamespaces()) {
    const namespace = await namespaces.find(cover, readMounts());
    return { words: line, screen: { folder, namespace, powers } };
  }
  const words = [
    await enterNamespace(cover, readMounts()),
    isScreened ? screenedWords({ folder }) : [SHELL, "-c", ENTER, folder],
    [SETPRIV, `--bounding-set=${powers.map((power) => `-cap_${power}`).join(",")}`, "--", ...line],
  ].flat();
  return { words };
};

let knownPowers: readonly number[] | undefined;

/** The capabilities to give up that this kernel knows. */
function findKnownPowers(): readonly number[] {
  const last = Number(readFileSync("/proc/sys/kernel/cap_last_cap", "utf8"));
  return UNCOVERING.filter((power) => power <= last);
}

const CAP_SYS_ADMIN = 21n;

let mounts: boolean | undefined;

/** Whether this process may mount on the host; without that right, bubblewrap uses a user namespace. */
function canMountOnHost(): boolean {
  return (mounts ??= hasMountRight());
}

function hasMountRight(): boolean {
  try {
    const powers = /^CapEff:\s*([0-9a-f]+)$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return process.getuid?.() === 0 && ((BigInt(`0x${powers}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
  } catch {
    return false;
  }
}
