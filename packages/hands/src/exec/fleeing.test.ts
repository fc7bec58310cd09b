import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HAND_LIMITS, type ProcessOutcome } from "@vidro/core";
import { contextIn, executionOf, scratch } from "../scratch.fixture.ts";
import { cellStart, processStart, runUntilGone } from "./process.ts";
import { listPids, readProcessStat } from "./proc.ts";
import { findHostSandbox } from "./sandbox.ts";

/* Ways in which a process leaves the one that started it. None of them outlives its action. */

/** Lines that leave `{sleep}` behind in the background, and end. */
const FLIGHTS: readonly (readonly [name: string, line: string])[] = [
  ["a session of its own", "setsid -f {sleep}"],
  ["a parent that ends at once, twice", "( ( {sleep} & ) & )"],
  ["a group of its own", "set -m; {sleep} &"],
  ["signals of the terminal ignored", "nohup {sleep} &"],
  ["the steps of a daemon", `perl -MPOSIX -e 'fork && exit; POSIX::setsid(); fork && exit; chdir "/"; exec "{sleep}"'`],
  ["SIGTERM ignored", "trap '' TERM HUP INT; setsid -f {sleep}"],
  ["a loop that starts it again", "setsid -f sh -c 'while :; do {sleep}; done'"],
  ["a trap that starts it again", `setsid -f sh -c 'trap "{sleep} & wait" TERM; {sleep} & wait'`],
  ["itself stopped", "setsid -f sh -c 'kill -STOP $$; exec {sleep}'"],
  ["another name", `setsid -f bash -c 'exec -a "[kworker/0:1]" {sleep}'`],
  ["a chain of parents that end", "setsid -f sh -c 'setsid -f sh -c \"setsid -f {sleep}\"'"],
];

/** With these as well, nothing but the sandbox tells whose process it is. */
const BARE = FLIGHTS.map(([name, line]) => [name, `env -i PATH="$PATH" bash -c ${quote(line)}`] as const);

function quote(line: string): string {
  return `'${line.replaceAll("'", `'\\''`)}'`;
}

/** A line whose processes are known by a number of their own. */
function marked(line: string): { readonly text: string; readonly survivors: () => readonly number[] } {
  const mark = String(1_000_000 + randomInt(1_000_000_000));
  const text = `{ ${line.replaceAll("{sleep}", `sleep ${mark}`)}\n} >/dev/null 2>&1 </dev/null`;
  const carries = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(mark) && readProcessStat(pid)?.state !== "Z";
    } catch {
      return false;
    }
  };
  return { text, survivors: () => listPids().filter(carries) };
}

/** Resolves when a condition holds, or long after it should have. */
async function until(condition: () => boolean): Promise<void> {
  for (let left = 1500; left > 0 && !condition(); left -= 1) await sleep(20);
}

/** How a line that flees ended, and what is left of it. */
interface FlightEnd {
  readonly outcome: ProcessOutcome;
  readonly survivors: () => readonly number[];
}

/** Runs a line that flees; with `stays` its first process goes on until the abort, which follows the flight. */
async function flee(t: TestContext, line: string, { stays = false, held = false } = {}): Promise<FlightEnd> {
  const { text, survivors } = marked(line);
  t.after(() => survivors().forEach((pid) => process.kill(pid, "SIGKILL")));
  const context = contextIn(scratch(t));
  const abort = new AbortController();
  const action = `act_${randomInt(2 ** 40)}`;
  const execution = executionOf(context, { kind: "facts", facts: "none" }, { action, signal: abort.signal });
  const { workspace, state, env } = context;
  const words = ["/bin/bash", "-c", stays ? `${text}\necho fled; sleep 1000` : text];
  const scope = { confined: "files", workspace, state, reserved: [state], env } as const;
  const cell = held ? await (await findHostSandbox())?.hold(scope) : undefined;
  const start =
    cell === undefined
      ? processStart({ program: "/bin/bash", argv: words, cwd: workspace, env })
      : cellStart(cell, { line: words, cwd: workspace, memoryBytes: HAND_LIMITS.memoryBytes });
  assert.equal(cell !== undefined, held);
  execution.output = () => void until(() => survivors().length > 0).then(() => abort.abort());
  return { outcome: await runUntilGone({ start, timeoutMs: 60_000 }, execution), survivors };
}

describe("a process that flees with", { concurrency: 4 }, () => {
  for (const [name, line] of FLIGHTS) {
    it(`${name} is ended soon after its command has ended`, async (t) => {
      const { outcome, survivors } = await flee(t, line);
      assert.equal(outcome.exitCode, 0);
      await until(() => survivors().length === 0);
      assert.deepEqual(survivors(), []);
    });

    it(`${name} is gone when the end of its command is told, where that was aborted`, async (t) => {
      const { outcome, survivors } = await flee(t, line, { stays: true });
      assert.equal(outcome.exitCode, null);
      assert.deepEqual(survivors(), []);
    });
  }

  for (const [name, line] of BARE) {
    it(`${name} and a scrubbed environment is gone with its sandbox`, async (t) => {
      const { outcome, survivors } = await flee(t, line, { held: true, stays: true });
      assert.equal(outcome.timedOut, false);
      assert.deepEqual(survivors(), []);
    });
  }
});
