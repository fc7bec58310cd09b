import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import type { Confinement } from "@vidro/core";
import { isWithin } from "../../files/is-within.ts";
import { findSecretPaths } from "../../policy/secret-paths.ts";
import { ClosedPaths } from "./closed-paths.ts";

/** What a sandboxed command may see and touch. */
export interface SandboxScope {
  readonly confined: Confinement;
  readonly workspace: string;
  /** The hand's own folder: what patterns of a policy call `{state}`. */
  readonly state: string;
  /** Vidro's own folders, which a command never sees. */
  readonly reserved: readonly string[];
  readonly cwd: string;
  /** The folders that programs are looked up in, as PATH has them. */
  readonly path: string;
  /** Memory of its own that each process may have. */
  readonly memoryBytes: number;
}

/** The system's own folders: its programs and what they need, its settings, its logs, and what is installed. */
const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/var/log",
  "/nix/store",
].concat(["/var/lib/dpkg", "/var/lib/apt", "/var/cache/apt", "/opt/homebrew", "/run/systemd/resolve"]);

/** System folders in which some files are for some users only. */
const PARTLY_CLOSED = ["/etc", "/var/log"];

/** Devices that programs count on. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"];

/** A /dev for programs that only read: without terminals, it is made in half the time. */
const FEW_DEVICES = [
  ["--perms", "0755", "--tmpfs", "/dev"],
  ...DEVICES.map((device) => ["--dev-bind", device, device]),
  ["--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin"],
  ["--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr"],
  ["--remount-ro", "/dev"],
].flat();

/** What the kernel tells a process of the mounts that it sees. */
const MOUNT_TABLES = ["mountinfo", "mounts"];

const closed = new ClosedPaths();

/** One thing that the view holds at a path, as bubblewrap's options say it. */
interface Mount {
  readonly at: string;
  readonly options: readonly string[];
}

const readOnlyMount = (at: string): Mount => ({ at, options: ["--ro-bind", at, at] });
const emptyMount = (at: string): Mount => ({
  at,
  options: ["--size", String(HAND_LIMITS.scratchBytes), "--tmpfs", at],
});

/** Bubblewrap's options for the files that a command sees; `foreign` are those of the workspace that it must not see. */
export function fileViewOptions(
  scope: SandboxScope,
  secrets: readonly string[],
  foreign: readonly string[],
): readonly string[] {
  const { confined, workspace, state, reserved } = scope;
  // Facts hold nothing of what is in the states of others, and those may be gone before they are hidden.
  const own = confined === "facts" ? [state] : reserved;
  const hidden = [...new Set([...own.flatMap(resolveIfPresent), ...findSecrets(workspace, state, ...secrets)])];
  return confined === "facts" ? hostViewOptions(scope, hidden) : filesViewOptions(scope, [...hidden, ...foreign]);
}

/** Whether a folder is in the view of a command that does not see the whole host. */
export function isInView(folder: string, scope: Pick<SandboxScope, "workspace" | "path">): boolean {
  const { workspace, path } = scope;
  const shown = [workspace, ...SYSTEM, ...programFolders(workspace, path)];
  return folder === "/tmp" || shown.some((one) => isWithin(one, folder));
}

/**
 * The whole host, for programs that show no content of files: nothing can be written, and what is hidden is not there.
 * The mount table is the host's, since the sandbox's own says only what the sandbox is.
 */
function hostViewOptions({ workspace }: SandboxScope, hidden: readonly string[]): readonly string[] {
  const around = hidden.filter((path) => isWithin(path, workspace)).flatMap(coverMounts);
  const inside = hidden.filter((path) => !isWithin(path, workspace)).flatMap(coverMounts);
  const parts = [...around, ...(around.length === 0 ? [] : [readOnlyMount(workspace)]), ...inside];
  return [
    ["--ro-bind", "/", "/"],
    ...DEVICES.map((device) => ["--dev-bind", device, device]),
    ...sortByDepth(parts),
    ...MOUNT_TABLES.map((table) => ["--ro-bind", `/proc/${process.pid}/${table}`, `/proc/self/${table}`]),
  ].flat();
}

