import type { ActionClass, ShellAccess, Verdict } from "../tool.ts";

/*
 * A policy as it is written down. A rule speaks of one kind of plan; of all rules that match a plan, the strictest
 * decides: deny beats ask beats allow, whatever their order. What no rule matches is asked.
 *
 * A path pattern is absolute or begins with {workspace}, {home} or {state}. `*` stands for anything within one
 * segment, a last segment `**` for the path itself and everything below it.
 */

/** The decision of a rule. */
export type RuleDecision = Verdict["decision"];

/** The folders that a policy's patterns name: absolute, with symlinks resolved. */
export interface PolicyFolders {
  readonly workspace: string;
  readonly home: string;
  /** The folder of Vidro itself: journal, ledger, keys. */
  readonly state: string;
}

/** A path that matches a pattern and is no secret; `deep` when the command reads all that lies below it. */
export interface PathValue {
  readonly paths: readonly string[];
  readonly deep?: boolean;
}

/** A text that matches one of `like` and none of `unlike`, where `*` stands for anything. */
export interface WordValue {
  readonly like: readonly string[];
  readonly unlike?: readonly string[];
}

/** What an operand, or the value of an option, has to be. */
export type Value = "text" | "number" | WordValue | PathValue;

/** An option alone, with a value, or with a value that may be left out and is otherwise attached (`--color=always`). */
export type OptionValue = "flag" | Value | { readonly attached: Value };

/** Options by name; `-#` stands for a number with a dash, as in `head -20`. */
export type Options = { readonly [name: string]: OptionValue };

/** All that a command may be given: what is not named here does not fit. */
export interface Grammar {
  /** Options in front of the sub-command. */
  readonly before?: Options;
  /** Sub-commands, each one or more words: `status`, `branch --list`. */
  readonly commands?: readonly string[];
  readonly options?: Options;
  /** Operands by position. */
  readonly operands?: readonly Value[];
  /** Whether the last operand may be repeated. */
  readonly many?: boolean;
  /** Whether an option is one whole word with one dash (`find -name`): nothing is combined, nothing is attached. */
  readonly wholeWords?: boolean;
}

/** Patterns that match a command by single arguments, wherever they stand: one of each given list must be present. */
export interface ArgumentPatterns {
  /** The first word that is no option. */
  readonly commands?: readonly string[];
  /** An option, also combined or shortened. */
  readonly options?: readonly string[];
  /** A path, also behind `name=`; `of=/dev/sd*` asks for that name. */
  readonly paths?: readonly string[];
}

/** Which arguments a rule matches. An allow rule must describe all of them: `exact` or `fit`. */
export type Arguments =
  | "any"
  | { readonly exact: readonly (readonly string[])[] }
  | { readonly fit: Grammar }
  | { readonly contain: ArgumentPatterns };

interface RuleHead {
  readonly id: string;
  readonly class: ActionClass;
  readonly decision: RuleDecision;
  /** Why, for the person who is asked or refused. */
  readonly reason?: string;
}

/** Plans that the rule must match, with its decision as the verdict, and plans that it must not match. */
export interface Examples<Example> {
  readonly match: readonly Example[];
  readonly not_match: readonly Example[];
}

/** A rule about programs without a shell; its examples are argv lists. */
export interface ProcessRule extends RuleHead {
  readonly kind: "process";
  /** Names of programs; `*` in one only where the decision is not to allow. */
  readonly program: readonly string[];
  readonly arguments: Arguments;
  /** Where the command has to run, for commands that work on their folder when no path is given. */
  readonly cwd?: PathValue;
  /**
   * What a program that is allowed sees: `host` is for programs that show facts, and names of files, of the whole host
   * but never what is in a file. Left out, it sees the workspace and the system's own folders.
   */
  readonly sees?: "host";
  readonly examples: Examples<readonly string[]>;
}

/** An example for a rule about the shell. */
export interface ShellExample {
  readonly command: string;
  readonly access: ShellAccess;
  readonly sandboxed: boolean;
}

/** A rule about the shell. */
export interface ShellRule extends RuleHead {
  readonly kind: "shell";
  /** Whole command texts, compared letter by letter. */
  readonly commands?: readonly string[];
  readonly access?: readonly ShellAccess[];
  readonly sandboxed?: boolean;
  /** Where the line has to run. */
  readonly cwd?: PathValue;
  readonly examples: Examples<ShellExample>;
}

/** A rule about files; its examples are paths, tried with each of its operations. */
export interface FileRule extends RuleHead {
  readonly kind: "file";
  readonly operations: readonly ("read" | "write")[];
  readonly paths?: readonly string[];
  readonly inWorkspace?: boolean;
  readonly examples: Examples<string>;
}

/** A rule about facts that a tool reads by itself; its examples are names of facts. */
export interface FactsRule extends RuleHead {
  readonly kind: "facts";
  /** Names of facts, `*` for any. */
  readonly facts: readonly string[];
  readonly examples: Examples<string>;
}

/** A rule about pages that are fetched; its examples are addresses. */
export interface FetchRule extends RuleHead {
  readonly kind: "fetch";
  /** Host names; `*.example.org` stands for every host below it, and `*` for any, which no rule allows. */
  readonly hosts: readonly string[];
  readonly examples: Examples<string>;
}

/** A rule about tools of mounted servers; its examples are names of tools. */
export interface OrderRule extends RuleHead {
  readonly kind: "order";
  /** Names of tools as models call them; `*` stands for anything, in rules that ask or deny. */
  readonly tools: readonly string[];
  /** Definitions that the rule was made for, by their sha256; left out, any that has not changed since it was first seen. */
  readonly definitions?: readonly string[];
  readonly examples: Examples<string>;
}

/** One rule of a policy. */
export type Rule = ProcessRule | ShellRule | FileRule | FetchRule | FactsRule | OrderRule;

/** A policy as it is written in a file. */
export interface PolicySource {
  /** Patterns of programs that an allow rule may mean; one in the workspace or the state folder never counts. */
  readonly trusted: readonly string[];
  /** Patterns of paths that no allow rule covers. */
  readonly secrets: readonly string[];
  /** Variables that an allowed command may get (`LC_*` for a family), with the values they may have. */
  readonly env: { readonly [name: string]: "any" | readonly string[] };
  readonly rules: readonly Rule[];
  /** MiB of memory that all processes of a command may have together; default: HAND_LIMITS.treeBytes. */
  readonly memory?: number;
  /** Host names whose pages may be fetched from addresses that are not public; by default none. */
  readonly privateHosts?: readonly string[];
  /** Decision on plans that can reach beyond the workspace without a sandbox; by default the rules decide. */
  readonly host?: "ask" | "deny";
}

/** A checked policy with its folders; only `parsePolicy` makes one. */
export interface Policy extends PolicySource {
  readonly places: PolicyFolders;
  /**
   * Resolves all symlinks of an absolute path; undefined when that fails. Core has no access to the disk, so the caller
   * provides this; without it paths are compared as text only.
   */
  readonly real?: (path: string) => string | undefined;
  /**
   * Why the content of the file at a resolved path is private: other users of the host cannot read it, or it is a hard
   * link to a file outside the workspace. Undefined when it is not private.
   */
  readonly kept?: (path: string) => string | undefined;
  /** Whether a file that a secret of any depth names lies below a path. */
  readonly holdsSecret?: (path: string) => boolean;
  /** Ids of the rules that were added to the shipped ones: they count before those, except that a denial stays. */
  readonly added?: ReadonlySet<string>;
}
