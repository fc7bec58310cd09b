import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { promisify } from "node:util";
import type { ShellAccess } from "@vidro/core";
import { SECRETS } from "./default-policy/files.ts";
import { within } from "./paths.ts";
import { secretPaths } from "./secrets.ts";

/** What a sandboxed command may see and touch. */
export interface Scope {
  readonly access: Exclude<ShellAccess, "host">;
  readonly workspace: string;
  /** The hand's own folder, which a command never sees. */
  readonly state: string;
  readonly cwd: string;
}

/** Holds a command to a scope by means of the kernel. */
export interface Sandbox {
  /** The command line that runs the given one within the scope; its first word is an absolute path. */
  wrap(line: readonly string[], scope: Scope): readonly string[];
}

const BUBBLEWRAP = "/usr/bin/bwrap";
const PROBE_MS = 5000;

/**
 * What root keeps in the sandbox of its powers: to read and write whatever files it is shown, as outside. With any of
 * the others it could take the walls down from within: mount, make devices, open files behind their names.
 */
const ROOT_KEEPS = ["--cap-add", "CAP_DAC_OVERRIDE"];

let works: Promise<boolean> | undefined;

/**
 * The sandbox of this host, or undefined where there is none that works, which is tried once for each process. What
 * the patterns name as secret, a command in it does not see.
 */
export async function hostSandbox(secrets: readonly string[] = SECRETS): Promise<Sandbox | undefined> {
  const sandbox: Sandbox = { wrap: (line, scope) => [BUBBLEWRAP, ...bounds(scope, secrets), "--", ...line] };
  works ??= probe(sandbox);
  return (await works) ? sandbox : undefined;
}

async function probe(sandbox: Sandbox): Promise<boolean> {
  const scope: Scope = { access: "read", workspace: "/usr", state: "/nonexistent", cwd: "/" };
  const [program, ...args] = sandbox.wrap(["/bin/sh", "-c", ":"], scope);
  try {
    // Being installed is not enough: many containers forbid the name spaces that it needs.
    await promisify(execFile)(program ?? BUBBLEWRAP, args, { timeout: PROBE_MS });
    return true;
  } catch {
    return false;
  }
}

function bounds({ access, workspace, state, cwd }: Scope, secrets: readonly string[]): string[] {
  const unseen = [state, ...secretPaths(secrets, { workspace, state, home: homedir() })].flatMap(existing);
  return [
    ["--ro-bind", "/", "/", "--dev", "/dev"],
    // The kernel's settings are files of root's, and a setting can name a program that runs outside.
    ["--proc", "/proc", "--remount-ro", "/proc"],
    // A socket can be spoken to on a read-only mount: those of docker, dbus and their like live in /run.
    ["--tmpfs", "/run", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"],
    // The later mount covers the earlier one, and a secret folder may lie in the workspace or around it.
    unseen.filter((path) => within(path, workspace)).flatMap(hide),
    [access === "workspace" ? "--bind" : "--ro-bind", workspace, workspace],
    unseen.filter((path) => !within(path, workspace)).flatMap(hide),
    ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"],
    ["--cap-drop", "ALL", ...(process.getuid?.() === 0 ? ROOT_KEEPS : [])],
    ["--chdir", cwd],
  ].flat();
}

/** The real path of what is there; what is not, or what we may not even look at, needs no hiding. */
function existing(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function hide(path: string): string[] {
  return statSync(path).isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}
