import type { PolicySource } from "@vidro/core/policy";
import { ASK_RULES } from "./default-policy/ask-rules.ts";
import { DENY_RULES } from "./default-policy/deny-rules.ts";
import { FILE_RULES, SECRETS } from "./default-policy/file-rules.ts";
import { GIT_RULES } from "./default-policy/git-rules.ts";
import { INSTALLED_RULES } from "./default-policy/installed-rules.ts";
import { READER_RULES } from "./default-policy/reader-rules.ts";
import { SYSTEM_RULES } from "./default-policy/system-rules.ts";
import { splitWords } from "./default-policy/rule-builders.ts";

/**
 * Variables for every command, so that a read-only command in a project runs none of its files: no pager, no file
 * monitor, no hook, no question on a terminal, no warning of an unknown locale. The settings of a repository cannot
 * override them.
 */
export const QUIET_ENV = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  SYSTEMD_PAGER: "cat",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "core.fsmonitor",
  GIT_CONFIG_VALUE_0: "false",
  GIT_CONFIG_KEY_1: "core.hooksPath",
  GIT_CONFIG_VALUE_1: "/dev/null",
  PERL_BADLANG: "0",
} as const;

const PLAIN_VARIABLES =
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM TZ TMPDIR PWD COLUMNS LINES NO_COLOR XDG_RUNTIME_DIR VIDRO_*";

/**
 * The shipped policy: reading the host and the workspace is allowed, a few destructive commands are denied, and
 * everything else needs approval.
 */
export const DEFAULT_POLICY: PolicySource = {
  trusted: splitWords(`
    /usr/bin/* /bin/* /usr/sbin/* /sbin/* /usr/local/bin/* /usr/local/sbin/*
    /usr/lib/** /usr/local/lib/** /usr/libexec/** /usr/share/** /opt/homebrew/** /nix/store/**`),
  secrets: SECRETS,
  env: {
    ...Object.fromEntries(splitWords(PLAIN_VARIABLES).map((name) => [name, "any" as const])),
    ...Object.fromEntries(Object.entries(QUIET_ENV).map(([name, value]) => [name, [value]])),
  },
  rules: [
    ...DENY_RULES,
    ...ASK_RULES,
    ...SYSTEM_RULES,
    ...INSTALLED_RULES,
    ...READER_RULES,
    ...GIT_RULES,
    ...FILE_RULES,
  ],
};
