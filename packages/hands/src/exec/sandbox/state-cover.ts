import { existsSync, readFileSync } from "node:fs";
import { isWithin } from "../../files/is-within.ts";
import { resolveIfPresent } from "./file-view.ts";

/** What is run as the user, and may use all of the host but for some folders. */
export interface CoverScope {
  readonly workspace: string;
  /** The folders in whose place there is an empty one. */
  readonly reserved: readonly string[];
  readonly cwd: string;
}

/** Makes of a line, whose first word is an absolute path, one that runs it under a cover. */
type CoverCommand = (line: readonly string[], cover: CoverScope) => readonly string[];

const TOOLS = { unshare: "/usr/bin/unshare", setpriv: "/usr/bin/setpriv", mount: "/usr/bin/mount" } as const;
const SHELL = "/bin/sh";

/** Powers with which root would look behind a cover or take it away. */
const UNCOVERING = ["sys_admin", "sys_ptrace", "sys_module", "sys_rawio", "mknod", "dac_read_search"];

/** The same of newer kernels, perfmon and bpf, by their numbers. */
const NEWER = [38, 39];

/** How this process covers folders by means of a bubblewrap that works; undefined where it cannot. */
export function findCover(bubblewrap: string): CoverCommand | undefined {
  if (!canMountOnHost())
    return (line, cover) => [bubblewrap, ...coverOptions(cover), "--chdir", cover.cwd, "--", ...line];
  return Object.values(TOOLS).every((tool) => existsSync(tool)) ? coverAsRoot : undefined;
}

/** Folders above come before those below: the later mount covers the earlier one. */
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
 * Covers each folder, the workspace shining through where it lies in one. A folder that was removed meanwhile, such as
 * the state of another brain, needs no cover; one that cannot be covered ends the line before the command. The working
 * folder is entered anew, since the one that the shell was started in is still that below the cover.
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
 * Bubblewrap leaves a process of its own outside, of the same user and without powers, through whose /proc root looks
 * around the cover. So root makes a mount namespace without it, and gives up the powers that would undo it.
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

/** Whether this process may mount on the host itself; what may not gets a user namespace, from which nothing leads out. */
function canMountOnHost(): boolean {
  try {
    const powers = /^CapEff:\s*([0-9a-f]+)$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return process.getuid?.() === 0 && ((BigInt(`0x${powers}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
  } catch {
    return false;
  }
}