/** The workspace and the system's own folders: what is not named here is not there, whatever a path leads to. */
function filesViewOptions(scope: SandboxScope, hidden: readonly string[]): readonly string[] {
  const { confined, workspace, path: searched } = scope;
  const system = [...SYSTEM, ...programFolders(workspace, searched)].filter((folder) => !isWithin(workspace, folder));
  const shut = PARTLY_CLOSED.flatMap((folder) => closed.below(folder)).filter((path) => !isWithin(workspace, path));
  const shown = [...system, workspace];
  const covers = new Set([...shut, ...hidden].filter((path) => shown.some((folder) => isWithin(folder, path))));
  const canWrite = confined !== "files";
  const parts = [
    ...system.flatMap(linkOrFolderMount),
    { at: "/dev", options: canWrite ? ["--dev", "/dev"] : FEW_DEVICES },
    // The kernel's settings are files of root's, and a setting can name a program that runs outside.
    { at: "/proc", options: ["--proc", "/proc", "--remount-ro", "/proc"] },
    // A socket can be spoken to on a read-only mount: those of docker, dbus and their like live in /run.
    ...["/tmp", "/var/tmp", "/run"].map(emptyMount),
    ...[...covers].flatMap(coverMounts),
    { at: workspace, options: [canWrite ? "--bind" : "--ro-bind", workspace, workspace] },
  ];
  return [...sortByDepth(parts).flat(), ...(workspace === "/" ? [] : ["--remount-ro", "/"])];
}

/** What lies in a folder comes after the folder: the later mount covers the earlier one. */
function sortByDepth(parts: readonly Mount[]): readonly (readonly string[])[] {
  const depth = ({ at }: Mount): number => (at === "/" ? 0 : at.split("/").length);
  return parts.toSorted((one, other) => depth(one) - depth(other)).map(({ options }) => options);
}

/** Folders of programs outside the system's own, and the libraries beside them: a home may have a toolchain. */
const programFolders = cacheBriefly((workspace, path = "") => {
  const folders = path.split(":").flatMap((folder) => {
    const library = basename(folder) === "bin" ? [join(dirname(folder), "lib")] : [];
    return [folder, ...library].flatMap(resolveIfPresent);
  });
  return [...new Set(folders)].filter((folder) => ![...SYSTEM, workspace].some((shown) => isWithin(shown, folder)));
});

/** Where the secrets of a policy are. */
const findSecrets = cacheBriefly((workspace, state = "", ...secrets) =>
  findSecretPaths(secrets, { workspace, state, home: homedir() }).flatMap(resolveIfPresent),
);

/** A look at the disk whose answer counts for a while: for each command anew it would cost more than many a command. */
function cacheBriefly(look: (workspace: string, ...words: readonly string[]) => readonly string[]): typeof look {
  const answers = new Map<string, readonly string[]>();
  let since = performance.now();
  return (...words) => {
    if (performance.now() - since > HAND_LIMITS.closedMs) {
      answers.clear();
      since = performance.now();
    }
    const key = words.join("\0");
    let answer = answers.get(key);
    if (answer === undefined) answers.set(key, (answer = look(...words)));
    return answer;
  };
}

function linkOrFolderMount(at: string): readonly Mount[] {
  const stat = lstatSync(at, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return [stat.isSymbolicLink() ? { at, options: ["--symlink", readlinkSync(at), at] } : readOnlyMount(at)];
}

/** The real path of what is there; what is not, or what we may not even look at, needs no hiding. */
export function resolveIfPresent(path: string): readonly string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

/** An empty folder over a folder, and over a file one that cannot be opened, since a device is none on such a mount. */
function coverMounts(at: string): readonly Mount[] {
  const stat = statSync(at, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return [stat.isDirectory() ? emptyMount(at) : { at, options: ["--ro-bind", "/dev/null", at] }];
}
