import { spawn } from "node:child_process";
import { HAND_LIMITS } from "@vidro/core";
import { isWithin } from "../files/is-within.ts";
import { SECRETS } from "../policy/default-policy/file-rules.ts";
import { writeInherited, INHERITED_DESCRIPTOR } from "./inherited-descriptor.ts";
import { withoutLeaks } from "./leaked-descriptors.ts";
import { findSecretTwins, ForeignLinks } from "./sandbox/foreign-links.ts";
import { seccompFilter } from "./sandbox/seccomp-filter.ts";
import { enterNamespace, findCover, hasNamespaces, type CoverScope } from "./sandbox/state-cover.ts";
import { fileViewOptions, secretPathsOf, type SandboxScope } from "./sandbox/file-view.ts";

export { isInView, type SandboxScope } from "./sandbox/file-view.ts";

/** A command line that runs another one in the sandbox. */
interface SandboxedCommand {
  /** Absolute path. */
  readonly program: string;
  readonly argv: readonly string[];
  /** Bytes that it reads from `INHERITED_DESCRIPTOR`. */
  readonly inheritedBytes?: Uint8Array;
}

/** Confines commands by means of the kernel. */
export interface Sandbox {
  /** The command that runs a line within the scope; the first word of the line is an absolute path. */
  hold(line: readonly string[], scope: SandboxScope): Promise<SandboxedCommand>;
  /**
   * The command that runs a line as the user, with each reserved folder replaced by an empty one. Files, processes and
   * network are otherwise the host's. Programs cannot gain rights that would undo the cover: set-user-id bits have no
   * effect, and root may not mount or inspect other processes. Undefined on hosts that cannot cover folders.
   */
  cover?(line: readonly string[], cover: CoverScope): Promise<SandboxedCommand>;
}

const BUBBLEWRAP = "/usr/bin/bwrap";
const SHELL = "/bin/sh";
/** A shell script that limits the memory of each process, then executes bubblewrap. */
const memoryBoundScript = (bytes: number): string =>
  `ulimit -d ${Math.floor(bytes / 1024)} 2>/dev/null; exec "$0" "$@"`;

/**
 * The only capability that root keeps in the sandbox: to read and write the files in its view. With any other one it
 * could leave the sandbox by mounting, creating devices or opening files by handle.
 */
const ROOT_KEEPS = ["--cap-add", "CAP_DAC_OVERRIDE"];

/** Further capabilities that root keeps to read facts of the host: owners of sockets, and the kernel log. */
const ROOT_KEEPS_FOR_FACTS = ["--cap-add", "CAP_SYS_PTRACE", "--cap-add", "CAP_SYSLOG"];

const links = new ForeignLinks();
let works: Promise<boolean> | undefined;

/**
 * The sandbox of this host; undefined if none works, which is probed once per process. Commands in it do not see files
 * that match the patterns of secrets.
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
    // Programs that report facts take no input that could grow their memory.
    if (scope.confined === "facts") return { program: BUBBLEWRAP, argv, inheritedBytes };
    return { program: SHELL, argv: [SHELL, "-c", memoryBoundScript(scope.memoryBytes), ...argv], inheritedBytes };
  };
  works ??= probeSandbox(held);
  if (!(await works)) return undefined;
  const covering = findCover(BUBBLEWRAP);
  return {
    hold: async (line, scope) => {
      const command = held(line, scope, scope.confined === "facts" ? [] : await findHiddenLinks(scope, secrets));
      if (!hasNamespaces()) return command;
      // Bubblewrap's own process stays outside of its sandbox, where other commands of root could look through it.
      return { ...command, ...toCommand([...(await enterNamespace(scope)), ...command.argv]) };
    },
    ...(covering === undefined ? {} : { cover: async (line, cover) => toCommand(await covering(line, cover)) }),
  };
}

/** Files of the workspace that a command must not see because of another name that they have. */
async function findHiddenLinks(scope: SandboxScope, secrets: readonly string[]): Promise<readonly string[]> {
  const { foreign, linked } = await links.below(scope.workspace);
  const here = secretPathsOf(scope, secrets).filter((path) => isWithin(scope.workspace, path));
  return [...new Set([...foreign, ...findSecretTwins(linked, here)])];
}

/** Builds the sandboxed command; `foreign` are files of the workspace that it must not see. */
type ConfineCommand = (line: readonly string[], scope: SandboxScope, foreign: readonly string[]) => SandboxedCommand;

function toCommand(argv: readonly string[]): SandboxedCommand {
  return { program: argv[0] ?? "", argv };
}

/** Runs bubblewrap once: where it is installed, containers often forbid the namespaces that it needs. */
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
    const stdio = withoutLeaks(["ignore", "ignore", "ignore", "pipe"]);
    const child = spawn(program, argv.slice(1), { stdio, timeout: HAND_LIMITS.sandboxTrialMs });
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
    // TMPDIR names a folder of the host that is not in the view.
    ["--unsetenv", "TMPDIR", "--chdir", cwd],
  ].flat();
}
