import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decoded, STATE_SECRET } from "./attack.fixture.ts";
import { startAttackedHand } from "./attacked-hand.fixture.ts";

/*
 * Lines that root approved, and what root could reach besides names of files: other processes of root's on the host,
 * and settings that have the kernel start a program.
 */

const isRoot = process.getuid?.() === 0;

test(
  "an approved line sees no state through the processes of a command that runs at the same time",
  { skip: !isRoot },
  async (t) => {
    const hand = await startAttackedHand(t);
    void hand.attempt("shell", { command: "sleep 60", access: "read" });
    void hand.approve("shell", { command: "sleep 60", access: "host" });
    const { decision, text } = await hand.approve("shell", {
      command: `
      below() { for p in $(pgrep -P $1); do echo $p; below $p; done; }
      while [ $(below ${hand.pid} | xargs -n 1 -I {} cat /proc/{}/comm 2>/dev/null | grep -c sleep) -lt 2 ]; do sleep 0.05; done
      for p in $(below ${hand.pid}); do
        cat /proc/$p/root${decoded(hand.state)}/token /proc/$p/cwd/../d/vidro/token
        cat /proc/$p/comm
      done 2>&1; echo end`,
      access: "host",
    });
    assert.equal(decision, "ask");
    assert.match(text, /bwrap[^]*end/);
    assert.doesNotMatch(text, new RegExp(STATE_SECRET));
  },
);

/** Settings that name a program which the kernel runs, or that decide what runs. */
const SETTINGS = [
  "/proc/sys/kernel/core_pattern",
  "/proc/sys/kernel/modprobe",
  "/proc/sys/kernel/hotplug",
  "/proc/sys/kernel/poweroff_cmd",
  "/sys/kernel/uevent_helper",
  "/sys/fs/cgroup/*/release_agent",
];

test("an approved line of root does not name a program to the kernel", { skip: !isRoot }, async (t) => {
  const hand = await startAttackedHand(t);
  const before = readFileSync("/proc/sys/kernel/core_pattern", "utf8");
  for (const setting of SETTINGS) {
    // What stands there is written again: nothing changes, should it succeed.
    const { text } = await hand.approve("shell", {
      command: `for f in ${setting}; do [ -e $f ] || continue; v=$(cat $f); { echo "$v" >$f; } 2>&1 && echo WRITTEN; done; echo end`,
      access: "host",
    });
    assert.match(text, /end/);
    assert.doesNotMatch(text, /WRITTEN/, setting);
  }
  for (const command of [
    "mount -o remount,rw /proc/sys; umount /proc/sys",
    "unshare -Urmpf sh -c 'mount -t proc proc /mnt && cat /mnt/sys/kernel/core_pattern >/mnt/sys/kernel/core_pattern && echo WRITTEN'",
    "unshare -Urm sh -c 'umount /proc/sys || mount -o remount,bind,rw /proc/sys'; cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern && echo WRITTEN",
    "nsenter -t 1 -m sh -c 'cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern && echo WRITTEN'",
  ])
    assert.doesNotMatch((await hand.approve("shell", { command, access: "host" })).text, /^WRITTEN/m, command);
  assert.equal(readFileSync("/proc/sys/kernel/core_pattern", "utf8"), before);
  const { text } = await hand.approve("shell", {
    command: "echo 5 >/proc/self/oom_score_adj && echo own",
    access: "host",
  });
  assert.match(text, /own/);
});

test("an approved line of root has no power to remove its cover", { skip: !isRoot }, async (t) => {
  const hand = await startAttackedHand(t);
  const { text } = await hand.approve("shell", { command: "grep CapBnd /proc/self/status", access: "host" });
  const bounding = BigInt(`0x${/CapBnd:\s*([0-9a-f]+)/.exec(text)?.[1] ?? "f".repeat(16)}`);
  // dac_read_search, sys_module, sys_rawio, sys_ptrace, sys_admin, mknod.
  for (const power of [2n, 16n, 17n, 19n, 21n, 27n]) assert.equal((bounding >> power) & 1n, 0n, `${power}: ${text}`);
});
