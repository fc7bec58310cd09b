import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import {
  holdTag,
  findTaggedProcesses,
  releaseTag,
  signalProcess,
  killLeftovers,
  killStragglers,
  ACTION_TAG_VARIABLE,
  actionTag,
} from "./orphans.ts";
import { readProcessStat } from "./proc.ts";

const STATE = "/var/lib/vidro-test-hand";
const OTHER = "/var/lib/vidro-test-other";

async function sleeper(t: TestContext, tag: string | undefined): Promise<ChildProcess> {
  const env = tag === undefined ? {} : { [ACTION_TAG_VARIABLE]: tag };
  const child = spawn("/bin/sleep", ["1000"], { stdio: "ignore", env });
  t.after(() => child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

/** The tag as a process that is dead now would have given it: this pid, but with the start time of a predecessor. */
function tagOfPredecessor(state: string): string {
  return actionTag(state, "act_old").replace(/^(\d+)-\d+-/u, "$1-1-");
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

describe("sweeping", () => {
  it("F5: ends what a dead process of the same hand left behind, and nothing else", async (t) => {
    const left = await sleeper(t, tagOfPredecessor(STATE));
    const ofAnotherHand = await sleeper(t, tagOfPredecessor(OTHER));
    const ofThisProcess = await sleeper(t, actionTag(STATE, "act_new"));
    const foreign = await sleeper(t, undefined);
    const malformed = await sleeper(t, "act_old");
    const gone = once(left, "exit");
    assert.equal(killLeftovers(STATE), 1);
    assert.deepEqual(await gone, [null, "SIGKILL"]);
    for (const other of [ofAnotherHand, ofThisProcess, foreign, malformed]) assert.ok(isRunning(other));
  });

  it("ends what this process started for an action that has ended, and nothing of one that goes on", async (t) => {
    const goesOn = actionTag(STATE, "act_on");
    holdTag(goesOn);
    const own = await sleeper(t, actionTag(STATE, "act_1"));
    const other = await sleeper(t, goesOn);
    const gone = once(own, "exit");
    killStragglers();
    assert.deepEqual(await gone, [null, "SIGKILL"]);
    assert.ok(isRunning(other));
    const released = once(other, "exit");
    releaseTag(goesOn);
    assert.deepEqual(await released, [null, "SIGKILL"]);
  });

  it("F7: never signals a process that got the pid of another one", async (t) => {
    const foreign = await sleeper(t, undefined);
    const pid = foreign.pid ?? 0;
    const startTicks = readProcessStat(pid)?.startTicks ?? 0;
    signalProcess({ pid, startTicks: startTicks - 1 }, "SIGKILL");
    await once(await sleeperThatEnds(), "exit");
    assert.ok(isRunning(foreign));
    const gone = once(foreign, "exit");
    signalProcess({ pid, startTicks }, "SIGKILL");
    assert.deepEqual(await gone, [null, "SIGKILL"]);
  });
});

/** Something that takes longer to arrive than a signal that was sent before it. */
async function sleeperThatEnds(): Promise<ChildProcess> {
  const child = spawn("/bin/sleep", ["0.05"], { stdio: "ignore" });
  await once(child, "spawn");
  return child;
}

describe("members", () => {
  it("are those with exactly the tag, and with a living leader its descendants too", async (t) => {
    const tag = actionTag(STATE, "act_7");
    const own = await sleeper(t, tag);
    await sleeper(t, `${tag}7`);
    const script = "env -i sleep 1000 & echo $!; wait";
    const leader = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"], detached: true });
    t.after(() => process.kill(-(leader.pid ?? 0), "SIGKILL"));
    const [scrubbed] = await once(leader.stdout, "data");
    assert.deepEqual(
      findTaggedProcesses(tag).map(({ pid }) => pid),
      [own.pid],
    );
    const stat = readProcessStat(leader.pid ?? 0);
    assert.ok(stat !== undefined);
    const found = findTaggedProcesses(tag, stat).map(({ pid }) => pid);
    // The sleeper may or may not be older than this leader, which did not start it.
    assert.deepEqual(
      found.filter((pid) => pid !== own.pid),
      [leader.pid, Number(scrubbed)],
    );
  });
});
