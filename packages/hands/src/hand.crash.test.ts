import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startChildHand, type ChildHand } from "../../../tests/support/child-hand.ts";
import type { ProbePoint } from "./hand-options.ts";
import { ACTION_TAG_VARIABLE } from "./exec/orphans.ts";
import { listPids, readProcessVariable } from "./exec/proc.ts";
import { contextIn, endOf, orderFor, processOf, scratch, shellOrder } from "./scratch.fixture.ts";

/** Leaves a mark, a process that flees, and a word, then goes on for as long as `seconds`. */
const marking = (seconds: number): string =>
  `echo ran >> marks; setsid -f sleep 1009 >/dev/null 2>&1; echo begun; sleep ${seconds}`;

function child(t: TestContext, crashAt?: ProbePoint): { hand: ChildHand; marks: () => number } {
  const { workspace, state } = contextIn(scratch(t));
  const hand = startChildHand({ workspace, state, ...(crashAt === undefined ? {} : { crashAt }) });
  t.after(() => hand.close());
  const marks = (): number => {
    try {
      return readFileSync(join(workspace, "marks"), "utf8").split("\n").length - 1;
    } catch {
      return 0;
    }
  };
  return { hand, marks };
}

/** Resolves when no process of the action is left. */
async function untilNoneLives(action: string): Promise<void> {
  const lives = (pid: number): boolean =>
    readProcessVariable(pid, ACTION_TAG_VARIABLE)?.endsWith(`/${action}`) === true;
  for (let left = 200; listPids().some(lives); left -= 1) {
    assert.ok(left > 0, `a process of ${action} lives on`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describe("a hand that is killed", () => {
  it("F5: in the middle of a command leaves no process and an unknown outcome with what was printed", async (t) => {
    const { hand, marks } = child(t);
    const order = shellOrder("act_mid", marking(1000));
    const events = [];
    for await (const event of hand.perform(order, new AbortController().signal)) {
      events.push(event);
      if (event.type === "output") {
        await hand.kill();
        await untilNoneLives("act_mid");
      }
    }
    const ended = events.at(-1);
    assert.ok(ended?.type === "unknown");
    assert.equal(ended.fault.code, "OUTCOME_UNKNOWN");
    assert.equal(ended.partial, "begun\n");
    assert.equal(hand.starts, 2);
    assert.deepEqual(await endOf(hand, order), ended, "and it stays that way");
    assert.equal(marks(), 1);
  });

  const expected = {
    "before-started": { type: "finished", marks: 1 },
    "after-started": { type: "unknown", marks: 0 },
    "before-finished": { type: "unknown", marks: 1 },
    "after-finished": { type: "finished", marks: 1 },
  } as const;
  for (const point of Object.keys(expected) as ProbePoint[]) {
    it(`F6: ${point.replace("-", " ")} gives ${expected[point].type}, and at most one effect`, async (t) => {
      const { hand, marks } = child(t, point);
      const order = shellOrder(`act_${point}`, marking(0));
      const ended = await endOf(hand, order);
      assert.equal(ended.type, expected[point].type);
      assert.equal(hand.starts, 2);
      assert.equal(marks(), expected[point].marks);
      assert.deepEqual(await endOf(hand, order), ended);
      assert.equal(marks(), expected[point].marks);
    });
  }

  it("does again what is the same when done twice", async (t) => {
    const { hand } = child(t, "before-finished");
    const ended = await endOf(hand, orderFor({ id: "act_os", tool: "os_info", input: {}, callId: "c" }));
    assert.equal(ended.type, "finished");
    assert.equal(hand.starts, 2);
  });
});

describe("a hand in another process on the same state", () => {
  it("does not wait: says that the action is running, and gives its outcome later", async (t) => {
    const { workspace, state } = contextIn(scratch(t));
    const [one, two] = [startChildHand({ workspace, state }), startChildHand({ workspace, state })];
    t.after(() => Promise.all([one.close(), two.close()]));
    const order = shellOrder("act_shared", "echo begun; until [ -e go ]; do sleep 0.02; done; echo over");
    let seen: string | undefined;
    for await (const event of one.perform(order, new AbortController().signal)) {
      if (event.type !== "output" || seen !== undefined) continue;
      const ended = await endOf(two, order);
      seen = ended.type === "failed" ? ended.fault.code : ended.type;
      await endOf(two, shellOrder("act_go", "touch go"));
    }
    assert.equal(seen, "HAND_UNAVAILABLE");
    assert.equal(processOf(await endOf(two, order)).stdout.text, "begun\nover\n");
  });
});

describe("a hand on a full disk", () => {
  it("F4: starts nothing that it cannot record, and works again when there is room", async (t) => {
    const folder = scratch(t);
    const script = fileURLToPath(new URL("full-disk.fixture.ts", import.meta.url));
    // A name space of its own, so that no other process sees the small disk and nothing has to be unmounted.
    const line = 'mkdir "$0/disk" && mount -t tmpfs -o size=2m none "$0/disk" && exec "$@" "$0"';
    const args = ["-rm", "sh", "-c", line, folder, process.execPath, "--conditions=vidro-source", script];
    const { stdout } = await promisify(execFile)("unshare", args);
    assert.deepEqual(JSON.parse(stdout), {
      before: "finished",
      full: "LEDGER_UNWRITABLE",
      spooled: { truncated: true, spool: false },
      after: "finished",
      effects: ["before", "after"],
    });
  });
});
