import { isWithin } from "../files/is-within.ts";
import { SECRETS } from "../policy/default-policy/file-rules.ts";
import { readMounts } from "../files/mounts.ts";
import { INHERITED_DESCRIPTOR } from "./inherited-descriptor.ts";
import { Cell, DATA_DESCRIPTOR, type CellPlan } from "./sandbox/cell.ts";
import { findSecretTwins, ForeignLinks } from "./sandbox/foreign-links.ts";
import { seccompFilter } from "./sandbox/seccomp-filter.ts";
import type { ScreenedPlace } from "./sandbox/process-screen.ts";
import { enterNamespace, findCover, hasNamespaces, type CoveredLine, type CoverScope } from "./sandbox/state-cover.ts";
import { buildFileView, secretPathsOf, type SandboxScope, type ViewPart } from "./sandbox/file-view.ts";
import { WarmCells, type CellRequest } from "./sandbox/warm-cells.ts";

export { isInView, type SandboxScope } from "./sandbox/file-view.ts";

/** A command line that runs another one under a cover. */
interface CoveredCommand {
  /** Absolute path. */
  readonly program: string;
  readonly argv: readonly string[];
  /** The place that its process enters before it executes the program. */
  readonly screen?: ScreenedPlace;
}

/** Confines commands by means of the kernel. */
export interface Sandbox {
  /** A sandbox for one command within the scope. Throws when no process can be started. */
  hold(scope: SandboxScope): Promise<Cell>;
  /** Sets a sandbox up for the next command within the scope, unless one waits. */
  warm(scope: SandboxScope): Promise<void>;
  /**
   * The command that runs a line as the user, with each reserved folder replaced by an empty one. Files, processes and
   * network are otherwise the host's. Programs cannot gain rights that would undo the cover: set-user-id bits have no
   * effect, and root may not mount or inspect other processes. Undefined on hosts that cannot cover folders.
   */
  cover?(line: readonly string[], cover: CoverScope): Promise<CoveredCommand>;
}

const BUBBLEWRAP = "/usr/bin/bwrap";
/**
 * The only capability that root keeps in the sandbox: to read and write the files in its view. With any other one it
 * could leave the sandbox by mounting, creating devices or opening files by handle.
 */
const ROOT_KEEPS = ["--cap-add", "CAP_DAC_OVERRIDE"];

/** Further capabilities that root keeps to read facts of the host: owners of sockets, and the kernel log. */
const ROOT_KEEPS_FOR_FACTS = ["--cap-add", "CAP_SYS_PTRACE", "--cap-add", "CAP_SYSLOG"];

const links = new ForeignLinks();
const cells = new WarmCells();
let works: Promise<boolean> | undefined;
let knownFilters: SeccompFilters | undefined;

/**
 * The sandbox of this host; undefined if none works, which is probed once per process. Commands in it do not see files
 * that match the patterns of secrets.
 */
export async function findHostSandbox(secrets: readonly string[] = SECRETS): Promise<Sandbox | undefined> {
  const filters = (knownFilters ??= findFilters());
  if (filters === undefined) return undefined;
  works ??= probeSandbox(filters);
  if (!(await works)) return undefined;
  const covering = findCover(BUBBLEWRAP);
  const request = async (scope: SandboxScope): Promise<CellRequest> => {
    const foreign = await findHiddenLinks(scope, secrets);
    const mounts = readMounts();
    // Bubblewrap's own process stays outside of its sandbox, where other commands of root could look through it.
    const entry = hasNamespaces() ? await enterNamespace(scope, mounts) : [];
    const plan = planCell(scope, filters, { secrets, foreign });
    const surroundings = JSON.stringify([mounts.text, scope.reserved]);
    return { kind: kindOf(scope), plan: { ...plan, words: [...entry, ...plan.words] }, surroundings };
  };
  return {
    hold: async (scope) => cells.take(await request(scope)),
    warm: async (scope) => {
      if (!cells.has(kindOf(scope))) cells.warm(await request(scope));
    },
    ...(covering === undefined ? {} : { cover: async (line, cover) => toCommand(await covering(line, cover)) }),
  };
}

