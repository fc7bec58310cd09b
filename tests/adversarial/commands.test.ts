import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { approved, target } from "./attack.fixture.ts";
import type { Target } from "./attack.fixture.ts";

/* Commands that do more than their names say: each would leave a mark outside of the workspace. */

/** Commands that leave the mark when a person lets them, so that a mark that is missing means something. */
const MARKING: readonly (readonly string[])[] = [
  ["sh", "-c", "echo x > {mark}"],
  ["bash", "-ec", "echo x > {mark}"],
  ["env", "touch", "{mark}"],
  ["env", "-S", "touch {mark}"],
  ["env", "X=1", "touch", "{mark}"],
  ["nohup", "touch", "{mark}"],
  ["timeout", "5", "touch", "{mark}"],
  ["nice", "-n", "5", "touch", "{mark}"],
  ["setsid", "-w", "touch", "{mark}"],
  ["stdbuf", "-o0", "touch", "{mark}"],
  ["xargs", "-a", "a.txt", "touch", "{mark}"],
  ["find", ".", "-maxdepth", "0", "-exec", "touch", "{mark}", ";"],
  ["find", ".", "-maxdepth", "0", "-execdir", "touch", "{mark}", ";"],
  ["find", ".", "-maxdepth", "0", "-fprint", "{mark}"],
  ["find", ".", "-maxdepth", "0", "-fprintf", "{mark}", "x"],
  ["find", ".", "-fls", "{mark}"],
  ["awk", 'BEGIN { system("touch {mark}") }'],
  ["sed", "-n", "1w {mark}", "a.txt"],
  ["sed", "1e touch {mark}", "a.txt"],
  ["perl", "-e", 'open(F, ">", "{mark}")'],
  ["tar", "cf", "/dev/null", "a.txt", "--checkpoint=1", "--checkpoint-action=exec=touch {mark}"],
  ["git", "-c", "alias.x=!touch {mark}", "x"],
  ["git", "diff", "--output={mark}", "--no-index", "a.txt", "b.txt"],
  ["git", "diff", "--output", "{mark}", "--no-index", "a.txt", "b.txt"],
  ["sort", "-o", "{mark}", "a.txt"],
  ["sort", "-o{mark}", "a.txt"],
  ["sort", "-nro", "{mark}", "a.txt"],
  ["sort", "--outp={mark}", "a.txt"],
  ["sort", "a.txt", "--output", "{mark}"],
  ["sort", "-S", "1b", "--compress-program=./evil.sh", "long.txt"],
  ["ssh", "-o", "BatchMode=yes", "-o", "ProxyCommand=touch {mark}", "a.invalid"],
  ["uniq", "a.txt", "{mark}"],
  ["tee", "{mark}"],
  ["dd", "if=a.txt", "of={mark}"],
  ["cp", "a.txt", "{mark}"],
  ["ln", "-s", "a.txt", "{mark}"],
  ["node", "version"],
  ["perl", "version"],
  ["make", "version"],
  ["make", "-f", "Makefile"],
  ["./evil.sh"],
  ["./ls"],
];

async function prepared(t: Parameters<typeof target>[0]): Promise<Target> {
  const made = await target(t);
  const { mark, put } = made;
  put("a.txt", "a\n");
  put("b.txt", "b\n");
  put("long.txt", "a line of text\n".repeat(2000));
  put("evil.sh", `#!/bin/sh\ntouch ${mark}\ncat\n`);
  put("ls", `#!/bin/sh\ntouch ${mark}\n`);
  // One file that both node and perl run.
  put("version", `eval('typeof process') ? require("fs").writeFileSync("${mark}", "") : open(F, ">", "${mark}")\n`);
  put("Makefile", `version:\n\ttouch ${mark}\n.PHONY: version\n`);
  return made;
}

const filled = (argv: readonly string[], { mark }: Target): string[] =>
  argv.map((word) => word.replace("{mark}", mark));

