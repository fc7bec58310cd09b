import { spawn } from "node:child_process";
import { HAND_LIMITS } from "@vidro/core";
import { SECRETS } from "../policy/default-policy/file-rules.ts";
import { writeInherited, INHERITED_DESCRIPTOR } from "./inherited-descriptor.ts";
import { ForeignLinks } from "./sandbox/foreign-links.ts";
import { seccompFilter } from "./sandbox/seccomp-filter.ts";
import { findCover, type CoverScope } from "./sandbox/state-cover.ts";
import { fileViewOptions, type SandboxScope } from "./sandbox/file-view.ts";

export { isInView, type SandboxScope } from "./sandbox/file-view.ts";

/** A command line that runs another one held to a scope. */
interface SandboxedCommand {
  /** Absolute path. */
  readonly program: string;
  readonly argv: readonly string[];
  /** Bytes that it reads from the descriptor `INHERITED_DESCRIPTOR`. */
  readonly inheritedBytes?: Uint8Array;
}

/** Holds a command to a scope by means of the kernel. */
export interface Sandbox {
  /** What runs the given line within the scope; the first word of the line is an absolute path. */
  hold(line: readonly string[], scope: SandboxScope): Promise<SandboxedCommand>;
  /**
   * What runs the given line as the user, with an empty folder in the place of each that is reserved. All else is the
   * host's: files, processes, network. Programs get no rights there that would take the cover away: none by a
   * set-user-id bit, and root has none to mount or to look into other processes. Left out where nothing covers.
   */
  cover?(line: readonly string[], cover: CoverScope): SandboxedCommand;
}

const BUBBLEWRAP = "/usr/bin/bwrap";
const SHELL = "/bin/sh";
const PROBE_MS = 5000;

/** Bounds the memory of every process of the line, then becomes bubblewrap. */
const memoryBoundScript = (bytes: number): string =>
  `ulimit -d ${Math.floor(bytes / 1024)} 2>/dev/null; exec "$0" "$@"`;

/**
 * What root keeps in the sandbox of its powers: to read and write whatever files it is shown, as outside. With any of
 * the others it could take the walls down from within: mount, make devices, open files behind their names.
 */
const ROOT_KEEPS = ["--cap-add", "CAP_DAC_OVERRIDE"];

/** What root keeps besides for facts of the host: which process has a socket, and what the kernel wrote down. */
const ROOT_KEEPS_FOR_FACTS = ["--cap-add", "CAP_SYS_PTRACE", "--cap-add", "CAP_SYSLOG"];

const links = new ForeignLinks();
let works: Promise<boolean> | undefined;

/**
 * The sandbox of this host, or undefined where there is none that works, which is tried once for each process. What
 * the patterns name as secret, a command in it does not see.
 */
export async function findHostSandbox(secrets: readonly string[] = SECRETS): Promise<Sandbox | undefined> {
  const [withSockets, without] = [true, false].map((sockets) => seccompFilter(process.arch, { sockets }));
  if (withSockets === undefined || without === undefined) return undefined;
  const held: ConfineCommand = (line, scope, foreign) => {
    const bounds = [
      "--seccomp",
      String(INHERITED_DESCRIPTOR),
      ...fileViewOptions(scope, secrets, foreign),
      ...isolationOptions(scope),
    ];
    const inheritedBytes = scope.confined === "files" ? without : withSockets;
    const argv = [BUBBLEWRAP, ...bounds, "--", ...line];
    // What tells facts takes no input that its memory could grow with.
    if (scope.confined === "facts") return { program: BUBBLEWRAP, argv, inheritedBytes };
    return { program: SHELL, argv: [SHELL, "-c", memoryBoundScript(scope.memoryBytes), ...argv], inheritedBytes };
  };
  works ??= probeSandbox(held);
  if (!(await works)) return undefined;
  const covering = findCover(BUBBLEWRAP);
  return {
    hold: async (line, scope) =>
      held(line, scope, scope.confined === "facts" ? [] : await links.below(scope.workspace)),
    ...(covering === undefined ? {} : { cover: (line, cover) => toCommand(covering(line, cover)) }),
  };
}

/** Makes the line that is held to a scope, with what in the workspace is foreign to it. */
type ConfineCommand = (line: readonly string[], scope: SandboxScope, foreign: readonly string[]) => SandboxedCommand;

function toCommand(argv: readonly string[]): SandboxedCommand {
  return { program: argv[0] ?? "", argv };
}

/** Being installed is not enough: many containers forbid the name spaces that it needs. */
function probeSandbox(held: ConfineCommand): Promise<boolean> {
  const scope: SandboxScope = {
    confined: "files",
    workspace: "/usr",
    state: "/nonexistent",
    reserved: [],
    cwd: "/",
    path: "",
    memoryBytes: HAND_LIMITS.memoryBytes,
  };
  const { program, argv, inheritedBytes } = held([SHELL, "-c", ":"], scope, []);
  return new Promise((resolve) => {
    const stdio = ["ignore", "ignore", "ignore", "pipe"] as const;
    const child = spawn(program, argv.slice(1), { stdio: [...stdio], timeout: PROBE_MS });
    if (inheritedBytes !== undefined) writeInherited(child, inheritedBytes);
    child.once("error", () => resolve(false)).once("exit", (code) => resolve(code === 0));
  });
}

function isolationOptions({ confined, cwd }: SandboxScope): readonly string[] {
  const isFacts = confined === "facts";
  const isRoot = process.getuid?.() === 0;
  return [
    isFacts ? [] : ["--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    confined === "workspace" ? ["--unshare-net"] : [],
    ["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    isRoot ? ROOT_KEEPS : [],
    isRoot && isFacts ? ROOT_KEEPS_FOR_FACTS : [],
    // A folder that was on the host's disk only.
    ["--unsetenv", "TMPDIR", "--chdir", cwd],
  ].flat();
}
