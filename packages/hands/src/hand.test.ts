import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { HandEvent, Plan } from "@vidro/core";
import {
  policyOf,
  scratch,
  handIn,
  shellOrder,
  orderFor,
  eventsOf,
  endOf,
  processOf,
  codeOf,
} from "./scratch.fixture.ts";
import { defineTool as toolOf } from "./tools/tool.ts";
import { TOOLS } from "./tools/tools.ts";

/** A line that leaves a mark each time it runs. */
const MARK = "echo ran >> marks; echo done";

function marksIn(folder: string): number {
  try {
    return readFileSync(join(folder, "workspace/marks"), "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

describe("a local hand", () => {
  it("offers its tools as JSON", async (t) => {
    const hand = await handIn(t, scratch(t));
    assert.deepEqual(
      hand.tools.map(({ name }) => name),
      TOOLS.map(({ name }) => name),
    );
    assert.deepEqual(JSON.parse(JSON.stringify(hand.tools)), hand.tools);
    for (const { parameters } of hand.tools) assert.equal(parameters["additionalProperties"], false);
  });

  it("streams the output and ends with one outcome", async (t) => {
    const folder = scratch(t);
    const events = await eventsOf(await handIn(t, folder), shellOrder("a", MARK));
    assert.deepEqual(events.slice(0, -1), [{ type: "output", stream: "stdout", chunk: "done\n" }]);
    assert.equal(events.at(-1)?.type, "finished");
    assert.equal(marksIn(folder), 1);
  });

  it("judges without doing anything: plan, hash and verdict", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder, { policy: policyOf("ask") });
    const { action } = shellOrder("a", MARK);
    const judgement = await hand.judge(action);
    assert.ok("plan" in judgement);
    assert.equal(judgement.verdict.rule, "test-rule");
    assert.equal(judgement.policy, "test");
    assert.match(judgement.hash, /^[\da-f]{64}$/u);
    assert.deepEqual(await hand.judge(action), judgement, "the same action has the same hash");
    const other = await hand.judge(shellOrder("b", `${MARK} `).action);
    assert.ok("hash" in other && other.hash !== judgement.hash);
    assert.equal(marksIn(folder), 0);
  });

  it("names what is wrong with an action", async (t) => {
    const hand = await handIn(t, scratch(t));
    const cases: [string, object, string, RegExp][] = [
      ["nope", {}, "UNKNOWN_TOOL", /no tool "nope"; it has shell, command/u],
      ["shell", {}, "BAD_ARGUMENTS", /shell: the input must have required property 'command'/u],
      ["shell", { command: 1 }, "BAD_ARGUMENTS", /command must be string/u],
      ["shell", { command: "x", extra: 1 }, "BAD_ARGUMENTS", /has no field "extra"/u],
      ["shell", { command: "x", access: "any" }, "BAD_ARGUMENTS", /access must be one of read, workspace, host, all/u],
      ["shell", { command: "x", dir_path: "nowhere" }, "BAD_ARGUMENTS", /no folder nowhere/u],
      ["command", { command: "x", args: ["a\0b"] }, "BAD_ARGUMENTS", /args\.0 must match pattern/u],
      ["command", { command: "no-such-program" }, "BAD_ARGUMENTS", /no program no-such-program in PATH/u],
    ];
    for (const [tool, input, code, message] of cases) {
      const action = { id: "a", tool, input: { ...input }, callId: "c" };
      const fault = await hand.judge(action);
      assert.ok("code" in fault);
      assert.equal(fault.code, code);
      assert.match(fault.message, message);
      assert.deepEqual(await endOf(hand, orderFor(action)), { type: "failed", fault, settled: true });
    }
  });
});

describe("the folders of a hand", () => {
  it("must be there, or be makeable", async (t) => {
    const folder = scratch(t);
    await assert.rejects(handIn(t, folder, { workspace: join(folder, "nowhere") }), { code: "NOT_FOUND" });
    await assert.rejects(handIn(t, folder, { state: "/etc/hostname/state" }), { code: "LEDGER_UNWRITABLE" });
  });

  it("that are reserved are seen by no sandboxed command", async (t) => {
    const folder = scratch(t);
    const state = join(folder, "home/hand");
    const hand = await handIn(t, folder, { state, reserved: folder });
    writeFileSync(join(folder, "journal"), "unseen");
    const action = { id: "a", tool: "shell", input: { command: "cat ../journal; pwd", access: "read" }, callId: "c" };
    const { stdout, stderr } = processOf(await endOf(hand, orderFor(action)));
    assert.equal(stdout.text, `${hand.workspace}\n`);
    assert.match(stderr.text, /No such file/u);
  });
});

describe("at most once", () => {
  it("gives a second order under the same id the same outcome, without a second effect", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    const first = await endOf(hand, shellOrder("a", MARK));
    assert.deepEqual(await endOf(hand, shellOrder("a", MARK)), first);
    await hand.close();
    const reopened = await handIn(t, folder);
    assert.deepEqual(await endOf(reopened, shellOrder("a", MARK, { epoch: 2 })), first);
    assert.equal(marksIn(folder), 1);
  });

  it("F17: lets two orders at once share one effect, one outcome and the output", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    const order = shellOrder("a", `sleep 0.1; ${MARK}`);
    const [one, two] = await Promise.all([eventsOf(hand, order), eventsOf(hand, order)]);
    assert.deepEqual(one, two);
    assert.equal(one.length, 2);
    assert.equal(marksIn(folder), 1);
  });

  it("refuses an id that belongs to another action, ended or still running", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    await endOf(hand, shellOrder("a", "true"));
    assert.equal(codeOf(await endOf(hand, shellOrder("a", MARK))), "ACTION_ID_REUSED");
    const abort = new AbortController();
    for await (const event of hand.perform(shellOrder("b", "echo begun; sleep 1000"), abort.signal)) {
      if (event.type !== "output") assert.equal(processOf(event).signal, "SIGTERM");
      else assert.equal(codeOf(await endOf(hand, shellOrder("b", MARK))), "ACTION_ID_REUSED");
      abort.abort();
    }
    assert.equal(marksIn(folder), 0);
  });

  it("F20: refuses a brain that another one has replaced, also after a restart", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    await endOf(hand, shellOrder("a", "true", { epoch: 5 }));
    assert.equal(codeOf(await endOf(hand, shellOrder("b", MARK, { epoch: 4 }))), "STALE_EPOCH");
    assert.equal((await endOf(hand, shellOrder("c", "true", { epoch: 4, run: "run_2" }))).type, "finished");
    await hand.close();
    assert.equal(codeOf(await endOf(await handIn(t, folder), shellOrder("b", MARK, { epoch: 4 }))), "STALE_EPOCH");
    assert.equal(marksIn(folder), 0);
  });

  it("F28: never runs an order whose time is over", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    assert.equal(codeOf(await endOf(hand, shellOrder("a", MARK, { ttlMs: 0 }))), "ACTION_EXPIRED");
    const slow = await handIn(t, folder, {
      probe: (point) => (point === "before-started" ? new Promise((resolve) => setTimeout(resolve, 60)) : undefined),
    });
    assert.equal(codeOf(await endOf(slow, shellOrder("a", MARK, { ttlMs: 50 }))), "ACTION_EXPIRED");
    assert.equal(marksIn(folder), 0);
    assert.equal((await endOf(hand, shellOrder("a", MARK))).type, "finished", "a refusal leaves no trace");
  });
});

