import type { FactsRule, FileRule, ShellRule } from "@vidro/core/policy";
import { splitWords } from "./rule-builders.ts";

/** Keys and passwords; reading or changing one is denied without asking. */
export const KEYS = splitWords(`
  {state}/** /etc/shadow* /etc/gshadow* /etc/ssh/ssh_host_*_key /etc/ssl/private/**
  {home}/.ssh/id_* /root/.ssh/id_* /home/*/.ssh/id_* /Users/*/.ssh/id_*`);

/** Names of files in a project that usually hold passwords and keys: a person is asked before one is read. */
const PRIVATE_NAMES = splitWords(`
  .env .env.* .envrc .netrc .npmrc .pypirc .pgpass .git-credentials .htpasswd *.pem *.key *.p12 *.pfx *.jks *.keystore
  id_rsa id_dsa id_ecdsa id_ed25519 credentials.json secrets.json secrets.yml secrets.yaml *.tfvars *.tfstate`);

const PRIVATE_FILES = PRIVATE_NAMES.map((name) => `{workspace}/**/${name}`);

/** Paths that no rule allows without approval: the keys, and usual places of credentials. */
export const SECRETS = KEYS.concat(
  splitWords(`
    {home}/.ssh/** /root/.ssh/** /home/*/.ssh/** /Users/*/.ssh/** {home}/.gnupg/** {home}/.aws/** {home}/.azure/**
    {home}/.kube/** {home}/.docker/** {home}/.config/gcloud/** {home}/.config/gh/** {home}/.netrc {home}/.npmrc
    {home}/.pypirc {home}/.pgpass {home}/.my.cnf {home}/.git-credentials {home}/.*_history
    /etc/sudoers /etc/sudoers.d/** /etc/wireguard/** /etc/letsencrypt/** /etc/pki/tls/private/** /etc/*.keytab
    /etc/NetworkManager/system-connections/** /etc/security/opasswd /etc/ppp/*-secrets /etc/ipsec.secrets
    /etc/openvpn/** /etc/mysql/debian.cnf /etc/postfix/sasl_passwd* /etc/kubernetes/** /etc/rancher/** /proc/*/environ`),
  PRIVATE_FILES,
);

/** Folders outside the workspace whose content every user of the host may read. */
export const OPEN_FOLDERS: readonly string[] = splitWords("/etc/** /usr/share/** /usr/lib/os-release /var/log/**");

/** Rules for files, facts and the shell. */
export const FILE_RULES: readonly (FileRule | FactsRule | ShellRule)[] = [
  {
    kind: "file",
    id: "no-keys",
    operations: ["read", "write"],
    paths: KEYS,
    class: "privileged",
    decision: "deny",
    reason: "keys and passwords are never read or written",
    examples: {
      match: ["/etc/shadow", "{home}/.ssh/id_ed25519", "{state}/journal.db", "{workspace}/../../etc/shadow"],
      not_match: ["/etc/passwd", "{workspace}/.ssh/id_rsa"],
    },
  },
  {
    kind: "file",
    id: "read-workspace",
    operations: ["read"],
    inWorkspace: true,
    class: "read",
    decision: "allow",
    examples: {
      match: ["{workspace}/a.txt", "a/../b.txt"],
      not_match: ["../x", "/etc/hosts", "{workspace}2/a.txt", ".env"],
    },
  },
  {
    kind: "file",
    id: "read-private",
    operations: ["read"],
    paths: PRIVATE_FILES,
    class: "privileged",
    decision: "ask",
    reason: "files of that name usually hold passwords or keys",
    examples: {
      match: ["{workspace}/.env", ".env.local", "packages/api/.env", "deploy/server.pem"],
      not_match: ["{workspace}/environment.ts", "src/env.ts", "/srv/other/.env"],
    },
  },
  {
    kind: "file",
    id: "read-host",
    operations: ["read"],
    paths: OPEN_FOLDERS,
    inWorkspace: false,
    class: "read",
    decision: "allow",
    examples: {
      match: ["/etc/os-release", "/var/log/syslog", "/usr/share/doc/a"],
      not_match: ["/etc/shadow", "/etc/sudoers", "/root/a", "/proc/1/environ", "/etc/../root/a"],
    },
  },
  {
    kind: "file",
    id: "write-git",
    operations: ["write"],
    paths: ["{workspace}/.git/**", "{workspace}/*/.git/**"],
    class: "code-exec",
    decision: "ask",
    reason: "what lies in .git can make git run programs",
    examples: { match: ["{workspace}/.git/config", ".git/hooks/pre-commit"], not_match: ["{workspace}/.gitignore"] },
  },
  {
    kind: "file",
    id: "write-workspace",
    operations: ["write"],
    inWorkspace: true,
    class: "write",
    decision: "ask",
    reason: "it changes a file of the workspace",
    examples: { match: ["{workspace}/a.txt"], not_match: ["/etc/hosts", "../a.txt"] },
  },
  {
    kind: "file",
    id: "write-host",
    operations: ["write"],
    inWorkspace: false,
    class: "privileged",
    decision: "ask",
    reason: "it changes a file outside the workspace",
    examples: { match: ["/etc/hosts", "../a.txt"], not_match: ["{workspace}/a.txt"] },
  },
  {
    kind: "facts",
    id: "facts",
    facts: ["*"],
    class: "read",
    decision: "allow",
    examples: { match: ["cpu"], not_match: [] },
  },
  {
    kind: "shell",
    id: "shell-looks",
    access: ["read"],
    sandboxed: true,
    class: "read",
    decision: "allow",
    reason: "the sandbox lets it write nothing and reach no network",
    examples: {
      match: [{ command: "ls | wc -l", access: "read", sandboxed: true }],
      not_match: [
        { command: "ls", access: "read", sandboxed: false },
        { command: "ls", access: "workspace", sandboxed: true },
        { command: "ls", access: "host", sandboxed: true },
      ],
    },
  },
  {
    kind: "shell",
    id: "no-fork-bomb",
    commands: [":(){ :|:& };:", ":(){ :|: & };:"],
    class: "destructive",
    decision: "deny",
    reason: "it starts processes until the host stops",
    examples: {
      match: [{ command: ":(){ :|:& };:", access: "read", sandboxed: true }],
      not_match: [{ command: "ls", access: "host", sandboxed: false }],
    },
  },
];
