import type { ActionClass } from "@vidro/core";
import type { Arguments, ProcessRule } from "@vidro/core/policy";
import { exampleLines, splitWords } from "./rule-builders.ts";

interface Question {
  readonly arguments: Arguments;
  readonly class: ActionClass;
  readonly reason: string;
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

const askRule = (id: string, program: string, question: Question): ProcessRule => ({
  kind: "process",
  id,
  program: splitWords(program),
  arguments: question.arguments,
  class: question.class,
  decision: "ask",
  reason: question.reason,
  examples: exampleLines(question.match, question.notMatch),
});

const commands = (line: string): Arguments => ({ contain: { commands: splitWords(line) } });

/*
 * Commands without a rule need approval as well; these rules exist so that the question states the risk.
 */

/** Commands that need approval, with a reason for the person who decides. */
export const ASK_RULES: readonly ProcessRule[] = [
  askRule("another-user", "sudo su doas pkexec runuser", {
    arguments: "any",
    class: "privileged",
    reason: "it acts with the rights of another user",
    match: ["sudo ls", "su -"],
    notMatch: ["ls"],
  }),
  askRule("wrapped", "env sh bash dash zsh xargs nohup timeout nice parallel watch busybox", {
    arguments: "any",
    class: "code-exec",
    reason: "it runs another command that is hidden in its arguments",
    match: ["env -S ls", "sh -c ls", "timeout 5 ls"],
    notMatch: ["ls"],
  }),
  askRule("project-code", "npm pnpm yarn make cargo go just rake", {
    arguments: commands("test t run start exec ci install i add build bench x publish"),
    class: "code-exec",
    reason: "it runs code of the project or of its packages",
    match: ["npm test", "make test", "cargo test", "npm --silent run build"],
    notMatch: ["npm --version", "go version"],
  }),
  askRule("project-tests", "pytest tox jest vitest mocha ctest", {
    arguments: "any",
    class: "code-exec",
    reason: "it runs code of the project",
    match: ["pytest -q"],
    notMatch: ["python3 --version"],
  }),
  askRule("network", "curl wget ssh scp sftp rsync nc ncat telnet ping traceroute dig nslookup host", {
    arguments: "any",
    class: "network",
    reason: "it talks to another host",
    match: ["curl http://a.example", "ssh host ls"],
    notMatch: ["ss -tln"],
  }),
  askRule("git-network", "git", {
    arguments: commands("push pull fetch clone ls-remote submodule"),
    class: "network",
    reason: "it talks to another repository",
    match: ["git push", "git --no-pager fetch origin"],
    notMatch: ["git status", "git log push"],
  }),
  askRule("git-write", "git", {
    arguments: commands("add commit checkout switch restore merge rebase reset revert rm mv clean gc init am apply"),
    class: "write",
    reason: "it changes the repository, and hooks of the project may run",
    match: ["git commit -m x", "git reset --hard"],
    notMatch: ["git show", "git diff commit"],
  }),
  askRule("removal", "rm rmdir unlink shred truncate", {
    arguments: "any",
    class: "destructive",
    reason: "what it removes does not come back",
    match: ["rm a", "rm -rf build"],
    notMatch: ["ls"],
  }),
  askRule("file-changes", "mkdir touch cp mv ln tee chmod chown install patch", {
    arguments: "any",
    class: "write",
    reason: "it changes files",
    match: ["mkdir -p a", "cp a b"],
    notMatch: ["cat a"],
  }),
  askRule("ending-processes", "kill pkill killall xkill", {
    arguments: "any",
    class: "destructive",
    reason: "it ends processes",
    match: ["kill 1234"],
    notMatch: ["ps aux"],
  }),
  askRule("packages", "apt apt-get dnf yum zypper apk pacman brew snap", {
    arguments: "any",
    class: "privileged",
    reason: "it may change what is installed",
    match: ["apt-get install x", "apt list"],
    notMatch: ["apt-cache policy x", "dpkg -l"],
  }),
  askRule("service-changes", "systemctl", {
    arguments: commands("start stop restart reload enable disable mask unmask kill edit daemon-reload set-property"),
    class: "privileged",
    reason: "it changes a service of the host",
    match: ["systemctl restart ssh"],
    notMatch: ["systemctl status ssh", "systemctl is-active stop"],
  }),
];