describe("a tool that never returns", () => {
  it("is told to end and given up after its time, and its outcome is unknown for ever", async (t) => {
    const folder = scratch(t);
    let wasTold = false;
    const stuck = toolOf({
      name: "stuck",
      description: "Never ends.",
      parameters: { type: "object", properties: {}, additionalProperties: false },
      idempotent: false,
      effect: "execute",
      plan: async () => ({ kind: "process", program: "x", argv: [], cwd: "/", env: {}, timeoutMs: 20, digests: {} }),
      run: (_input, { signal }) => {
        signal.addEventListener("abort", () => (wasTold = true));
        return new Promise<never>(() => undefined);
      },
    });
    const hand = await handIn(t, folder, { tools: [stuck], overdueMs: 20 });
    const order = orderFor({ id: "a", tool: "stuck", input: {}, callId: "c" });
    const ended = await endOf(hand, order);
    assert.ok(ended.type === "unknown" && ended.fault.code === "OUTCOME_UNKNOWN");
    assert.ok(wasTold);
    assert.deepEqual(await endOf(hand, order), ended);
  });
});

describe("policy on the hand", () => {
  it("denies by name and runs nothing", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder, { policy: policyOf("deny") });
    const ended = await endOf(hand, shellOrder("a", MARK, { approved: "x" }));
    assert.equal(codeOf(ended), "POLICY_DENIED");
    assert.match(ended.type === "failed" ? ended.fault.message : "", /test-rule/u);
    assert.equal(marksIn(folder), 0);
  });

  it("asks: runs what was approved, and nothing else", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder, { policy: policyOf("ask") });
    const order = shellOrder("a", MARK);
    assert.equal(codeOf(await endOf(hand, order)), "APPROVAL_DENIED");
    assert.equal(codeOf(await endOf(hand, { ...order, approved: "0".repeat(64) })), "PLAN_CHANGED");
    const judgement = await hand.judge(order.action);
    assert.ok("hash" in judgement);
    assert.equal(marksIn(folder), 0);
    assert.equal((await endOf(hand, { ...order, approved: judgement.hash })).type, "finished");
    assert.equal(marksIn(folder), 1);
  });

  it("does not run a script that was rewritten after it was approved", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder, { policy: policyOf("ask") });
    const script = join(folder, "workspace/job.sh");
    writeFileSync(script, "echo harmless");
    const action = { id: "a", tool: "command", input: { command: "sh", args: ["job.sh"] }, callId: "c" };
    const judgement = await hand.judge(action);
    assert.ok("hash" in judgement);
    writeFileSync(script, MARK);
    assert.equal(codeOf(await endOf(hand, orderFor(action, { approved: judgement.hash }))), "PLAN_CHANGED");
    assert.equal(marksIn(folder), 0);
  });

  it("judges the very plan that runs", async (t) => {
    const judged: Plan[] = [];
    const policy = { version: "v", judge: (plan: Plan) => (judged.push(plan), policyOf("allow").judge(plan)) };
    const hand = await handIn(t, scratch(t), { policy, env: { PATH: "/usr/bin:/bin", API_KEY: "secret" } });
    const action = { id: "a", tool: "command", input: { command: "env" }, callId: "c" };
    const printed = processOf(await endOf(hand, orderFor(action)))
      .stdout.text.trim()
      .split("\n");
    const [plan] = judged;
    assert.ok(plan?.kind === "process");
    // Bubblewrap says where it starts a program.
    const given = printed.filter((line) => !line.startsWith("VIDRO_ACTION=") && !line.startsWith("PWD="));
    assert.deepEqual(
      given.toSorted(),
      Object.entries(plan.env)
        .map(([name, value]) => `${name}=${value}`)
        .toSorted(),
    );
    assert.equal(plan.env["API_KEY"], undefined);
  });
});

describe("aborting", () => {
  it("F8: ends the tree first and then the stream, once; a repeat gets the same", async (t) => {
    const hand = await handIn(t, scratch(t));
    const abort = new AbortController();
    const order = shellOrder("a", "echo begun; sleep 1000");
    const events: HandEvent[] = [];
    for await (const event of hand.perform(order, abort.signal)) {
      events.push(event);
      abort.abort();
    }
    assert.deepEqual(
      events.map(({ type }) => type),
      ["output", "finished"],
    );
    assert.deepEqual(await endOf(hand, order), events[1]);
  });

  it("runs nothing when it is aborted before it begins", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    assert.equal(codeOf(await endOf(hand, shellOrder("a", MARK), AbortSignal.abort())), "ACTION_EXPIRED");
    assert.equal(marksIn(folder), 0);
  });

  it("happens to everything when the hand closes", async (t) => {
    const hand = await handIn(t, scratch(t));
    const running = endOf(hand, shellOrder("a", "echo begun; sleep 1000"));
    for await (const event of hand.perform(shellOrder("a", "echo begun; sleep 1000"), new AbortController().signal)) {
      if (event.type === "output") void hand.close();
    }
    assert.equal(processOf(await running).signal, "SIGTERM");
  });
});
