import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ActionEnd, Hand, Order } from "@vidro/core";
import { REMOTE_HANDS } from "../support/remote-hands.ts";
import type { RemoteHandProcess } from "../support/remote-hands.ts";
import { insisted } from "../support/in-process-links.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* What a host may suffer while its hand works for a brain: it sleeps, its disk is full, it has no descriptors left. */

type Name = keyof typeof REMOTE_HANDS;
const NAMES = Object.keys(REMOTE_HANDS) as Name[];

let last = 0;

/** An order for a shell line that a person has approved. */
async function approved(hand: Hand, command: string, ttlMs = 60_000): Promise<Order> {
  last += 1;
  const action = { id: `act_host_${last}`, tool: "shell", input: { command }, callId: "c" };
  const judgement = await hand.judge(action);
  assert.ok("hash" in judgement, JSON.stringify(judgement));
  return { action, run: "run_1", epoch: 1, ttlMs, approved: judgement.hash };
}

const mark = (name: string): string => `echo ${name} >> marks`;
const marksIn = ({ workspace }: RemoteHandProcess): string => readFileSync(join(workspace, "marks"), "utf8");
const codeOf = (ended: ActionEnd): string => (ended.type === "finished" ? ended.type : ended.fault.code);

/** As with a lid that is closed. */
const SLEEP_MS = 2600;

test("F28 over every link an order that is older than its time when the host wakes up is refused, and does nothing", async (t) => {
  const sleeps = async (name: Name): Promise<void> => {
    const far = await REMOTE_HANDS[name](t, { folder: temporaryFolder(t) });
    const { hand, peer } = far;
    assert.equal(codeOf(await insisted(hand, await approved(hand, mark("before")))), "finished", name);
    const [short, long] = [await approved(hand, mark("short"), 1000), await approved(hand, mark("long"))];
    peer.child.kill("SIGSTOP");
    const ends = [insisted(hand, short), insisted(hand, long)];
    await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
    peer.child.kill("SIGCONT");
    assert.deepEqual((await Promise.all(ends)).map(codeOf), ["ACTION_EXPIRED", "finished"], name);
    assert.equal(marksIn(far), "before\nlong\n", name);
  };
  await Promise.all(NAMES.map(sleeps));
});

/** A folder for a host, in which the state of its hand has a small file system of its own. */
function smallDisk(t: TestContext, state: string): { readonly folder: string; readonly disk: string } {
  const folder = mkdtempSync(join(tmpdir(), "vidro-full-"));
  const disk = join(folder, state);
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", disk], { encoding: "utf8" });
  assert.equal(mounted.status, 0, `a small disk needs the right to mount: ${mounted.stderr}`);
  t.after(() => {
    spawnSync("umount", ["-l", disk]);
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, disk };
}

for (const name of NAMES)
  test(`F4 ${name}: a host whose disk is full starts nothing and says so, cuts what it cannot keep, and recovers`, async (t) => {
    const { folder, disk } = smallDisk(t, name === "executor-ws" ? "home" : "state");
    const far = await REMOTE_HANDS[name](t, { folder });
    const { hand } = far;
    assert.equal(codeOf(await insisted(hand, await approved(hand, mark("before")))), "finished");
    const large = await insisted(hand, await approved(hand, "head -c 6000000 /dev/zero | tr '\\0' x"));
    assert.ok(large.type === "finished" && large.outcome.kind === "process", JSON.stringify(large).slice(0, 300));
    assert.deepEqual([large.outcome.stdout.bytes, large.outcome.stdout.truncated], [6_000_000, true]);
    const ballast = join(disk, "ballast");
    spawnSync("dd", ["if=/dev/zero", `of=${ballast}`, "bs=512"]);
    const refused = await insisted(hand, await approved(hand, mark("full")));
    assert.equal(codeOf(refused), "LEDGER_UNWRITABLE");
    rmSync(ballast);
    assert.equal(codeOf(await insisted(hand, await approved(hand, mark("after")))), "finished");
    assert.equal(marksIn(far), "before\nafter\n");
  });

test("F27 over every link a hand without descriptors refuses work by name, and works when it has some again", async (t) => {
  const starves = async (name: Name): Promise<void> => {
    const far = await REMOTE_HANDS[name](t, { folder: temporaryFolder(t) });
    const { hand, peer } = far;
    assert.equal(codeOf(await insisted(hand, await approved(hand, mark("before")))), "finished", name);
    const order = await approved(hand, mark("starved"));
    limit(peer.child.pid ?? 0, 4);
    assert.ok(["TOOL_FAILED", "LEDGER_UNWRITABLE"].includes(codeOf(await insisted(hand, order))), name);
    limit(peer.child.pid ?? 0, 1024);
    assert.ok(peer.isAlive, name);
    assert.equal(codeOf(await insisted(hand, await approved(hand, mark("after")))), "finished", name);
    assert.equal(marksIn(far), "before\nafter\n", name);
  };
  await Promise.all(NAMES.map(starves));
});

/** Lets a process have so many descriptors from now on; those it has stay. */
function limit(pid: number, descriptors: number): void {
  const done = spawnSync("prlimit", ["--pid", `${pid}`, `--nofile=${descriptors}:1024`], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}
