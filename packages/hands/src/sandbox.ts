import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ShellAccess } from "@vidro/core";

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

/** Secrets of the person whose account the hand runs under. */
const HOME_SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".git-credentials",
  ".netrc",
  ".npmrc",
  ".pgpass",
];

/** Secrets of the host that only root could read anyway. */
const ROOT_SECRETS = ["/root/.ssh", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private"];

let found: Promise<Sandbox | undefined> | undefined;

/** The sandbox of this host, or undefined where there is none that works; tried once for each process. */
export function hostSandbox(): Promise<Sandbox | undefined> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Sandbox | undefined> {
  const sandbox: Sandbox = { wrap: (line, scope) => [BUBBLEWRAP, ...bounds(scope), "--", ...line] };
  const scope: Scope = { access: "read", workspace: "/usr", state: "/nonexistent", cwd: "/" };
  const [program, ...args] = sandbox.wrap(["/bin/sh", "-c", ":"], scope);
  try {
    // Being installed is not enough: many containers forbid the name spaces that it needs.
    await promisify(execFile)(program ?? BUBBLEWRAP, args, { timeout: PROBE_MS });
    return sandbox;
  } catch {
    return undefined;
  }
}

function bounds({ access, workspace, state, cwd }: Scope): string[] {
  const mount = [access === "workspace" ? "--bind" : "--ro-bind", workspace, workspace];
  return [
    ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // A socket can be spoken to on a read-only mount: those of docker, dbus and their like live in /run.
    ["--tmpfs", "/run", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"],
    // The later mount covers the earlier one, and of state and workspace either may lie in the other.
    isWithin(workspace, state) ? [...hidden(state), ...mount] : [...mount, ...hidden(state)],
    HOME_SECRETS.flatMap((name) => hidden(join(homedir(), name))),
    ROOT_SECRETS.flatMap(hidden),
    ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"],
    ["--chdir", cwd],
  ].flat();
}

function hidden(path: string): string[] {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? ["--tmpfs", real] : ["--ro-bind", "/dev/null", real];
  } catch {
    // What is not there, or what we may not even look at, needs no hiding.
    return [];
  }
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
