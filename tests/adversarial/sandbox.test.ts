import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { approved, judged, perform, STATE_SECRET, target } from "./attack.fixture.ts";

/*
 * Lines that a shell may run by itself because a sandbox holds it to reading, and what they try to take the sandbox
 * down with. The hand may well run as root: then only the sandbox stands between such a line and the host.
 */

/** Each line would leave the mark if it got through. */
const ESCAPES = [
  "touch {mark}",
  "mount -o remount,rw / && touch {mark}",
  "mount -o remount,bind,rw / && touch {mark}",
  "mount --bind /tmp {outside} && umount {outside}; touch {mark}",
  "umount -l {outside}; umount -l /; touch {mark}",
  "unshare -m sh -c 'mount -o remount,rw / && touch {mark}'",
  "unshare -Urm sh -c 'mount -o remount,rw,bind / && touch {mark}'",
  "nsenter -t 1 -m touch {mark}",
  "chroot /proc/1/root touch {mark}",
  "touch /proc/1/root{mark}",
  "touch /proc/self/root{mark}",
  "setsid -f touch {mark}; (sleep 0.1; touch {mark}) & wait",
  "exec 3>{mark}",
  "ln {outside}/secret.txt {mark}",
  "mv {outside}/secret.txt {mark}",
  "chmod 777 {outside}; truncate -s 0 {outside}/secret.txt",
  "cd {outside} && dd if=/dev/zero of=mark count=1",
];

test("no line that is held to reading writes anything, however it tries", async (t) => {
  const at = await target(t, { inSight: true });
  for (const escape of ESCAPES) {
    const command = escape.replaceAll("{mark}", at.mark).replaceAll("{outside}", at.outside);
    const { decision } = await at.attempt("shell", { command, access: "read" });
    assert.equal(decision, "allow", command);
    assert.equal(at.isHarmed(), false, command);
  }
});

test("a line that is held to the workspace writes there and nowhere else, however it tries", async (t) => {
  const at = await target(t, { inSight: true });
  symlinkSync(at.outside, join(at.workspace, "folder"));
  for (const escape of [
    ...ESCAPES,
    "touch folder/mark",
    "ln -s {outside} x; touch x/mark",
    "touch ../work-outside/mark",
  ]) {
    const command = escape.replaceAll("{mark}", at.mark).replaceAll("{outside}", at.outside);
    await approved(at.hand, "shell", { command: `echo ran >> log; ${command}`, access: "workspace" });
    assert.equal(at.isHarmed(), false, command);
  }
  const runs = readFileSync(join(at.workspace, "log"), "utf8").trim().split("\n").length;
  assert.equal(runs, ESCAPES.length + 3);
});

test("a sandboxed line changes no setting of the kernel and makes no device", async (t) => {
  const at = await target(t, { inSight: true });
  const look = async (command: string) => (await at.attempt("shell", { command, access: "read" })).text;
  for (const file of ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness", "/proc/sys/kernel/hostname"]) {
    const before = readFileSync(file, "utf8");
    // What is written is what is there, so that a wall that fails does no harm.
    const text = await look(`cat ${file} > /tmp/same && cat /tmp/same > ${file} && echo written`);
    assert.doesNotMatch(text, /written/, file);
    assert.equal(readFileSync(file, "utf8"), before);
  }
  assert.doesNotMatch(await look("mknod /tmp/disk b 8 0 && echo made"), /made/);
  assert.doesNotMatch(await look("mknod /dev/disk b 8 0 && echo made"), /made/);
  assert.match(await look("grep CapEff /proc/self/status"), /CapEff:\t000000000000000[02]\n/);
});

test("a sandboxed line sees neither our state nor what policy calls secret, not even by taking the covers off", async (t) => {
  const at = await target(t, { inSight: true });
  const history = join(homedir(), `.vidro_attack_${process.pid}_history`);
  writeFileSync(history, "kept-in-a-history\n");
  t.after(() => rmSync(history));
  symlinkSync(join(at.state, "token"), join(at.workspace, "token"));
  const lines = [
    `cat ${at.state}/token token`,
    `umount ${at.state}; cat ${at.state}/token`,
    `umount -l ${at.state}; cat /proc/1/root${at.state}/token`,
    `unshare -Urm sh -c 'umount ${at.state}; cat ${at.state}/token'`,
    `cat ${history}; umount ${history}; cat ${history}`,
    "cat /etc/shadow /etc/shadow-; umount /etc/shadow; cat /etc/shadow",
    "cat /etc/ssh/ssh_host_*_key",
    `grep -r kept- ${at.state} ${history}`,
  ];
  for (const command of lines) {
    const { text } = await at.attempt("shell", { command, access: "read" });
    assert.ok(!text.includes(STATE_SECRET) && !text.includes("kept-in-a-history"), command);
    assert.doesNotMatch(text, /root:[*!$]|PRIVATE KEY/, command);
  }
});

test("a sandboxed line sees what a policy file of one's own calls secret as little", async (t) => {
  const at = await target(t, { inSight: true });
  const secrets = [join(at.outside, "*.txt")];
  const verdict = { decision: "allow", rule: "all", class: "read", reason: "The test wants it so." } as const;
  const policy = { version: "own", secrets, judge: () => verdict };
  const own = await target(t, { inSight: true, policy, workspace: at.workspace, state: join(at.state, "own") });
  const { text } = await perform(own.hand, "shell", { command: `cat ${at.outside}/secret.txt`, access: "read" });
  assert.doesNotMatch(text, /kept-from/);
});

test("a sandboxed line reaches no server of the host, by address or by socket", async (t) => {
  const at = await target(t, { inSight: true });
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  for (const command of [
    `echo x > /dev/tcp/127.0.0.1/${address.port}`,
    `unshare -n true; echo x > /dev/tcp/localhost/${address.port}`,
    `nsenter -t 1 -n bash -c 'echo x > /dev/tcp/127.0.0.1/${address.port}'`,
    "ls /run/docker.sock /run/dbus /run/systemd/private",
  ]) {
    const { text } = await at.attempt("shell", { command, access: "read" });
    assert.match(text, /\[exit code [1-9]/, command);
  }
  assert.equal(calls, 0);
});

test("a workspace in a secret folder is seen, and the folder around it is not", async (t) => {
  const at = await target(t, { inSight: true });
  const nested = join(at.state, "projects/mine");
  mkdirSync(nested, { recursive: true });
  writeFileSync(join(nested, "a.txt"), "mine\n");
  const own = await target(t, { workspace: nested, state: join(at.state, "hand2"), reserved: at.state });
  const { hash } = await judged(own.hand, "shell", { command: "cat a.txt; cat ../../token", access: "read" });
  const { text } = await perform(own.hand, "shell", { command: "cat a.txt; cat ../../token", access: "read" }, hash);
  assert.match(text, /^mine\n/);
  assert.ok(!text.includes(STATE_SECRET));
  assert.ok(existsSync(join(at.state, "token")));
});
