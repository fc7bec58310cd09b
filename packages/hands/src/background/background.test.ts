import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PROCESS_LIMITS } from "@vidro/core";
import type { ActionEnd, Hand, JsonObject } from "@vidro/core";
import { ACTION_TAG_VARIABLE } from "../exec/orphans.ts";
import { listPids, readProcessVariable } from "../exec/proc.ts";
import { codeOf, endOf, handIn, orderFor, policyOf, scratch } from "../scratch.fixture.ts";
import { processFolder } from "./process-record.ts";

let number = 0;

/** A process as a tool tells it. */
type ToldProcess = { readonly id: string; readonly process: string; readonly output?: string };

/** Orders a tool of a hand; gives what it says, or fails. */
async function use(
  hand: Hand,
  tool: string,
  input: JsonObject,
  run = "run_1",
): Promise<{ text: string; data: ToldProcess }> {
  const ended = await order(hand, tool, input, run);
  if (ended.type !== "finished" || ended.outcome.kind !== "value") throw new Error(JSON.stringify(ended));
  return { text: ended.outcome.text, data: ended.outcome.data as ToldProcess };
}

function order(hand: Hand, tool: string, input: JsonObject, run = "run_1"): Promise<ActionEnd> {
  return endOf(hand, orderFor({ id: `act_${(number += 1)}_${process.pid}`, tool, input, callId: "c" }, { run }));
}

/** Reads until the output matches. */
async function readUntil(hand: Hand, name: string, pattern: RegExp): Promise<string> {
  for (;;) {
    const { text } = await use(hand, "read_output", { process: name, cursor: 0, wait_ms: 10_000 });
    if (pattern.test(text) || !text.includes("runs;")) return text;
  }
}

/** Living processes of a process in the background. */
function survivors({ id }: ToldProcess): number[] {
  return listPids().filter((pid) => readProcessVariable(pid, ACTION_TAG_VARIABLE)?.endsWith(`/${id}`) === true);
}

