import { existsSync, readFileSync } from "node:fs";
import { isWithin } from "../../files/is-within.ts";
import { resolveIfPresent } from "./file-view.ts";

/** A command that may use all of the host except some folders. */
export interface CoverScope {
  readonly workspace: string;
  /** Folders that are replaced by an empty one. */
  readonly reserved: readonly string[];
  readonly cwd: string;
}

/** Builds the command that runs a line under a cover; the first word of the line is an absolute path. */
type CoverCommand = (line: readonly string[], cover: CoverScope) => readonly string[];

const TOOLS = { unshare: "/usr/bin/unshare", setpriv: "/usr/bin/setpriv", mount: "/usr/bin/mount" } as const;
const SHELL = "/bin/sh";

/** Capabilities with which root could look behind a cover or remove it. */
const UNCOVERING = ["sys_admin", "sys_ptrace", "sys_module", "sys_rawio", "mknod", "dac_read_search"];

/** Such capabilities of newer kernels by number: perfmon and bpf. */
const NEWER = [38, 39];

/** How this process covers folders, given a working bubblewrap; undefined if it cannot. */
export function findCover(bubblewrap: string): CoverCommand | undefined {
  if (!canMountOnHost())
    return (line, cover) => [bubblewrap, ...coverOptions(cover), "--chdir", cover.cwd, "--", ...line];
  return Object.values(TOOLS).every((tool) => existsSync(tool)) ? coverAsRoot : undefined;
}

/** Outer folders are mounted first, because a later mount covers an earlier one. */
function coverOptions({ workspace, reserved }: CoverScope): readonly string[] {
  const folders = reserved.flatMap(resolveIfPresent);
  const isAround = folders.some((folder) => isWithin(folder, workspace));
  return [
    ["--dev-bind", "/", "/"],
    ...folders.filter((folder) => isWithin(folder, workspace)).map((folder) => ["--tmpfs", folder]),
    isAround ? ["--bind", workspace, workspace] : [],
    ...folders.filter((folder) => !isWithin(folder, workspace)).map((folder) => ["--tmpfs", folder]),
    ...folders.map((folder) => ["--remount-ro", folder]),
  ].flat();
}

/**
 * Covers each folder, with the workspace bound back in where it lies inside one. A folder that was removed meanwhile,
 * such as the state of another brain, is skipped; if a folder cannot be covered, the command does not run. The working
 * folder is entered again, because the shell still stands in the one below the cover.
 */
const COVER = `
  refuse() { echo "vidro: $1 could not be hidden; the command was not run" >&2; exit 125; }
  cwd=$1; workspace=$2; count=$3; shift 3
  while [ "$count" -gt 0 ]; do
    case "$workspace/" in
      "$1"/*)
        exec 9<"$workspace" && mount -t tmpfs -o mode=755 vidro "$1" && mkdir -p "$workspace" &&
        mount --no-canonicalize --bind /proc/self/fd/9 "$workspace" && mount -o remount,ro vidro "$1" || refuse "$1"
        exec 9<&- ;;
      *) [ ! -d "$1" ] || mount -t tmpfs -o ro,mode=755 vidro "$1" 2>/dev/null || [ ! -d "$1" ] || refuse "$1" ;;
    esac
    shift; count=$((count - 1))
  done
  cd "$cwd" && unset PWD OLDPWD && exec "$@"`;

/**
 * Bubblewrap leaves one of its processes outside the cover, and root could look around the cover through its /proc
 * entry. So root creates a mount namespace without bubblewrap and drops the capabilities that would undo the cover.
 */
const coverAsRoot: CoverCommand = (line, { workspace, reserved, cwd }) => {
  const folders = reserved.flatMap(resolveIfPresent);
  const powers = [...UNCOVERING, ...newerPowers()].map((power) => `-${power}`).join(",");
  return [
    [TOOLS.unshare, "--mount", "--propagation", "slave", "--", SHELL, "-c", COVER, "cover"],
    [cwd, workspace, String(folders.length), ...folders],
    [TOOLS.setpriv, `--bounding-set=${powers}`, "--", ...line],
  ].flat();
};

function newerPowers(): readonly string[] {
  const last = Number(readFileSync("/proc/sys/kernel/cap_last_cap", "utf8"));
  return NEWER.filter((power) => power <= last).map((power) => `cap_${power}`);
}

const CAP_SYS_ADMIN = 21n;

/** Whether this process may mount on the host; without that right, bubblewrap uses a user namespace. */
function canMountOnHost(): boolean {
  try {
    const powers = /^CapEff:\s*([0-9a-f]+)$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return process.getuid?.() === 0 && ((BigInt(`0x${powers}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
  } catch {
    return false;
  }
}
