import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { openPolicy } from "@vidro/hands";
import { approved, SECRET, STATE_SECRET, target } from "./attack.fixture.ts";
import type { Target } from "./attack.fixture.ts";

/*
 * What policy allows without a question, while its paths come to mean something else: the sandbox holds a command to
 * what the verdict was about at the moment of its run, and not only at the moment of the verdict.
 */

const VIDRO = resolve(import.meta.dirname, "../../packages/cli/bin/vidro");

const showsSecret = (text: string): boolean => text.includes(SECRET) || text.includes(STATE_SECRET);

/** Symlinks that lead out of the workspace for a program that runs there, and nowhere, or elsewhere, for the hand. */
const AWAY = [
  "/proc/self/cwd/../vidro/token",
  "/proc/self/cwd/../work-outside/secret.txt",
  "/proc/thread-self/cwd/../work-outside/secret.txt",
  "/proc/self/task/../cwd/../vidro/token",
  "/proc/self/root/proc/self/cwd/../vidro/token",
];

const READERS = "cat|head -c 99|tail -n 9|sort|uniq|cut -c 1-99|grep -a .|grep -ra .|diff a.txt|file -b|rg -uuu .";

test("a link that means one file to the hand and another to the program gives nothing out", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("a.txt", "in the workspace\n");
  for (const [index, to] of AWAY.entries()) symlinkSync(to, join(at.workspace, `link${index}`));
  for (const reader of READERS.split("|"))
    for (const index of AWAY.keys()) {
      const { text } = await at.run(...reader.split(" "), `link${index}`);
      assert.ok(!showsSecret(text), `${reader} ${AWAY[index]}: ${text}`);
    }
});

test("a link that is swapped while a command is judged and run gives nothing out", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("a.txt", "in the workspace\n");
  const loop = `
    const { renameSync, symlinkSync } = require("node:fs");
    for (;;) for (const to of ["a.txt", "../vidro/token", "a.txt", "../work-outside/secret.txt"]) {
      symlinkSync(to, "next"); renameSync("next", "link");
    }`;
  const swapper = spawn(process.execPath, ["-e", loop], { cwd: at.workspace, stdio: "ignore" });
  t.after(() => swapper.kill("SIGKILL"));
  let shown = 0;
  for (let attempt = 0; attempt < 120; attempt += 1) {
    const { decision, text } = await at.run("cat", "link");
    assert.ok(!showsSecret(text), `attempt ${attempt} was ${decision} and gave a secret away`);
    if (text.includes("in the workspace")) shown += 1;
  }
  assert.ok(shown > 0, "no attempt read the file that may be read");
});

test("a program does not read a hard link to a file outside without a question, and reads one within", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("a.txt", "in the workspace\n");
  linkSync(join(at.workspace, "a.txt"), join(at.workspace, "b.txt"));
  linkSync(join(at.outside, "secret.txt"), join(at.workspace, "hard"));
  assert.equal((await at.run("cat", "b.txt")).text, "in the workspace\n");
  for (const reader of ["cat", "head -c 99", "sort", "grep -a ."])
    assert.equal((await at.run(...reader.split(" "), "hard")).decision, "ask", reader);
});

/** The lines that a command of the host prints when nothing holds it. */
const outside = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: "utf8" });

test("facts of the host are true without a question: mounts, disks, processes, names", async (t) => {
  const at = await target(t, { inSight: true });
  const said = async (...argv: readonly string[]): Promise<string> => {
    const { decision, text } = await at.run(...argv);
    assert.equal(decision, "allow", argv.join(" "));
    return text;
  };
  assert.equal(await said("df", "--output=target,fstype"), outside("df", "--output=target,fstype"));
  assert.equal(await said("mount"), outside("mount"));
  assert.equal(await said("cat", "/proc/mounts"), readFileSync("/proc/mounts", "utf8"));
  assert.match(await said("ps", "-e", "-o", "pid"), new RegExp(`^ *${process.pid}$`, "m"));
  assert.equal((await said("hostname")).trim(), hostname());
  assert.equal(await said("uname", "-a"), outside("uname", "-a"));
  assert.equal(await said("cat", "/etc/os-release"), readFileSync("/etc/os-release", "utf8"));
  assert.equal(await said("ls", "-a", at.outside), ".\n..\nsecret.txt\n");
  assert.deepEqual((await said("ls", "/usr")).trim().split("\n"), readdirSync("/usr").sort());
  for (const line of ["free -m", "uptime", "id", "nproc", "lscpu", "du -sh .", "stat a", "date", "git --version"]) {
    at.put("a", "");
    assert.doesNotMatch(await said(...line.split(" ")), /exit code|bwrap/, line);
  }
});