async function goneFor(data: ToldProcess): Promise<void> {
  while (survivors(data).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a process in the background", () => {
  it("is started, read from a cursor, written to, listed and stopped", async (t) => {
    const hand = await handIn(t, scratch(t));
    const started = await use(hand, "start_process", {
      line: "echo up; while read x; do echo got $x; done",
      name: "srv",
    });
    assert.match(started.text, /^Started srv \(process \d+\) in the background; it ends with this run\./);
    const first = await readUntil(hand, "srv", /up/);
    assert.match(first, /^up\n\[srv runs; cursor 3\]$/);
    await use(hand, "write_input", { process: "srv", text: "one\n" });
    assert.match(await readUntil(hand, "srv", /got one/), /got one/);
    const rest = await use(hand, "read_output", { process: "srv", cursor: 3 });
    assert.equal(rest.data.output, "got one\n");
    assert.match((await use(hand, "started_processes", {})).text, /^srv: .*\(process \d+\) runs$/);
    assert.match(
      (await use(hand, "stop_process", { process: "srv" })).text,
      /^srv ended with SIGTERM because it was stopped/,
    );
    await goneFor(started.data);
    const after = await use(hand, "read_output", { process: "srv", cursor: 0 });
    assert.match(after.text, /^up\ngot one\n\[srv ended with SIGTERM/);
    assert.equal(codeOf(await order(hand, "write_input", { process: "srv", text: "x" })), "BAD_ARGUMENTS");
  });

  it("gets the end of its input, and its exit code is told", async (t) => {
    const hand = await handIn(t, scratch(t));
    await use(hand, "start_process", { command: "cat", name: "c" });
    await use(hand, "write_input", { process: "c", text: "last", close: true });
    assert.match(await readUntil(hand, "c", /ended/), /^last\n\[c ended with exit code 0/);
    const early = await use(hand, "start_process", { line: "echo no; exit 3" });
    assert.match(await readUntil(hand, early.data.process, /ended/), /^no\n\[p1 ended with exit code 3; cursor 3\]$/);
  });

  it("is ended with what forked away from it, and also when it ignores SIGTERM", async (t) => {
    const hand = await handIn(t, scratch(t));
    const line = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo away; sleep 1000' &); sleep 1000";
    const { data } = await use(hand, "start_process", { line, name: "d" });
    await readUntil(hand, "d", /away/);
    assert.ok(survivors(data).length >= 3);
    assert.match((await use(hand, "stop_process", { process: "d" })).text, /SIGKILL because it was stopped/);
    assert.deepEqual(survivors(data), []);
  });

  it("ends with what it left behind when its first process ends", async (t) => {
    const hand = await handIn(t, scratch(t));
    const { data } = await use(hand, "start_process", { line: "setsid sleep 1000 & echo forked" });
    assert.match(await readUntil(hand, "p1", /ended/), /ended with exit code 0/);
    await goneFor(data);
  });

  it("keeps a bounded part of a flood, and places keep their meaning", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    const line = `head -c ${PROCESS_LIMITS.outputBytes + PROCESS_LIMITS.segmentBytes} /dev/zero | tr '\\0' x; echo; echo end`;
    const { data } = await use(hand, "start_process", { line });
    for (;;) {
      const { text } = await use(hand, "read_output", { process: "p1", wait_ms: 5000 });
      if (text.includes("ended")) break;
    }
    const kept = processFolder(join(folder, "state"), data.id);
    const bytes = readdirSync(kept)
      .filter((name) => name.startsWith("out-"))
      .reduce((sum, name) => sum + statSync(join(kept, name)).size, 0);
    assert.ok(bytes <= PROCESS_LIMITS.outputBytes);
    assert.match(
      (await use(hand, "read_output", { process: "p1", cursor: 0 })).text,
      /^\[\d+ bytes of earlier output were dropped\]\nx+/,
    );
    assert.match((await use(hand, "read_output", { process: "p1" })).text, /x\nend\n\[p1 ended with exit code 0/);
  });

  it("gives a line that is not complete again, so that a secret in it is seen as a whole", async (t) => {
    const hand = await handIn(t, scratch(t));
    await use(hand, "start_process", { line: "echo a; printf 'Password: '; read x; echo $x; sleep 1000" });
    const first = await readUntil(hand, "p1", /Password/);
    assert.match(first, /^a\nPassword: \n\[p1 runs; cursor 2\]$/);
    await use(hand, "write_input", { process: "p1", text: "hm\n" });
    await readUntil(hand, "p1", /hm/);
    assert.match((await use(hand, "read_output", { process: "p1", cursor: 2 })).text, /^Password: hm\n/);
  });

  it("belongs to its run, and is bounded in number and life", async (t) => {
    const hand = await handIn(t, scratch(t));
    await use(hand, "start_process", { command: "sleep", args: ["1000"], name: "own" });
    for (const tool of ["read_output", "stop_process"])
      assert.equal(codeOf(await order(hand, tool, { process: "own" }, "run_2")), "NOT_FOUND");
    assert.match((await use(hand, "started_processes", {}, "run_2")).text, /No process/);
    assert.equal(
      codeOf(await order(hand, "start_process", { command: "sleep", args: ["1"], name: "own" })),
      "BAD_ARGUMENTS",
    );
    assert.equal(codeOf(await order(hand, "start_process", { command: "sleep", line: "x" })), "BAD_ARGUMENTS");
    assert.equal(codeOf(await order(hand, "start_process", { command: "sleep", minutes: 2000 })), "BAD_ARGUMENTS");
    assert.equal(codeOf(await order(hand, "start_process", { command: "no-such-program" })), "BAD_ARGUMENTS");
  });

  it("ends when its hand is closed", async (t) => {
    const hand = await handIn(t, scratch(t));
    const { data } = await use(hand, "start_process", { line: "setsid sleep 1000 & sleep 1000" });
    await hand.close();
    assert.deepEqual(survivors(data), []);
  });

  it("outlives its hand when it is kept, is found by the next one and stopped there", async (t) => {
    const folder = scratch(t);
    const hand = await handIn(t, folder);
    const { data } = await use(hand, "start_process", { line: "echo here; sleep 1000", keep: true, name: "kept" });
    t.after(() => survivors(data).forEach((pid) => process.kill(pid, "SIGKILL")));
    await hand.close();
    assert.ok(survivors(data).length > 0);
    const next = await handIn(t, folder);
    assert.match((await use(next, "started_processes", {}, "run_2")).text, /kept: .*kept\) runs/);
    assert.match((await use(next, "read_output", { process: "kept" }, "run_2")).text, /^here\n\[kept runs/);
    assert.match((await use(next, "stop_process", { process: "kept" }, "run_2")).text, /stopped/);
    assert.deepEqual(survivors(data), []);
  });

  it("is asked about like a command, and again when it would be kept or written to outside a sandbox", async (t) => {
    const asking = await handIn(t, scratch(t), { policy: policyOf("ask") });
    const judged = await asking.judge({ id: "a", tool: "start_process", input: { line: "sleep 1" }, callId: "c" });
    assert.ok("plan" in judged && judged.plan.kind === "shell" && judged.verdict.decision === "ask");
    assert.equal(codeOf(await order(asking, "start_process", { line: "sleep 1" })), "APPROVAL_DENIED");
  });
});