test("no command that would write outside of the workspace runs unless a person lets it", async (t) => {
  const at = await prepared(t);
  for (const argv of MARKING) {
    const line = filled(argv, at);
    const { decision, fault } = await at.run(...line);
    assert.equal(at.isHarmed(), false, line.join(" "));
    assert.deepEqual([decision, fault], ["ask", "APPROVAL_DENIED"], line.join(" "));
  }
});

test("each of these commands leaves its mark when a person lets it", async (t) => {
  const at = await prepared(t);
  const harmless: string[] = [];
  for (const argv of MARKING) {
    const [command = "", ...args] = filled(argv, at);
    await approved(at.hand, "command", { command, args });
    if (!readdirSync(at.outside).includes("mark")) harmless.push(argv.join(" "));
    rmSync(at.mark, { force: true });
  }
  assert.deepEqual(harmless, [], "a command that never leaves a mark proves nothing by leaving none");
});

/** More of the same kind: programs that a host may lack, and effects that leave no file. */
const ASKED: readonly string[] = [
  "busybox touch {mark}|xargs -I{} touch {mark}|python3 -c open('{mark}','w')|man -P touch a|less -o{mark} a.txt|vi -es -c :w!{mark}",
  "rg --pre ./evil.sh a|rg --pre=./evil.sh a|rg --hostname-bin=./evil.sh a|rg --search-zip a|git grep -O./evil.sh a",
  "git grep --open-files-in-pager=./evil.sh a|git --exec-path=. status|git -C .. log|git --git-dir=x log|git log --format=%G?",
  "git diff --ext-diff|git show --textconv HEAD|git branch x|git config core.pager ./evil.sh|git -P -c a=b log|git version --x",
  "find . -delete|find . -ok touch {mark} ;|find -- . -delete|find . -newerXY x -delete|find -D exec . -delete|find -L .",
  "tail -f a.txt|tail -1f a.txt|tail -F a.txt|tail --follow a.txt|tail --pid=1 a.txt|journalctl -f|journalctl --rotate",
  "journalctl -nf|journalctl --vacuum-size=1|journalctl --file=a.txt|journalctl -D .|systemctl stop a|systemctl edit a",
  "systemctl -H a.invalid status|systemctl --root=. status|systemctl -- stop a|systemctl kill a|ip -batch a.txt|ip -b a.txt",
  "ip -n a link|ip netns exec a touch {mark}|ip link set lo down|ip addr flush dev lo|ss -K|ss -tK|ss -D {mark}|ss -F a.txt|ss -tF a",
  "date -s now|date --set=now|date -us now|date 01010101|date -f a.txt|date -r a.txt|hostname a|hostname -F a.txt|hostname -- a",
  "hostnamectl hostname a|timedatectl set-time 1|sysctl -w a=1|sysctl vm.swappiness=1|sysctl -p a.txt|dmesg -C|dmesg -w|mount -a",
  "top|top -b|wc --files0-from=a.txt|wc --files0=a.txt|du --files0-from=a.txt|du -X a.txt|grep -f a.txt b.txt|grep -R a .|file -C -m a",
  "file -f a.txt|file -z a.txt|sha256sum -c a.txt|tree -o {mark}|tree --fromfile a.txt|ls --hyperlink|ls --zero|cut --version-x a",
  "docker run x|docker ps -a --format x|npm test|npm exec x|npx x|yarn|go run x|cargo run|gcc version|java version|node -v a.js",
  "redis-server version|psql version|sqlite3 version|php version|ruby version|python3 version|rustc version|rg version /|who a.txt",
];

test("commands that would do harm in other ways are asked about, refused or not there", async (t) => {
  const at = await prepared(t);
  for (const line of ASKED.flatMap((group) => group.split("|"))) {
    const { decision } = await at.run(...filled(line.split(" "), at));
    assert.notEqual(decision, "allow", line);
    assert.equal(at.isHarmed(), false, line);
  }
});

