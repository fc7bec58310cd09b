import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import * as fc from "fast-check";
import { PROCESS_LIMITS } from "@vidro/core";
import { BackgroundProcesses } from "../background/background-processes.ts";
import { makeProcessFolder, writeRecord } from "../background/process-record.ts";
import type { ProcessRecord } from "../background/process-record.ts";
import { thisProcess } from "../host/process-identity.ts";
import { contextIn, executionOf, scratch } from "../scratch.fixture.ts";
import { processData, processText, standingWords, waitForSign } from "./process-text.ts";
import { readOutputTool } from "./read-output.ts";

const { readBytes } = PROCESS_LIMITS;
const END = { exitCode: 0, signal: null, why: "exit", at: 2000 } as const;
const NEVER = new AbortController().signal;

/** A process on record, kept by this process, with its output in one file. */
function recorded(t: TestContext, output: string | Buffer, more: Partial<ProcessRecord> = {}) {
  const context = contextIn(scratch(t));
  const record: ProcessRecord = {
    action: "act_1",
    name: "srv",
    run: "run_1",
    plan: { kind: "shell", command: "srv --on", cwd: "/w", env: {}, timeoutMs: 5000, access: "host", sandboxed: false },
    keep: false,
    pid: 42,
    keeper: thisProcess(),
    startedAt: 1000,
    ...more,
  };
  const folder = makeProcessFolder(context.state, record.action);
  writeRecord(folder, record);
  const log = join(folder, `out-${"0".repeat(16)}`);
  writeFileSync(log, output);
  const background = new BackgroundProcesses(() => context.state);
  const read = (place: number): { readonly text: string; readonly cursor: number; readonly output: string } => {
    const { text, data } = processText(background, record, { place });
    return { text, ...(data as { cursor: number; output: string }) };
  };
  return { context, background, record, folder, log, read };
}

describe("what is read of a process in the background", () => {
  it("is its output with how it stands, and the cursor is behind the last complete line", (t) => {
    const { read } = recorded(t, "one\ntwo\nthr");
    assert.equal(read(0).text, "one\ntwo\nthr\n[srv runs; cursor 8]");
    assert.equal(read(8).text, "thr\n[srv runs; cursor 8]");
    assert.equal(read(8).output, "thr");
  });

  it("is all of it, with a line that is not complete, when nothing can follow", (t) => {
    const { read } = recorded(t, "one\ntwo", { end: END });
    assert.equal(read(0).text, "one\ntwo\n[srv ended with exit code 0; cursor 7]");
    assert.equal(read(7).text, "[srv ended with exit code 0; cursor 7]");
  });

  it("is given in parts of bounded size, each behind a complete line", (t) => {
    const line = `${"x".repeat(99)}\n`;
    const output = line.repeat(Math.ceil((2.5 * readBytes) / line.length));
    const { read } = recorded(t, output, { end: END });
    let [place, all] = [0, ""];
    for (let parts = 0; place < output.length; parts += 1) {
      assert.ok(parts < 5, "each part goes on");
      const part = read(place);
      assert.ok(part.output.length <= readBytes && part.output.endsWith("\n"));
      assert.equal(part.text.includes("there is more: cursor"), part.cursor < output.length);
      [place, all] = [part.cursor, all + part.output];
    }
    assert.equal(all, output);
  });

  it("never parts a character of a line that is longer than a reading", (t) => {
    for (const lead of ["", "x", "xx", "xxx"]) {
      const output = `${lead}${"€😀é".repeat(readBytes / 5)}\n`;
      const { read } = recorded(t, output, { end: END });
      let [place, all] = [0, ""];
      while (place < Buffer.byteLength(output)) {
        const part = read(place);
        assert.ok(part.cursor > place, "each part goes on");
        [place, all] = [part.cursor, all + part.output];
      }
      assert.ok(all === output, `${JSON.stringify(lead)}: characters are lost`);
    }
  });

  it("gives bytes that are no text in parts, too, and comes to their end", (t) => {
    for (const byte of [0x80, 0xbf, 0xc3, 0xf0, 0xff]) {
      const output = Buffer.alloc(2 * readBytes + 7, byte);
      const { read } = recorded(t, output, { end: END });
      let place = 0;
      for (let parts = 0; place < output.length; parts += 1) {
        assert.ok(parts < 10, `0x${byte.toString(16)}: the reading does not come to an end`);
        place = read(place).cursor;
      }
    }
  });

  it("tells how many bytes were dropped before the place that was asked for", (t) => {
    const { read, folder, log } = recorded(t, "", { end: END });
    rmSync(log);
    writeFileSync(join(folder, `out-${"100".padStart(16, "0")}`), "rest\n");
    assert.equal(
      read(40).text,
      "[60 bytes of earlier output were dropped]\nrest\n[srv ended with exit code 0; cursor 105]",
    );
    assert.equal(read(102).text, "st\n[srv ended with exit code 0; cursor 105]");
  });

  it("loses no line while a process writes and another reads", async (t) => {
    const lines = 30_000;
    const { read, log } = recorded(t, "");
    const program = `const fs = require("node:fs"); for (let at = 0; at < ${lines}; at += 1) fs.appendFileSync(process.argv[1], at + "\\n");`;
    const writer = spawn(process.execPath, ["-e", program, log], { stdio: "ignore" });
    t.after(() => writer.kill("SIGKILL"));
    let [place, next] = [0, 0];
    while (next < lines) {
      const { output, cursor } = read(place);
      const complete = output.slice(0, output.lastIndexOf("\n") + 1);
      for (const line of complete.split("\n").slice(0, -1)) assert.equal(Number(line), (next += 1) - 1);
      assert.equal(cursor, place + Buffer.byteLength(complete), "the cursor is behind what was given");
      place = cursor;
    }
  });

  it("is the same text however often it is read and wherever lines end", (t) => {
    const { read, log } = recorded(t, "");
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "é\n", "\n", "long line", "😀"), { maxLength: 30 }), (parts) => {
        writeFileSync(log, "");
        let [place, all] = [0, ""];
        for (const part of parts) {
          appendFileSync(log, part);
          const { output, cursor } = read(place);
          all += output.slice(0, output.lastIndexOf("\n") + 1);
          place = cursor;
        }
        const whole = parts.join("");
        assert.equal(all, whole.slice(0, whole.lastIndexOf("\n") + 1));
      }),
    );
  });
});

