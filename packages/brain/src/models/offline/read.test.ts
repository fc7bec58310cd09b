import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { hasTestTarget, readFolderNames, readGitState, readListing, readSizes } from "./read-files.ts";
import {
  readFacts,
  readInodes,
  readMemory,
  readMemoryFacts,
  readProcessorCount,
  readProcessors,
  readUname,
  readUptime,
  readVolumes,
} from "./read-machine.ts";
import { quote, readOutput } from "./read-output.ts";
import { readInterfaces, readListeners, readProcessList, readPs, readSessions, readUser } from "./read-work.ts";

describe("a reader", () => {
  it("takes the words of a process apart", () => {
    assert.deepEqual(readOutput("out\n\n[stderr]\nerr\n[exit code 3]"), {
      stdout: "out",
      stderr: "err",
      exitCode: 3,
      timedOut: false,
    });
    assert.deepEqual(readOutput("[stderr]\nerr"), { stdout: "", stderr: "err", exitCode: 0, timedOut: false });
    const cut = readOutput("out\n[timed out after 10 ms]\n[ended by SIGTERM]");
    assert.deepEqual(cut, { stdout: "out", stderr: "", exitCode: 0, timedOut: true, signal: "SIGTERM" });
  });

  it("sees real file systems only, the root first, and mounts with spaces", () => {
    const volumes = readVolumes(
      [
        "Filesystem 1024-blocks Used Available Capacity Mounted on",
        "tmpfs 1000000 0 1000000 0% /dev/shm",
        "/dev/loop3 65536 65536 0 100% /snap/core/1",
        "/dev/sdb1 4000000 1000000 3000000 25% /media/My Disk",
        "map auto_home 0 0 0 100% /home",
        "/dev/sda1 2000000 500000 1400000 27% /",
      ].join("\n"),
    );
    assert.deepEqual(
      volumes?.map(({ mount, usedBytes, freeBytes }) => [mount, usedBytes / 1024, freeBytes / 1024]),
      [
        ["/", 500_000, 1_400_000],
        ["/media/My Disk", 1_000_000, 3_000_000],
      ],
    );
    assert.deepEqual(readVolumes("tmpfs 1000000 0 1000000 0% /dev/shm")?.length, 1);
  });

  it("reads uptime in every form that it takes", () => {
    const minutes = (spent: string) =>
      readUptime(` 10:00:00 up ${spent},  2 users,  load average: 0.10, 0.20, 0.30`)?.minutes;
    assert.equal(minutes("14 min"), 14);
    assert.equal(minutes("3:05"), 185);
    assert.equal(minutes("1 day, 2:03"), 1563);
    assert.equal(minutes("12 days, 7 min"), 17_287);
    assert.deepEqual(readUptime("10:00  up 3 days, 1 hr, 1 user, load averages: 1,50 2,25 3,00")?.load, [1.5, 2.25, 3]);
  });

  it("reads memory whatever language the labels are in", () => {
    const text = "      total usado livre compart. buff disponível\nMem.: 4096 1 2 3 4 1024\nSwap: 100 25 75";
    assert.deepEqual(readMemory(text), {
      totalBytes: 4096,
      availableBytes: 1024,
      swapTotalBytes: 100,
      swapUsedBytes: 25,
    });
  });

  it("joins the addresses and owners of one port", () => {
    const text = [
      "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess",
      'LISTEN 0 511 0.0.0.0:80 0.0.0.0:* users:(("nginx",pid=12,fd=6),("nginx",pid=11,fd=6))',
      'LISTEN 0 511 [::]:80 [::]:* users:(("nginx",pid=12,fd=7))',
      "LISTEN 0 128 127.0.0.1:22 0.0.0.0:*",
    ].join("\n");
    assert.deepEqual(readListeners(text), [
      { port: 22, addresses: ["127.0.0.1"], owners: [] },
      {
        port: 80,
        addresses: ["0.0.0.0", "[::]"],
        owners: [
          { name: "nginx", pid: 12 },
          { name: "nginx", pid: 11 },
        ],
      },
    ]);
  });

  it("reads the tool for processes and its count", () => {
    const text =
      "PID\tPPID\tUSER\tCPU%\tMEM MiB\tSTATE\tCOMMAND\n7\t1\tada\t12.5\t2.0\tS\tnode a.js\n[1 of 3 shown, 90 in all]";
    assert.deepEqual(readProcessList(text), {
      rows: [{ pid: 7, user: "ada", cpuPercent: 12.5, memoryBytes: 2 * 1024 * 1024, command: "node a.js" }],
      total: 3,
    });
  });

  it("reads a branch with and without a remote", () => {
    assert.deepEqual(readGitState("## main...origin/main [ahead 1, behind 2]\n M a"), {
      branch: "main",
      tracking: "ahead 1, behind 2",
      changes: [" M a"],
    });
    assert.deepEqual(readGitState("## No commits yet on trunk"), { branch: "trunk", changes: [] });
    assert.equal(readGitState("fatal: no"), undefined);
  });

  it("finds a test target and nothing that only looks like one", () => {
    assert.ok(hasTestTarget("a:\n\ntest: build\n\tgo\n"));
    assert.ok(!hasTestTarget("TEST := 1\ntest := 2\nunittest:\n\ttest: x"));
  });

  it("shows output behind a bar and without control characters", () => {
    assert.equal(quote("a\u001b[31mb\u0007\n{}\n"), "    │ ab\n    │ {}");
    assert.equal(quote("x\n".repeat(500), "tail").split("\n")[0], "    │ …");
  });

  it("never throws and never makes a figure out of nothing", () => {
    const readers = [
      readVolumes,
      readInodes,
      readMemory,
      readProcessors,
      readProcessorCount,
      readUptime,
      readUname,
      readFacts,
      readMemoryFacts,
      readInterfaces,
      readListeners,
      readProcessList,
      readPs,
      readUser,
      readGitState,
      readFolderNames,
    ];
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        for (const read of [...readers, readSizes, readListing, readSessions, quote]) read(text);
      }),
    );
    for (const read of readers) assert.equal(read("sorry"), undefined, read.name);
  });
});
