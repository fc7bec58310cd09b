import type { Arguments, ProcessRule } from "@vidro/core/policy";
import { optionsOf, flags, exampleLines, readOnlyRule } from "./rule-builders.ts";

/*
 * Read-only git commands. None of them writes a file (--output), runs a program of the caller's choice (-c, --ext-diff,
 * --textconv, --show-signature, %G) or leaves the repository (--no-index, -C). The settings in .git can still name
 * programs: an external diff, a text conversion, a filter, a fetch command. A repository from an archive can contain
 * such settings. These commands are allowed because the sandbox confines git, and every program it runs, to reading.
 */

const BEFORE = flags("--no-pager -P --no-optional-locks");

/** Revision names are judged as paths too, so that none can lead out of the workspace. */
const HERE = { paths: ["{workspace}/**"] } as const;

/** `%G?` in a format runs the program that checks signatures. */
const FORMAT = { like: ["*"], unlike: ["*%G*"] } as const;

const HISTORY = {
  ...flags(`
    --oneline --shortstat --numstat --name-only --name-status --summary --graph --all --branches --tags --remotes
    --no-merges --merges --first-parent --reverse --patch -p -u --no-patch -s --no-color -w -b -i --ignore-all-space
    --ignore-space-change --cached --staged --follow --abbrev-commit --no-ext-diff --no-textconv --check --binary
    --no-renames --merge-base --no-decorate --full-index --raw -z --patch-with-stat --topo-order --date-order`),
  ...optionsOf("--stat --decorate --color --word-diff --find-renames -M --abbrev --dirstat", { attached: "text" }),
  ...optionsOf("--date --author --committer --grep --since --until --after --before --diff-filter -S -G -L", "text"),
  ...optionsOf("-n --max-count --skip -U --unified --min-parents --max-parents", "number"),
  "--format": FORMAT,
  "--pretty": { attached: FORMAT },
  "-#": "flag",
} as const;

interface Examples {
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

const git = (id: string, args: Arguments, { match, notMatch }: Examples): ProcessRule =>
  readOnlyRule(id, "git", { arguments: args, cwd: HERE, examples: exampleLines(match, notMatch) });

/** Read-only git commands for the repository in the workspace. */
export const GIT_RULES: readonly ProcessRule[] = [
  git(
    "git-status",
    {
      fit: {
        before: BEFORE,
        commands: ["status"],
        options: {
          ...flags("-s --short -b --branch --long -z --show-stash"),
          ...optionsOf("--porcelain -u --untracked-files --ignored", { attached: "text" }),
        },
        operands: [HERE],
        many: true,
      },
    },
    {
      match: ["git status", "git --no-pager status -sb", "git status --porcelain=v2"],
      notMatch: [
        "git -c core.fsmonitor=x status",
        "git -C / status",
        "git --git-dir=/x status",
        "git --exec-path=/x status",
      ],
    },
  ),
  git(
    "git-history",
    {
      fit: {
        before: BEFORE,
        commands: ["log", "diff", "show", "shortlog"],
        options: { ...HISTORY, ...flags("-e") },
        operands: [HERE],
        many: true,
      },
    },
    {
      match: ["git log --oneline -20", "git diff HEAD~1 -- src", "git show HEAD:a.txt", "git log --format=%h"],
      notMatch: [
        "git log --output=x",
        "git log --outp=x",
        "git diff --ext-diff",
        "git diff --textconv",
        "git log --format=%G?",
        "git diff --no-index a /etc/passwd",
        "git diff a ../../etc/passwd",
        "git log --show-signature",
        "git push",
      ],
    },
  ),
  git(
    "git-branches",
    {
      fit: {
        before: BEFORE,
        // Without --list an operand is the name of a branch to make.
        commands: ["branch --list", "tag --list", "tag -l", "stash list"],
        options: { ...flags("-a -r -v --all --remotes --oneline"), "-n": { attached: "number" } },
        operands: ["text"],
        many: true,
      },
    },
    {
      match: ["git branch --list fix/*", "git tag -l", "git stash list"],
      notMatch: ["git branch new", "git branch -D main", "git branch --list -D main", "git tag v1", "git stash"],
    },
  ),
  git(
    "git-names",
    {
      fit: {
        before: BEFORE,
        commands: ["branch", "tag", "remote"],
        options: flags("-a -r -v --all --remotes --show-current --verbose"),
      },
    },
    {
      match: ["git branch", "git branch -avv", "git branch --show-current", "git remote -v"],
      notMatch: ["git branch -d x", "git branch x", "git remote add x y", "git tag -d v1"],
    },
  ),
  git(
    "git-objects",
    {
      fit: {
        before: BEFORE,
        commands: ["rev-parse", "ls-files", "ls-tree", "describe", "merge-base", "rev-list", "blame", "cat-file"],
        options: {
          ...flags(`
            --show-toplevel --git-dir --is-inside-work-tree --verify -q -m -o -d -s -z -r -t -p -w -l --others --modified
            --cached --deleted --exclude-standard --name-only --tags --always --long --count --all --full-name --error-unmatch`),
          ...optionsOf("--short --abbrev-ref --abbrev --dirty", { attached: "text" }),
          ...optionsOf("-n --max-count", "number"),
          "-L": "text",
          "-#": "flag",
        },
        operands: [HERE],
        many: true,
      },
    },
    {
      match: ["git rev-parse --abbrev-ref HEAD", "git ls-files -mo --exclude-standard", "git blame -L 1,5 a.txt"],
      notMatch: [
        "git rev-parse --parseopt",
        "git ls-files -X /etc/passwd",
        "git blame --contents /etc/passwd a",
        "git cat-file --textconv a",
      ],
    },
  ),
];
