import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import type { Confinement } from "@vidro/core";
import { isWithin } from "../../files/is-within.ts";
import { findSecretPaths } from "../../policy/secret-paths.ts";
import { ClosedPaths } from "./closed-paths.ts";
import { findGitData } from "./git-view.ts";
import type { ViewData } from "./view-data.ts";

/** What a confined command may see and touch. */
export interface SandboxScope {
  readonly confined: Confinement;
  readonly workspace: string;
  /** The hand's own folder: `{state}` in the patterns of a policy. */
  readonly state: string;
  /** Vidro's own folders, which a command never sees. */
  readonly reserved: readonly string[];
  /** The environment of the command; programs of its PATH are in view. */
  readonly env: { readonly [name: string]: string };
}

/** The system's folders: programs and libraries, settings, logs and installed packages. */
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

/** System folders with some files that are closed to other users. */
const PARTLY_CLOSED = ["/etc", "/var/log"];

/** Devices that programs count on. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"];

/** A /dev without terminals for read-only programs; it is made in half the time. */
const FEW_DEVICES = [
  ["--perms", "0755", "--tmpfs", "/dev"],
  ...DEVICES.map((device) => ["--dev-bind", device, device]),
  ["--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin"],
  ["--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr"],
  ["--remount-ro", "/dev"],
].flat();

/** The files of /proc/<pid> that list mounts. */
const MOUNT_TABLES = ["mountinfo", "mounts"];

const closed = new ClosedPaths();

/** Something at a path of the view. */
export interface ViewPart {
  readonly at: string;
  /** Bubblewrap options that put it there. */
  readonly options: readonly string[];
  /** The content of the mount: a path of the host, what only the sandbox has, or what does not depend on the host's files. */
  readonly shows: { readonly path: string } | "own" | "fixed";
  /** Bytes of the hand that it shows; the options that put them there name a descriptor. */
  readonly data?: ViewData;
}

const boundPart = (option: "--ro-bind" | "--bind" | "--dev-bind", path: string, at = path): ViewPart => ({
  at,
  options: [option, path, at],
  shows: { path },
});
const emptyPart = (at: string): ViewPart => ({
  at,
  options: ["--size", String(HAND_LIMITS.scratchBytes), "--tmpfs", at],
  shows: "own",
});
const dataPart = (data: ViewData): ViewPart => ({ at: data.at, options: [], shows: "own", data });
const fixedPart = (at: string, options: readonly string[]): ViewPart => ({ at, options, shows: "fixed" });

/** The files that a command sees, in the order in which they are mounted; `foreign` are files of the workspace to hide. */
export function buildFileView(
  scope: SandboxScope,
  secrets: readonly string[],
  foreign: readonly string[],
): readonly ViewPart[] {
  const { confined, workspace, state, reserved } = scope;
  // Programs for facts show no file content, and other states may be removed before they could be covered.
  const own = confined === "facts" ? [state, ...reserved.filter((folder) => isWithin(folder, state))] : reserved;
  const hidden = outermost([...own.flatMap(resolveIfPresent), ...secretPathsOf(scope, secrets)], workspace);
  return confined === "facts" ? buildHostView(scope, hidden) : buildNarrowView(scope, [...hidden, ...foreign]);
}

/** Drops paths below another one, where nothing is left to cover; the workspace is bound back into a covered folder. */
function outermost(paths: readonly string[], workspace: string): readonly string[] {
  const isBoundBack = (around: string, path: string): boolean =>
    isWithin(around, workspace) && isWithin(workspace, path);
  return [...new Set(paths)].filter(
    (path) => !paths.some((other) => other !== path && isWithin(other, path) && !isBoundBack(other, path)),
  );
}

/** Whether a folder is visible to a command that does not see the whole host. */
export function isInView(folder: string, scope: Pick<SandboxScope, "workspace" | "env">): boolean {
  const { workspace, env } = scope;
  const shown = [workspace, ...SYSTEM, ...programFolders(workspace, env["PATH"] ?? "")];
  return folder === "/tmp" || shown.some((one) => isWithin(one, folder));
}

/**
 * The whole host, read-only and without the hidden files, for programs that show no file content. The mount table is
 * the host's, because the sandbox's own would describe only the sandbox.
 */
function buildHostView({ workspace }: SandboxScope, hidden: readonly string[]): readonly ViewPart[] {
  const around = hidden.filter((path) => isWithin(path, workspace)).flatMap(coverParts);
  const inside = hidden.filter((path) => !isWithin(path, workspace)).flatMap(coverParts);
  const parts = [...around, ...(around.length === 0 ? [] : [boundPart("--ro-bind", workspace)]), ...inside];
  return [
    boundPart("--ro-bind", "/"),
    ...DEVICES.map((device) => boundPart("--dev-bind", device)),
    ...sortByDepth(parts),
    ...MOUNT_TABLES.map((table) => {
      const at = `/proc/self/${table}`;
      return fixedPart(at, ["--ro-bind", `/proc/${process.pid}/${table}`, at]);
    }),
  ];
}