test("a host without a sandbox asks about what it would otherwise allow", (t: TestContext) => {
  const home = mkdtempSync(join(tmpdir(), "vidro-bare-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const without = ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"];
  const env = { ...process.env, VIDRO_HOME: home };
  const explain = (...wrapper: readonly string[]): unknown => {
    const [program, ...args] = [...wrapper, VIDRO];
    return JSON.parse(
      execFileSync(program ?? VIDRO, [...args, "policy", "explain", "--json", "uname"], {
        encoding: "utf8",
        env,
        cwd: home,
      }),
    ).decision;
  };
  assert.equal(explain(), "allow");
  assert.equal(explain("/usr/bin/bwrap", ...without), "ask");
});

test("a policy that keeps the host from what nothing holds is not overruled by an approval", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-shut-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "policy.json");
  writeFileSync(file, JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [], host: "deny" }));
  const at = await target(t, { policy: openPolicy({ file, workspace: folder, state: folder }) });
  for (const [tool, input] of [
    ["shell", { command: "touch mark" }],
    ["shell", { command: "touch mark", access: "host" }],
    ["shell", { command: "touch mark", access: "all" }],
    ["command", { command: "touch", args: ["mark"], access: "all" }],
    ["command", { command: "su", args: ["-c", "touch mark"] }],
    ["edit", { file_path: join(at.outside, "secret.txt"), old_string: SECRET, new_string: "x" }],
    ["command", { command: "touch", args: ["mark"] }],
    ["write_file", { file_path: at.mark, content: "x" }],
  ] as const) {
    const { decision, fault } = await approved(at.hand, tool, input);
    assert.deepEqual([decision, fault], ["deny", "POLICY_DENIED"], tool);
  }
  const { fault } = await approved(at.hand, "shell", { command: "touch mark", access: "workspace" });
  assert.equal(fault, undefined);
  assert.ok(readdirSync(at.workspace).includes("mark"));
});

test("a line or command that has more memory than the policy leaves it is ended and told, and the hand lives", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-small-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "policy.json");
  writeFileSync(file, JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [], memory: 100 }));
  const at = await target(t, { policy: openPolicy({ file, hostFile: false, workspace: folder, state: folder }) });
  const eats = `perl -e '$x = "x" x (150 << 20); sleep 100'`;
  const script = at.put("eat.sh", `#!/bin/sh\n${eats} & ${eats} & wait\n`);
  for (const [tool, input] of [
    ["shell", { command: eats, access: "host" }],
    ["shell", { command: eats, access: "all" }],
    ["command", { command: script }],
  ] as const) {
    const { text } = await approved(at.hand, tool, input);
    assert.match(text, /\[ended: its processes had more memory than 100 MiB\]/, JSON.stringify(input));
  }
  const held = await approved(at.hand, "shell", { command: `${eats}; true`, access: "workspace" });
  assert.match(held.text, /Out of memory/i);
  assert.equal((await approved(at.hand, "shell", { command: "echo lives" })).text, "lives\n");
});

/** Runs a line that may only look, and gives what it shows. */
async function look(at: Target, command: string): Promise<string> {
  const { decision, text } = await at.attempt("shell", { command, access: "read" });
  assert.equal(decision, "allow", command);
  return text;
}