describe("read_output", () => {
  it("begins at the end for a cursor beyond it, and does not skip what is said next", async (t) => {
    const { context, log } = recorded(t, "one\n");
    const ask = async (cursor: number): Promise<{ readonly output: string; readonly cursor: number }> => {
      const plan = { kind: "facts", facts: "output of act_1" } as const;
      const outcome = await readOutputTool.run({ process: "srv", cursor }, executionOf(context, plan));
      assert.ok(outcome.kind === "value");
      return outcome.data as { output: string; cursor: number };
    };
    const far = await ask(1_000_000);
    assert.deepEqual([far.output, far.cursor], ["", 4]);
    appendFileSync(log, "two\n");
    assert.equal((await ask(far.cursor)).output, "two\n");
  });

  it("gives the end of a long output when no cursor is given", async (t) => {
    const { context } = recorded(t, `${"x\n".repeat(readBytes)}last\n`);
    const plan = { kind: "facts", facts: "output of act_1" } as const;
    const outcome = await readOutputTool.run({ process: "act_1" }, executionOf(context, plan));
    assert.ok(outcome.kind === "value" && outcome.text.includes("last\n[srv runs;"));
  });
});

describe("the wait for a sign of a process", () => {
  it("is over at once when there are lines, the process has ended, or the wait is given up", async (t) => {
    const long = { place: 0, waitMs: 1_000_000, signal: NEVER };
    const spoken = recorded(t, "one\n");
    assert.equal((await waitForSign(spoken.background, spoken.record, long)).action, "act_1");
    const over = recorded(t, "", { end: END });
    assert.deepEqual((await waitForSign(over.background, over.record, long)).end, END);
    const silent = recorded(t, "");
    await waitForSign(silent.background, silent.record, { ...long, signal: AbortSignal.abort() });
    await waitForSign(silent.background, silent.record, { ...long, waitMs: 0 });
  });

  it("goes on until more is said than was there, also a line that is not complete", async (t) => {
    const { background, record, log } = recorded(t, "one\nbegun");
    const waiting = waitForSign(background, record, { place: 4, waitMs: 1_000_000, signal: NEVER });
    appendFileSync(log, " and more");
    await waiting;
  });

  it("gives the record as it is then, with the end of the process", async (t) => {
    const { background, record, folder } = recorded(t, "");
    const waiting = waitForSign(background, record, { place: 0, waitMs: 1_000_000, signal: NEVER });
    writeRecord(folder, { ...record, end: END });
    assert.deepEqual((await waiting).end, END);
  });
});

describe("how a process stands", () => {
  it("is told in words for each way to end", (t) => {
    const { record } = recorded(t, "");
    assert.equal(standingWords(record), "runs");
    const gone = { ...record, keeper: { ...record.keeper, started: "0" } };
    assert.match(standingWords(gone), /^is gone: .* how it ended is not known$/);
    const rows = [
      [{ ...END, exitCode: 3 }, "ended with exit code 3"],
      [{ ...END, exitCode: null, signal: "SIGTERM", why: "abort" }, "ended with SIGTERM because it was stopped"],
      [{ ...END, exitCode: null, signal: "SIGKILL", why: "timeout" }, "ended with SIGKILL after its time was over"],
      [{ ...END, exitCode: null, signal: "SIGKILL", why: "memory" }, "ended with SIGKILL because of its memory"],
    ] as const;
    for (const [end, words] of rows) assert.equal(standingWords({ ...record, end }), words);
  });

  it("is told as data, with the end only where there is one", (t) => {
    const { record } = recorded(t, "");
    const data = processData(record);
    assert.equal(data["command"], "shell 'srv --on'");
    assert.deepEqual(
      [data["running"], data["started_at"], data["ends_at"], data["ended_at"]],
      [true, "1970-01-01T00:00:01.000Z", "1970-01-01T00:00:06.000Z", undefined],
    );
    const over = processData({ ...record, end: END });
    assert.deepEqual([over["running"], over["exit_code"], over["why"]], [false, 0, "exit"]);
  });
});
