import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { Fault, HAND_LIMITS } from "@vidro/core";
import { isWithin } from "../../files/is-within.ts";
import type { MountEntry, MountTable } from "../../files/mounts.ts";
import { withoutLeaks } from "../leaked-descriptors.ts";
import { listAncestors, resolveIfPresent } from "./file-view.ts";

/*
 * The mount namespace that root's commands run in: reserved folders are covered by empty ones, and kernel settings are
 * read-only. It is made once for a set of folders and kept by an open descriptor, so that a command only enters it. Its
 * mounts stay on the folders themselves: a folder that is renamed on the host is still covered.
 */

/** The folders that are covered in a namespace. */
export interface NamespaceCover {
  readonly workspace: string;
  /** Folders that are replaced by an empty one. */
  readonly reserved: readonly string[];
}

const UNSHARE = "/usr/bin/unshare";
const MOUNT = "/usr/bin/mount";
const SHELL = "/bin/sh";

/** The programs of the host that a namespace is made with. */
export const NAMESPACE_TOOLS: readonly string[] = [UNSHARE, MOUNT];

/**
 * Carries out steps, each a verb and a path. A reserved folder that was removed meanwhile, such as the state of another
 * brain, is skipped; any other failure ends the shell with the path as its last line. `pin` makes a folder a mount, so
 * that it cannot be renamed or removed in the namespace. `around` covers a folder and binds the workspace back into it.
 * The namespace is ready when the shell says so, and the shell ends with its input.
 */
const SCRIPT = `
  refuse() { echo "$1"; exit 1; }
  present() { [ ! -d "$1" ] || refuse "$1"; }
  workspace=$1; shift
  while [ $# -gt 0 ]; do
    case $1 in
      pin) mount -n --rbind "$2" "$2" 2>/dev/null || present "$2" ;;
      cover) mount -n -t tmpfs -o ro,mode=755 vidro "$2" 2>/dev/null || present "$2" ;;
      around)
        exec 9<"$workspace" && mount -n -t tmpfs -o mode=755 vidro "$2" && mkdir -p "$workspace" &&
        mount -n --no-canonicalize --bind /proc/self/fd/9 "$workspace" && mount -n -o remount,ro vidro "$2" || refuse "$2"
        exec 9<&- ;;
      seal) mount -n --bind -o ro --make-private "$2" "$2" || refuse "$2" ;;
      freeze) mount -n -o remount,bind,ro "$2" || refuse "$2" ;;
    esac
    shift 2
  done
  echo ready; read -r _`;

/** Kernel file systems with settings that name a program, which the kernel then runs outside of every namespace. */
const SETTINGS = new Set(["sysfs", "cgroup", "binfmt_misc"]);

/** Parts of a proc file system that are settings of the kernel. */
const PROC_SETTINGS = ["sys", "sysrq-trigger"];

/** A namespace that is kept, or being made. */
interface KeptNamespace {
  /** The mounts of the host when it was made. */
  readonly mounts: string;
  readonly descriptor: Promise<number>;
  readonly idle: NodeJS.Timeout;
}

/** The covered namespaces of this process; one that was not entered for `HAND_LIMITS.coverIdleMs` is let go. */
export class CoveredNamespaces {
  readonly #kept = new Map<string, KeptNamespace>();

  /** The path of a file to enter the namespace by, under the given mounts of the host; throws TOOL_FAILED when a folder cannot be covered. */
  async find(cover: NamespaceCover, table: MountTable): Promise<string> {
    const folders = cover.reserved.flatMap(resolveIfPresent);
    const key = JSON.stringify([cover.workspace, ...folders]);
    const mounts = table.text;
    let kept = this.#kept.get(key);
    if (kept?.mounts !== mounts) {
      const descriptor = makeNamespace(cover.workspace, [
        ...coverSteps(folders, cover.workspace),
        ...settingSteps(table.entries),
      ]);
      const made: KeptNamespace = {
        mounts,
        descriptor,
        idle: setTimeout(() => this.#drop(key, made), HAND_LIMITS.coverIdleMs).unref(),
      };
      this.#kept.set(key, (kept = made));
    }
    kept.idle.refresh();
    try {
      return `/proc/${process.pid}/fd/${await kept.descriptor}`;
    } catch (thrown) {
      this.#drop(key, kept);
      throw thrown;
    }
  }

  #drop(key: string, kept: KeptNamespace): void {
    clearTimeout(kept.idle);
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    void kept.descriptor.then(closeSync, () => undefined);
  }
}

/** A verb of the script and its path. */
type Step = readonly [verb: "pin" | "cover" | "around" | "seal" | "freeze", path: string];

function coverSteps(folders: readonly string[], workspace: string): readonly Step[] {
  const covers = folders.map((folder): Step => [isWithin(folder, workspace) ? "around" : "cover", folder]);
  // A folder that the workspace is bound back into comes first: others may lie in the workspace.
  const ordered = covers.toSorted(([one], [other]) => Number(other === "around") - Number(one === "around"));
  return [...listAncestors(folders).map((folder): Step => ["pin", folder]), ...ordered];
}

function settingSteps(mounts: readonly MountEntry[]): readonly Step[] {
  const isShown = ({ at, device }: MountEntry): boolean => deviceOf(at) === device;
  const proc = mounts.filter(({ type, root }) => type === "proc" && root === "/").filter(isShown);
  const parts = proc
    .flatMap(({ at }) => PROC_SETTINGS.map((part) => `${at}/${part}`))
    .filter((path) => existsSync(path));
  const isSealed = (path: string): boolean => parts.some((part) => isWithin(part, path));
  const whole = mounts.filter(({ type, at }) => SETTINGS.has(type) && !isSealed(at)).filter(isShown);
  return [
    ...[...new Set(parts)].map((path): Step => ["seal", path]),
    ...[...new Set(whole.map(({ at }) => at))].map((path): Step => ["freeze", path]),
  ];
}

function deviceOf(path: string): string | undefined {
  try {
    const { dev } = statSync(path, { bigint: true });
    // The layout of a device number in Linux: 12 bits of the major number between the low and high bits of the minor.
    return `${(dev >> 8n) & 0xfffn}:${(dev & 0xffn) | ((dev >> 12n) & ~0xffn)}`;
  } catch {
    return undefined;
  }
}

/** Makes a namespace; gives a descriptor of it, which keeps it after the process that made it has ended. */
async function makeNamespace(workspace: string, steps: readonly Step[]): Promise<number> {
  const words = [
    "--mount",
    "--propagation",
    "slave",
    "--",
    SHELL,
    "-c",
    SCRIPT,
    "vidro-cover",
    workspace,
    ...steps.flat(),
  ];
  const child = spawn(UNSHARE, words, {
    stdio: withoutLeaks(["pipe", "pipe", "ignore"]),
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    cwd: "/",
    timeout: HAND_LIMITS.coverMs,
  });
  try {
    const said = await firstLine(child);
    if (said !== "ready")
      throw new Fault("TOOL_FAILED", `${said ?? "Vidro's own state"} could not be hidden; the command was not run.`);
    return openSync(`/proc/${child.pid}/ns/mnt`, "r");
  } finally {
    child.stdin?.end();
  }
}

function firstLine(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.stdin?.on("error", () => undefined);
    if (child.stdout === null) return resolve(undefined);
    createInterface({ input: child.stdout })
      .once("line", resolve)
      .once("close", () => resolve(undefined));
  });
}
