import type { Language } from "@vidro/core/text";

/** The intents that change something: each is one command, which the policy of the hand asks about. */
const CHANGES = [
  "commit",
  "copy",
  "delete",
  "install",
  "kill",
  "make-branch",
  "make-file",
  "make-folder",
  "rename",
  "restart",
  "start-service",
  "stop-service",
  "switch-branch",
] as const;

/** The intents that look at something. */
const LOOKS = [
  "accounts",
  "addresses",
  "containers",
  "count-commits",
  "count-files",
  "count-lines",
  "cpu",
  "cron",
  "date",
  "dependencies",
  "disk",
  "dns",
  "env",
  "file-info",
  "find",
  "folder",
  "folder-size",
  "gateway",
  "git-author",
  "git-authors",
  "git-blame",
  "git-branch",
  "git-branches",
  "git-diff",
  "git-log",
  "git-remote",
  "git-show",
  "git-stash",
  "git-status",
  "git-tags",
  "gpu",
  "help",
  "hostname",
  "inodes",
  "installed",
  "kernel",
  "kernel-log",
  "language",
  "largest",
  "largest-folders",
  "list",
  "load",
  "log-errors",
  "log-tail",
  "logged-in",
  "memory",
  "os",
  "packages",
  "ports",
  "processes-count",
  "project",
  "reach",
  "read",
  "run",
  "running",
  "search",
  "service",
  "services",
  "start",
  "swap",
  "tests",
  "time",
  "top-cpu",
  "top-memory",
  "uptime",
  "version",
  "whoami",
] as const;

/** What a task can ask for; each has a file of phrases of its name. */
export const INTENTS = [...CHANGES, ...LOOKS] as const;

/** The name of what is asked for. */
export type Intent = (typeof INTENTS)[number];

const changes: ReadonlySet<string> = new Set(CHANGES);

/** Whether an intent changes something. */
export function isChange(intent: Intent): boolean {
  return changes.has(intent);
}

/** What a person asks for, and what was read from the words about it. */
export interface Want {
  readonly kind: Intent;
  /** A file or folder, as it was written. */
  readonly path?: string;
  /** The second path of a move or a copy. */
  readonly to?: string;
  /** A process, service, package, program, host, person, branch or variable. */
  readonly name?: string;
  /** A text to search for, or the message of a commit. */
  readonly text?: string;
  /** Names of files. */
  readonly pattern?: string;
  /** How many rows. */
  readonly count?: number;
  /** A port or a process. */
  readonly number?: number;
  /** Lines of a file: from the beginning, from the end, or one by its number. */
  readonly first?: number;
  readonly last?: number;
  readonly line?: number;
  /** Changed within so many minutes, or, when `older`, longer ago. */
  readonly minutes?: number;
  readonly older?: boolean;
  /** At least as large, in MiB. */
  readonly mebibytes?: number;
  readonly folders?: boolean;
  readonly empty?: boolean;
  /** A command line. */
  readonly command?: string;
  /** A commit. */
  readonly revision?: string;
}

/** What was understood of a task, and in which language to answer; no wants means that it was not understood. */
export interface Understanding {
  readonly language: Language;
  readonly wants: readonly Want[];
  /** How many more were asked for than one task may hold. */
  readonly leftOut: number;
  /** What comes nearest to a task that was not understood. */
  readonly nearest: readonly Intent[];
}