test("a word of another script, a blank that is none and a line end make no other command of one that is allowed", async (t) => {
  const at = await prepared(t);
  const plain = await at.run("cat", "a.txt");
  assert.deepEqual([plain.decision, plain.text], ["allow", "a\n"]);
  for (const letter of [
    "\n",
    "\r",
    "\\\n",
    "\u202e",
    "\u200b",
    "\u2028",
    "\u00a0",
    "\u3164",
    "\ufe0f",
    "\u{e0041}",
    "\u2800",
  ]) {
    const { decision } = await at.run("cat", `a.txt${letter}`);
    assert.equal(decision, "ask", JSON.stringify(letter));
  }
  assert.equal((await at.run("сat", "a.txt")).fault, "BAD_ARGUMENTS", "a Cyrillic c");
  assert.equal((await at.run("cat\u200b", "a.txt")).fault, "BAD_ARGUMENTS");
  assert.equal((await at.run("cat", "a.txt\0--help")).fault, "BAD_ARGUMENTS");
  assert.equal((await at.run("cat a.txt; touch mark")).fault, "BAD_ARGUMENTS");
});

test("no shell reads the words of a command", async (t) => {
  const at = await prepared(t);
  const words = [
    ";",
    "|",
    "&&",
    ">",
    "$(touch mark)",
    "`touch mark`",
    "$HOME",
    "*",
    "~",
    "'",
    '"',
    "!!",
    "{a,b}",
    "a  b",
  ];
  const { decision, text } = await at.run("echo", ...words);
  assert.equal(decision, "allow");
  assert.equal(text, `${words.join(" ")}\n`);
  assert.equal(existsSync(join(at.workspace, "mark")), false);
});

test("an operand that begins with a dash is a file behind -- and an option before it", async (t) => {
  const at = await prepared(t);
  at.put("-n", "the file\n");
  assert.deepEqual((await at.run("cat", "--", "-n")).text, "the file\n");
  for (const argv of [
    ["sort", "a.txt", "-o", at.mark],
    ["sort", "a.txt", `-o${at.mark}`, "--"],
    ["grep", "--", "-e", "../work-outside/secret.txt"],
    ["cat", "--", "--", "../work-outside/secret.txt"],
    ["head", "-n", "-n", "../work-outside/secret.txt"],
    ["journalctl", "-n", "--rotate"],
    ["date", "-d", "--set=now"],
  ]) {
    assert.notEqual((await at.run(...argv)).decision, "allow", argv.join(" "));
    assert.equal(at.isHarmed(), false);
  }
});

test("a program that a project or a search path puts in the way is not the one that is meant", async (t) => {
  const planted = await target(t);
  const bin = join(planted.workspace, "node_modules/.bin");
  for (const name of ["ls", "git", "cat"])
    planted.put(`node_modules/.bin/${name}`, `#!/bin/sh\ntouch ${planted.mark}\n`);
  const env = { PATH: `${bin}::.:node_modules/.bin:/usr/bin:/bin` };
  const at = await target(t, { env, workspace: planted.workspace, state: join(planted.state, "other") });
  for (const name of ["ls", "cat", "git"]) {
    await approved(at.hand, "shell", { command: `${name} --version`, dir_path: "node_modules/.bin" });
    await approved(at.hand, "command", { command: name, args: ["--version"], cwd: "node_modules/.bin" });
    assert.equal(planted.isHarmed(), false, name);
    const direct = await at.run(join(bin, name), "--version");
    assert.equal(direct.decision, "ask", `${name} by its path`);
  }
  symlinkSync("/usr/bin/ls", join(planted.workspace, "look"));
  symlinkSync("/usr/bin/ls", join(planted.workspace, "cat"));
  for (const link of ["./look", "./cat"])
    assert.equal((await at.run(link)).decision, "ask", `${link} is a link to a program`);
});
