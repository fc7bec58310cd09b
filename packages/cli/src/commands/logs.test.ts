/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { TestContext } from "node:test";
import { daemonLogFile } from "./background-daemon.ts";
import { showLogs } from "./logs.ts";

let home = "";
let log = "";
const NAMES = ["VIDRO_HOME", "LC_ALL", "TZ"] as const;
const before = NAMES.map((name) => [name, process.env[name]] as const);

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "vidro-logs-"));
  Object.assign(process.env, { VIDRO_HOME: home, LC_ALL: "C.UTF-8" });
  log = daemonLogFile(home);
  mkdirSync(dirname(log), { recursive: true });
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

const row = (message: string, about: object = {}): string =>
  JSON.stringify({ timestamp: "2030-01-01T10:20:30.000Z", level: "info", event: "hand.connected", message, ...about });

/** Takes the text that is written to stdout; what the test runner itself writes there is bytes, and goes its way. */
function takeOutput(t: TestContext, take: (text: string) => void): () => void {
  const write = process.stdout.write.bind(process.stdout);
  const { mock } = t.mock.method(process.stdout, "write", (text: string | Uint8Array) => {
    if (typeof text !== "string") return write(text);
    take(text);
    return true;
  });
  return () => mock.restore();
}

/** What the command prints. */
async function shown(
  t: TestContext,
  flags: { readonly lines?: number; readonly json?: boolean } = {},
): Promise<readonly string[]> {
  const out: string[] = [];
  const stop = takeOutput(t, (text) => out.push(text));
  assert.equal(await showLogs({ lines: 50, ...flags }), 0);
  stop();
  return out.join("").split("\n").slice(0, -1);
}

describe("the log of a daemon", () => {
  test("is shown with time, level, sentence, name and fields", async (t) => {
    writeFileSync(log, `${row("A hand came.", { hand: "web-1", count: 3, deep: { a: [1] } })}\n`);
    const [line = ""] = await shown(t);
    assert.match(line, /^\d\d:20:30 info {2}A hand came\. hand\.connected hand=web-1 count=3 deep=\{"a":\[1\]\}$/);
  });

  test("shows what is no line of a log as it is, and a strange one without failing", async (t) => {
    const lines = ["plain words", "{", "[]", "5", '{"timestamp":5,"level":null}', '{"timestamp":"never"}', "{}"];
    writeFileSync(log, `${lines.join("\n")}\n`);
    const out = await shown(t);
    assert.equal(out.length, lines.length);
    assert.deepEqual(out.slice(0, 4), lines.slice(0, 4));
  });

  test("with --json is what the file has, to the letter, in every locale", async (t) => {
    const lines = [row("“quoted” – it’s … → done"), row("plain")];
    writeFileSync(log, `${lines.join("\n")}\n`);
    for (const locale of ["C", "C.UTF-8", "pt_BR.ISO-8859-1"]) {
      process.env["LC_ALL"] = locale;
      assert.deepEqual(await shown(t, { json: true }), lines, locale);
    }
  });

  test("carries no control sequence to the terminal, for people or with --json", async (t) => {
    writeFileSync(log, `${row("a\u001b[2J\u202eb")}\nraw \u001b]0;x\u0007\u0000 line\n`);
    for (const json of [false, true]) {
      const out = await shown(t, { json });
      assert.doesNotMatch(out.join("\n"), /[\u0000-\u0009\u000b-\u001f\u202e]/);
      assert.equal(out[1], "raw  line");
    }
  });

  test("is its last lines, with those of the file before it where there are too few", async (t) => {
    writeFileSync(`${log}.1`, `${["one", "two", "three"].join("\n")}\n`);
    writeFileSync(log, `${["four", "five"].join("\n")}\n`);
    assert.deepEqual(await shown(t, { lines: 1 }), ["five"]);
    assert.deepEqual(await shown(t, { lines: 2 }), ["four", "five"]);
    assert.deepEqual(await shown(t, { lines: 4 }), ["two", "three", "four", "five"]);
    assert.deepEqual(await shown(t, { lines: 99 }), ["one", "two", "three", "four", "five"]);
    assert.deepEqual(await shown(t, { lines: 0 }), []);
  });

  test("that there is not yet is NOT_FOUND with what starts one; an empty one is nothing", async (t) => {
    await assert.rejects(showLogs({ lines: 5 }), { code: "NOT_FOUND", message: /vidro up -d/ });
    writeFileSync(log, "");
    assert.deepEqual(await shown(t), []);
  });
});

describe("a log that is followed", () => {
  /** Follows the log until the test has seen what it waits for; gives the lines. */
  async function follow(t: TestContext, isOver: (lines: readonly string[]) => boolean, meanwhile: () => void) {
    const out: string[] = [];
    const lines = (): readonly string[] => out.join("").split("\n").slice(0, -1);
    const seen = Promise.withResolvers<void>();
    const stop = takeOutput(t, (text) => {
      // The lines that were there are printed first; what the test does meanwhile comes behind them.
      if (out.push(text) === 1) setImmediate(meanwhile);
      if (isOver(lines())) seen.resolve();
    });
    const following = showLogs({ lines: 50, follow: true });
    await seen.promise;
    process.emit("SIGTERM");
    assert.equal(await following, 0);
    stop();
    return lines();
  }

  test("goes on with each whole line, also in pieces and behind a file that takes its place", async (t) => {
    writeFileSync(log, "before\n");
    const bytes = Buffer.from("grün 😀\n");
    const lines = await follow(
      t,
      (all) => all.includes("new file"),
      () => {
        appendFileSync(log, bytes.subarray(0, 3));
        setImmediate(() => {
          appendFileSync(log, bytes.subarray(3));
          appendFileSync(log, "last of the old\n");
          renameSync(log, `${log}.1`);
          writeFileSync(log, "new file\n");
        });
      },
    );
    assert.deepEqual(lines, ["before", "grün 😀", "last of the old", "new file"]);
  });

  test("begins anew with a file that was emptied", async (t) => {
    writeFileSync(log, `${"x".repeat(200)}\n`);
    const lines = await follow(
      t,
      (all) => all.includes("after"),
      () => writeFileSync(log, "after\n"),
    );
    assert.deepEqual(lines.slice(1), ["after"]);
  });
});