/** Commands of one kind run in cells that are alike as long as nothing changes on the host. */
function kindOf({ state, workspace, confined }: SandboxScope): string {
  return JSON.stringify([state, workspace, confined]);
}

/** Ends the sandboxes of a hand that wait for a command. */
export function endWaitingCells(state: string): void {
  cells.endAll(state);
}

/** The filters of system calls, by whether they allow sockets. */
interface SeccompFilters {
  readonly withSockets: Uint8Array;
  readonly without: Uint8Array;
}

function findFilters(): SeccompFilters | undefined {
  const [withSockets, without] = [true, false].map((sockets) => seccompFilter(process.arch, { sockets }));
  return withSockets === undefined || without === undefined ? undefined : { withSockets, without };
}

/** Files that a sandbox hides: the patterns of secrets, and files of the workspace. */
interface HiddenFiles {
  readonly secrets: readonly string[];
  readonly foreign: readonly string[];
}

function planCell(scope: SandboxScope, filters: SeccompFilters, { secrets, foreign }: HiddenFiles): CellPlan {
  const view = buildFileView(scope, secrets, foreign);
  const data = view.flatMap((part) => part.data ?? []);
  const optionsOf = ({ data: own, options }: ViewPart): readonly string[] => {
    if (own === undefined) return options;
    // Times cannot be given to a file of a read-only mount; what is written to one of the hand's bytes is lost.
    const option = own.seconds === undefined ? "--ro-bind-data" : "--bind-data";
    return ["--perms", own.rights, option, String(DATA_DESCRIPTOR + data.indexOf(own)), own.at];
  };
  const words = [
    [BUBBLEWRAP, "--seccomp", String(INHERITED_DESCRIPTOR)],
    ...view.map(optionsOf),
    isolationOptions(scope),
    ["--"],
  ].flat();
  const filter = scope.confined === "files" ? filters.without : filters.withSockets;
  return { words, filter, view, data, env: scope.env, state: scope.state };
}

/** Files of the workspace that a command must not see because of another name that they have. */
async function findHiddenLinks(scope: SandboxScope, secrets: readonly string[]): Promise<readonly string[]> {
  if (scope.confined === "facts") return [];
  const { foreign, linked } = await links.below(scope.workspace);
  const here = secretPathsOf(scope, secrets).filter((path) => isWithin(scope.workspace, path));
  return [...new Set([...foreign, ...findSecretTwins(linked, here)])];
}

function toCommand({ words: argv, screen }: CoveredLine): CoveredCommand {
  return { program: argv[0] ?? "", argv, ...(screen === undefined ? {} : { screen }) };
}

/** Runs bubblewrap once: where it is installed, containers often forbid the namespaces that it needs. */
async function probeSandbox(filters: SeccompFilters): Promise<boolean> {
  const scope = { confined: "files", workspace: "/usr", state: "/nonexistent", reserved: [], env: {} } as const;
  try {
    const cell = Cell.open(planCell(scope, filters, { secrets: [], foreign: [] }));
    cell.prepare();
    const isReady = await cell.isReady();
    cell.end();
    return isReady;
  } catch {
    return false;
  }
}

function isolationOptions({ confined }: SandboxScope): readonly string[] {
  const isFacts = confined === "facts";
  const isRoot = process.getuid?.() === 0;
  return [
    isFacts ? [] : ["--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    confined === "workspace" ? ["--unshare-net"] : [],
    ["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    isRoot ? ROOT_KEEPS : [],
    isRoot && isFacts ? ROOT_KEEPS_FOR_FACTS : [],
    // TMPDIR names a folder of the host that is not in the view.
    ["--unsetenv", "TMPDIR", "--chdir", "/"],
  ].flat();
}
