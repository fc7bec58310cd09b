import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProcessPlan, Verdict } from "@vidro/core";
import { judgePlan, parsePolicy, type Policy } from "@vidro/core/policy";
import { reasonWords } from "@vidro/core/text";
import * as fc from "fast-check";
import { DEFAULT_POLICY, QUIET_ENV } from "./default-policy.ts";

const PLACES = { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" };
const POLICY = parsePolicy(JSON.parse(JSON.stringify(DEFAULT_POLICY)), PLACES);

function judgeArgv(argv: readonly string[], more: Partial<ProcessPlan> = {}, policy: Policy = POLICY): Verdict {
  const env = { PATH: "/usr/bin:/bin", HOME: "/home/ada", LC_ALL: "C", ...QUIET_ENV };
  const program = `/usr/bin/${argv[0]}`;
  // A host with a sandbox: only what it holds is allowed without a question.
  const held = { confined: "files" } as const;
  return judgePlan(
    { kind: "process", program, argv, cwd: PLACES.workspace, env, timeoutMs: 1000, digests: {}, ...held, ...more },
    policy,
  );
}

test("the reason of every shipped rule has words in each language", () => {
  const reasons = new Set(DEFAULT_POLICY.rules.flatMap(({ reason }) => reason ?? []));
  assert.ok(reasons.size > 20);
  for (const reason of reasons)
    for (const language of ["pt", "es"] as const) assert.notEqual(reasonWords(reason, language), reason, language);
});

const judgeLine = (line: string, more: Partial<ProcessPlan> = {}): Verdict => judgeArgv(line.split(" "), more);

const processRules = DEFAULT_POLICY.rules.filter((rule) => rule.kind === "process");
const allowRules = processRules.filter((rule) => rule.decision === "allow");
const fill = (word: string): string =>
  word.replace("{workspace}", PLACES.workspace).replace("{home}", PLACES.home).replace("{state}", PLACES.state);
const allowed = fc.constantFrom(...allowRules.flatMap((rule) => rule.examples.match.map((argv) => argv.map(fill))));
const forbidden = allowRules.flatMap((rule) => rule.examples.not_match.map((argv) => argv.map(fill)));

test("the default policy allows a look at the host and at the workspace", () => {
  const host =
    "uname -a|df -h|free -m|ps aux|uptime|ss -tulpn|ip a|ip -br link show|lsblk|id|whoami|hostname|date|du -sh .";
  const workspace =
    "ls -la|cat README.md|grep -rn REVIEW .|rg foo|find . -name *.ts|git status|git log -5|git diff|wc -l a";
  const versions =
    "node --version|npm --version|python3 --version|journalctl -u ssh -n 20 --no-pager|systemctl status ssh";
  for (const line of [host, workspace, versions].flatMap((lines) => lines.split("|"))) {
    const verdict = judgeLine(line);
    assert.deepEqual([verdict.decision, verdict.class], ["allow", "read"], `${line}: ${verdict.reason}`);
  }
});

test("without a sandbox a person is asked about every program", () => {
  for (const rule of allowRules) {
    const words = rule.examples.match[0]?.map(fill) ?? [];
    const { decision, reason } = judgePlan({ ...barePlan(words), confined: "files" }, POLICY);
    assert.deepEqual([rule.id, decision], [rule.id, "allow"], reason);
    assert.equal(judgePlan(barePlan(words), POLICY).decision, "ask", rule.id);
  }
  assert.match(judgePlan(barePlan(["git", "status"]), POLICY).reason, /no sandbox of this host holds it/);
});

function barePlan(argv: readonly string[]): ProcessPlan {
  const program = `/usr/bin/${argv[0]}`;
  return { kind: "process", program, argv, cwd: PLACES.workspace, env: {}, timeoutMs: 1, digests: {} };
}

test("the default policy allows programs by the files they really are", () => {
  const npm = { program: "/usr/local/lib/node_modules/npm/bin/npm-cli.js" };
  assert.equal(judgeLine("npm --version", npm).decision, "allow");
  assert.equal(judgeLine("ls", { program: "/bin/busybox" }).decision, "allow");
});

test("the default policy allows reading files of the workspace and open files of the host, facts, and a shell that can only look", () => {
  const file = (path: string, inWorkspace: boolean): Verdict =>
    judgePlan({ kind: "file", operation: "read", path, inWorkspace }, POLICY);
  assert.equal(file("/srv/work/a", true).decision, "allow");
  assert.equal(file("/etc/os-release", false).decision, "allow");
  assert.equal(file("/opt/a", false).decision, "ask");
  assert.equal(file("/proc/self/environ", false).decision, "ask");
  assert.equal(judgePlan({ kind: "facts", facts: "system" }, POLICY).decision, "allow");
  const shell = { kind: "shell", command: "ls | wc", cwd: "/srv/work", env: {}, timeoutMs: 1 } as const;
  assert.equal(judgePlan({ ...shell, access: "read", sandboxed: true }, POLICY).decision, "allow");
  assert.equal(judgePlan({ ...shell, access: "read", sandboxed: false }, POLICY).decision, "ask");
  assert.equal(judgePlan({ ...shell, access: "workspace", sandboxed: true }, POLICY).decision, "ask");
});

test("the default policy asks about options that run programs, write files or never end", () => {
  const lines = [
    "git log --output=x|git log --output x|git -c core.pager=x log|git --exec-path=. status|git diff --ext-diff|git grep -Ox a",
    "git log --format=%G?|git diff --no-index a b|git branch x|git -C .. log|git --git-dir=x log|git show --textconv HEAD",
    "find . -exec id ;|find . -name a -delete|find . -fprintf x y|find . -okdir id ;|find . -name a -newerXY x -execdir id ;",
    "rg --pre id a|rg --pre=id a|rg --hostname-bin=id a|sort -o a b|sort -oa b|sort -no a b|sort --output=a b|uniq a b",
    "tar cf a b --checkpoint=1 --checkpoint-action=exec=id|journalctl -f|journalctl -fu a|journalctl --vacuum-size=1|tail -f a",
    "date -s x|date --set=x|date -us x|date 01010101|ip link set a up|ip addr add 1.1.1.1 dev a|ip -batch x|hostname x",
    "systemctl stop a|systemctl -H x status|dmesg -C|ss -K|ss dst a.example|getent hosts a.example|who a|node version|sysctl a=1|env -S id|env ls|xargs ls|sh -c ls|busybox ls|awk 1 a",
  ];
  for (const line of lines.flatMap((group) => group.split("|"))) assert.equal(judgeLine(line).decision, "ask", line);
});

test("the default policy asks about paths that lead out of the workspace", () => {
  const lines =
    "cat ../a|cat a/../../b|cat /home/ada/x|cat -- ../a|head -n1 /opt/a|grep x ../a|grep -- x ../a|rg x /opt|find /";
  for (const line of lines.split("|")) assert.equal(judgeLine(line).decision, "ask", line);
  assert.equal(judgeLine("git status", { cwd: "/opt" }).decision, "ask");
  assert.equal(judgeLine("cat a", { cwd: "/opt" }).decision, "ask");
});

test("the default policy asks about a search that would come across secrets", () => {
  const home = parsePolicy(DEFAULT_POLICY, { ...PLACES, workspace: "/home/ada" });
  assert.equal(judgeArgv(["grep", "-r", "x", "."], { cwd: "/home/ada" }, home).decision, "ask");
  assert.equal(judgeArgv(["rg", "x"], { cwd: "/home/ada" }, home).decision, "ask");
  assert.equal(judgeArgv(["rg", "x"], { cwd: "/home/ada/project" }, home).decision, "allow");
});

test("the default policy asks about a program that only has the name of a known one", () => {
  assert.equal(judgeLine("ls", { program: "/srv/work/ls" }).decision, "ask");
  assert.equal(judgeLine("./ls", { program: "/srv/work/ls" }).decision, "ask");
  assert.equal(judgeLine("git status", { program: "/home/ada/bin/git" }).decision, "ask");
  assert.equal(judgeLine("git status", { env: { GIT_CONFIG_COUNT: "9" } }).decision, "ask");
  assert.equal(judgeLine("ls", { env: { LD_PRELOAD: "x" } }).decision, "ask");
});

test("the default policy asks with the class of what is at stake", () => {
  const stakes = {
    "npm test": "code-exec",
    "cargo test": "code-exec",
    "make test": "code-exec",
    pytest: "code-exec",
  };
  const more = {
    "sudo ls": "privileged",
    "curl x": "network",
    "rm a": "destructive",
    "cp a b": "write",
    "git push": "network",
  };
  for (const [line, expected] of Object.entries({ ...stakes, ...more })) {
    const verdict = judgeLine(line);
    assert.deepEqual([verdict.decision, verdict.class], ["ask", expected], line);
  }
  const write = { kind: "file", operation: "write" } as const;
  assert.equal(judgePlan({ ...write, path: "/srv/work/a", inWorkspace: true }, POLICY).class, "write");
  assert.equal(judgePlan({ ...write, path: "/etc/hosts", inWorkspace: false }, POLICY).class, "privileged");
  assert.equal(judgePlan({ ...write, path: "/srv/work/.git/config", inWorkspace: true }, POLICY).class, "code-exec");
});

test("the default policy denies what destroys the host, also behind a wrapper", () => {
  const lines = [
    "rm -rf /|rm -r --no-preserve-root /|sudo rm -fr /usr|timeout 9 rm -R /home/ada|rm -rf /srv/../etc|mkfs.ext4 /dev/sda|mkfs a",
    "dd if=/dev/zero of=/dev/sda|sudo dd of=/dev/nvme0n1|reboot|shutdown -h now|systemctl poweroff|sudo tee /dev/sda",
  ];
  for (const line of lines.flatMap((group) => group.split("|"))) assert.equal(judgeLine(line).decision, "deny", line);
});

test("the default policy denies keys, passwords and our own state", () => {
  for (const line of [
    "cat /etc/shadow",
    "sudo cat /etc/shadow",
    "cp /home/ada/.ssh/id_rsa x",
    "cat ../../etc/shadow",
    "tee /etc/shadow",
  ])
    assert.equal(judgeLine(line).decision, "deny", line);
  for (const path of [
    "/etc/shadow",
    "/home/ada/.ssh/id_ed25519",
    "/home/eve/.ssh/id_rsa",
    "/home/ada/.vidro/journal.db",
  ])
    for (const operation of ["read", "write"] as const)
      assert.equal(judgePlan({ kind: "file", operation, path, inWorkspace: false }, POLICY).decision, "deny", path);
});

test("the default policy never allows what the not_match examples of its allow rules forbid", () => {
  for (const argv of forbidden) {
    const program = argv[0]?.startsWith("./") ? `/srv/work/${argv[0]}` : `/usr/bin/${argv[0]}`;
    assert.notEqual(judgeArgv(argv, { program }).decision, "allow", argv.join(" "));
  }
});

test("the default policy never allows an allowed command with an unknown option anywhere after its program", () => {
  const option = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8 }).map((name) => `--zq${name}`),
    fc.constantFrom("--output=x", "--exec=x", "-@", "--pre=x", "--config=x"),
  );
  fc.assert(
    fc.property(allowed, option, fc.nat(20), (argv, unknown, where) => {
      // Behind `--` it is no option but a name.
      const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
      const widened = argv.toSpliced(1 + (where % end), 0, unknown);
      const known = ["df", "lsblk", "journalctl"].includes(argv[0] ?? "") && unknown === "--output=x";
      if (!known) assert.notEqual(judgeArgv(widened).decision, "allow", widened.join(" "));
    }),
    { numRuns: 2000 },
  );
});

test("the default policy never allows an allowed command whose word has an invisible letter, or whose program lies in the workspace", () => {
  fc.assert(
    fc.property(allowed, fc.nat(20), fc.constantFrom("\n", "\\\n", "\0", "\u202E"), (argv, where, letter) => {
      const at = where % argv.length;
      const altered = argv.with(at, `${argv[at]}${letter}`);
      assert.notEqual(judgeArgv(altered, { program: `/usr/bin/${argv[0]}` }).decision, "allow");
      assert.notEqual(judgeArgv(argv, { program: `${PLACES.workspace}/${argv[0]}` }).decision, "allow");
    }),
  );
});