/** Only the workspace and the system's folders; nothing else exists in the view, even through symlinks. */
function buildNarrowView(scope: SandboxScope, hidden: readonly string[]): readonly ViewPart[] {
  const { confined, workspace, env } = scope;
  const system = [...SYSTEM, ...programFolders(workspace, env["PATH"] ?? "")].filter(
    (folder) => !isWithin(workspace, folder),
  );
  const shut = PARTLY_CLOSED.flatMap((folder) => closed.below(folder)).filter((path) => !isWithin(workspace, path));
  const shown = [...system, workspace];
  const covers = new Set([...shut, ...hidden].filter((path) => shown.some((folder) => isWithin(folder, path))));
  const inWorkspace = [...covers].filter((path) => path !== workspace && isWithin(workspace, path));
  const canWrite = confined !== "files";
  // git replaces its index when it writes, which it cannot do with one that is a mount.
  const data = canWrite ? [] : findGitData(workspace, inWorkspace);
  for (const { at } of data) covers.delete(at);
  const parts = [
    ...system.flatMap(linkOrFolderPart),
    fixedPart("/dev", canWrite ? ["--dev", "/dev"] : FEW_DEVICES),
    // /proc is read-only because kernel settings can name a program that runs outside the sandbox.
    fixedPart("/proc", ["--proc", "/proc", "--remount-ro", "/proc"]),
    // Sockets can be used on a read-only mount, and those of docker, dbus and others are in /run.
    ...["/tmp", "/var/tmp", "/run"].map(emptyPart),
    ...[...covers].flatMap(coverParts),
    ...data.map(dataPart),
    ...(canWrite ? pinParts(inWorkspace, workspace) : []),
    boundPart(canWrite ? "--bind" : "--ro-bind", workspace),
  ];
  return [...sortByDepth(parts), ...(workspace === "/" ? [] : [fixedPart("/", ["--remount-ro", "/"])])];
}

/** Sorts folders before their content, because a later mount covers an earlier one. */
function sortByDepth(parts: readonly ViewPart[]): readonly ViewPart[] {
  const depth = ({ at }: ViewPart): number => (at === "/" ? 0 : at.split("/").length);
  return parts.toSorted((one, other) => depth(one) - depth(other));
}

/** Folders of PATH outside the system's, with the lib folders beside them, such as a toolchain in a home. */
const programFolders = cacheBriefly((workspace, path = "") => {
  const folders = path.split(":").flatMap((folder) => {
    const library = basename(folder) === "bin" ? [join(dirname(folder), "lib")] : [];
    return [folder, ...library].flatMap(resolveIfPresent);
  });
  return [...new Set(folders)].filter((folder) => ![...SYSTEM, workspace].some((shown) => isWithin(shown, folder)));
});

/** Existing files that match the policy's patterns of secrets. */
const findSecrets = cacheBriefly((workspace, state = "", ...secrets) =>
  findSecretPaths(secrets, { workspace, state, home: homedir() }).flatMap(resolveIfPresent),
);

/** Where the files and folders are that patterns of secrets name. */
export function secretPathsOf({ workspace, state }: SandboxScope, secrets: readonly string[]): readonly string[] {
  return findSecrets(workspace, state, ...secrets);
}

/** Caches a disk look-up for HAND_LIMITS.closedMs: repeating it for each command would be too slow. */
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

/**
 * Makes each folder between the workspace and what is covered in it a mount, which cannot be renamed: a later command
 * would find what was covered under another name.
 */
function pinParts(covers: readonly string[], workspace: string): readonly ViewPart[] {
  return listAncestors(covers)
    .filter((folder) => folder !== workspace && isWithin(workspace, folder))
    .map((at) => boundPart("--bind", at));
}

/** The folders above some paths, outermost first: who renames one of them moves what lies in it. */
export function listAncestors(paths: readonly string[]): readonly string[] {
  const own = new Set(paths);
  const above = new Set(paths.flatMap(ancestorsOf));
  return [...above]
    .filter((folder) => !own.has(folder) && !ancestorsOf(folder).some((outer) => own.has(outer)))
    .toSorted((one, other) => one.length - other.length);
}

function ancestorsOf(path: string): readonly string[] {
  const above = dirname(path);
  return above === "/" || above === path ? [] : [...ancestorsOf(above), above];
}

function linkOrFolderPart(at: string): readonly ViewPart[] {
  const stat = lstatSync(at, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return [stat.isSymbolicLink() ? fixedPart(at, ["--symlink", readlinkSync(at), at]) : boundPart("--ro-bind", at)];
}

/** The real path; empty if nothing is there or it cannot be read, because then nothing needs to be hidden. */
export function resolveIfPresent(path: string): readonly string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

/** Mounts an empty folder over a folder, and /dev/null over a file, which cannot be opened on a nodev mount. */
function coverParts(at: string): readonly ViewPart[] {
  const stat = statSync(at, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return [stat.isDirectory() ? emptyPart(at) : boundPart("--ro-bind", "/dev/null", at)];
}