test("a line that may only look sees no home, no other project and no state, by whatever name", async (t) => {
  const at = await target(t, { inSight: true });
  const folder = dirname(at.workspace);
  for (const name of [".env", ".config/service/key.json", ".local/share/keyrings/login", "notes/passwords.txt"]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${SECRET}\n`);
  }
  linkSync(join(at.state, "token"), join(folder, "token"));
  symlinkSync(folder, join(at.workspace, "up"));
  for (const command of [
    "cat up/.en* up/notes/pass*.txt ../.en* ../tok*",
    `grep -rs kept- ${folder} ${at.outside} ${at.state} up/ /root /home /srv /opt /mnt`,
    `cat /proc/*/root${folder}/.en* /proc/*/cwd/../.en* /proc/self/root${folder}/tok*`,
    `find / -xdev -name 'passwords.txt' -exec cat {} +; cat /proc/*/environ`,
  ]) {
    // A line that names a file of secrets is denied; any other sees nothing of them.
    const { decision, text } = await at.attempt("shell", { command, access: "read" });
    assert.ok(["allow", "deny"].includes(decision), `${command}: ${decision}`);
    assert.ok(!/kept-|PATH=.*VIDRO_HOME/.test(text), command);
  }
  assert.equal((await at.attempt("shell", { command: "cat up/.env", access: "read" })).decision, "deny");
  assert.match(await look(at, "echo ok > /tmp/a && cat /tmp/a && ls /usr/bin/env"), /ok\n\/usr\/bin\/env/);
});

test("a folder that a held program would not see is no place for it to run in unasked", async (t) => {
  const at = await target(t, { inSight: true });
  const run = (cwd: string) => at.attempt("command", { command: "cat", args: ["/etc/os-release"], cwd });
  assert.equal((await run(at.workspace)).decision, "allow");
  assert.equal((await run("/etc")).decision, "allow");
  assert.equal((await run(at.outside)).decision, "ask");
  const { decision, fault } = await at.attempt("shell", { command: "pwd", access: "read", dir_path: at.outside });
  assert.deepEqual([decision, fault], ["refused", "BAD_ARGUMENTS"]);
});

test("files of /etc and /var/log that are closed to others are not read without a question", async (t) => {
  const at = await target(t, { inSight: true });
  // Some folders are closed to the test as well, and find says so.
  const closed = ["/etc", "/var/log", "-type", "f", "!", "-perm", "-o=r", "-size", "+0"];
  const { stdout } = spawnSync("find", closed, { encoding: "utf8" });
  const paths = stdout.split("\n").filter((path) => path !== "");
  assert.ok(paths.includes("/etc/shadow"));
  for (const path of paths) {
    // A line that names a file of secrets is denied; of any other it sees nothing.
    const { decision, text } = await at.attempt("shell", { command: `head -c 9 ${path}`, access: "read" });
    assert.ok(decision === "deny" || /Permission denied|No such file/.test(text), `${path}: ${decision} ${text}`);
    assert.notEqual((await at.run("head", "-c", "9", path)).decision, "allow", path);
    assert.notEqual((await at.attempt("read_file", { file_path: path })).decision, "allow", path);
  }
  assert.equal((await at.run("cat", "/etc/hostname")).decision, "allow");
});

/** Numbers of calls that nothing in a sandbox has a use for, by architecture. */
const CALLS: { readonly [arch: string]: { readonly [name: string]: number } } = {
  x64: { add_key: 248, request_key: 249, keyctl: 250, ptrace: 101, unshare: 272, setns: 308, memfd_create: 319 },
  arm64: { add_key: 217, request_key: 218, keyctl: 219, ptrace: 117, unshare: 97, setns: 268, memfd_create: 279 },
};

test("a held program has no keyring, no namespace and no other process's memory", async (t) => {
  const at = await target(t, { inSight: true });
  for (const [name, call] of Object.entries(CALLS[process.arch] ?? {})) {
    const command = `perl -e '$! = 0; my $a = ""; print syscall(${call}, 0, 0, 0, 0), " ", $!+0'`;
    assert.match(await look(at, command), /^-1 1(\n|$)/, name);
  }
  assert.match(
    await look(at, "unshare -U true || echo refused; grep Seccomp: /proc/self/status"),
    /refused\nSeccomp:\t2/,
  );
  const { text } = await at.run("grep", "Seccomp:", "/proc/self/status");
  assert.doesNotMatch(text, /Seccomp:\t0/);
});

test("a line has no more memory than its bound, neither its own nor in its folders", async (t) => {
  const at = await target(t, { inSight: true });
  assert.match(await look(at, `perl -e 'my $x = "x" x (3 << 30); print "all of it"' 2>&1`), /Out of memory|exit code/);
  assert.match(await look(at, "head -c 400M /dev/zero > /tmp/large || echo full"), /full/);
  assert.match(await look(at, "echo x > /new || echo held"), /held/);
});
