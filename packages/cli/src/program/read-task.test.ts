import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { RUN_LIMITS, TERMINAL_LIMITS } from "@vidro/core";
import { faultLog } from "./fault-log.ts";
import { readPemFile } from "./read-pem-file.ts";
import { readTask } from "./read-task.ts";
import { requireFolder } from "./require-folder.ts";

/** Gives these pieces on stdin for one test. */
function typeOnStdin(t: TestContext, ...pieces: readonly (string | Uint8Array)[]): void {
  const before = Object.getOwnPropertyDescriptor(process, "stdin");
  const stdin = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
  t.after(() => before !== undefined && Object.defineProperty(process, "stdin", before));
}

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-program-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("the task of a command", () => {
  test("is its words with a blank between them, as they were given", async () => {
    for (const [words, task] of [
      [["a"], "a"],
      [["a", "b"], "a b"],
      [["two  blanks", "c"], "two  blanks c"],
      [["-", "x"], "- x"],
      [["x", "-"], "x -"],
      [["--"], "--"],
      [[""], ""],
      [[], ""],
    ] as const)
      assert.equal(await readTask(words), task, JSON.stringify(words));
  });

  test("comes from stdin for a dash alone, in any pieces, also within a character", async (t) => {
    const bytes = Buffer.from("  quanto há? 日本 😀\n");
    for (let at = 0; at <= bytes.length; at += 1) {
      typeOnStdin(t, bytes.subarray(0, at), bytes.subarray(at));
      assert.equal(await readTask(["-"]), "  quanto há? 日本 😀\n");
    }
    typeOnStdin(t);
    assert.equal(await readTask(["-"]), "");
  });

  test("on stdin that is no text is refused, and never changed into one", async (t) => {
    for (const bytes of [[0xff], [0xc3], [0xe6, 0x97], [0x61, 0x80, 0x62], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      typeOnStdin(t, Uint8Array.from(bytes));
      await assert.rejects(readTask(["-"]), { code: "BAD_REQUEST", message: /not text/ }, bytes.join(" "));
    }
  });

  test("on stdin without an end is refused when it is longer than any task", async (t) => {
    const piece = Buffer.alloc(1024 * 1024, "x");
    let given = 0;
    const endless = new Readable({
      read() {
        given += piece.length;
        this.push(piece);
      },
    });
    const before = Object.getOwnPropertyDescriptor(process, "stdin")!;
    Object.defineProperty(process, "stdin", { value: endless, configurable: true });
    t.after(() => Object.defineProperty(process, "stdin", before));
    await assert.rejects(readTask(["-"]), { code: "PAYLOAD_TOO_LARGE" });
    assert.ok(given <= RUN_LIMITS.taskChars * 4 + 8 * piece.length);
  });
});

describe("a folder that a flag names", () => {
  test("is its absolute path, also through a link; anything else is refused by name", (t) => {
    const folder = scratch(t);
    writeFileSync(join(folder, "file"), "");
    symlinkSync(folder, join(folder, "link"));
    symlinkSync(join(folder, "gone"), join(folder, "dangling"));
    assert.equal(requireFolder(folder), folder);
    assert.equal(requireFolder(`${folder}/.`), folder);
    assert.equal(requireFolder(join(folder, "link")), join(folder, "link"));
    assert.equal(requireFolder("."), process.cwd());
    for (const [path, says] of [
      [join(folder, "file"), /is not a folder/],
      [join(folder, "nope"), /There is no folder .*nope/],
      [join(folder, "dangling"), /There is no folder/],
      [join(folder, "file/below"), /There is no folder/],
      ["a\u0000b", /There is no folder/],
      ["x".repeat(5000), /There is no folder/],
    ] as const)
      assert.throws(() => requireFolder(path), { code: "BAD_REQUEST", message: says }, path.slice(0, 40));
  });
});

test("a PEM file that cannot be read is refused by its name", async (t) => {
  const folder = scratch(t);
  writeFileSync(join(folder, "ca.pem"), "-----BEGIN CERTIFICATE-----\n");
  assert.match(await readPemFile(join(folder, "ca.pem")), /BEGIN CERTIFICATE/);
  for (const name of ["nope.pem", "."])
    await assert.rejects(readPemFile(join(folder, name)), { code: "BAD_REQUEST", message: /cannot be read/ });
});

describe("the log of faults", () => {
  test("has one line of JSON for each, which only its owner can read", (t) => {
    const home = scratch(t);
    const log = faultLog(home);
    log("t1", new Error("one\ntwo\u001b[2J"));
    log("t2", "words");
    log("t3", undefined);
    const path = join(home, "vidro.log");
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const rows = lines.map((line) => JSON.parse(line) as { [field: string]: string });
    assert.deepEqual(
      rows.map((row) => row["trace_id"]),
      ["t1", "t2", "t3"],
    );
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.match(rows[0]?.["message"] ?? "", /^Error: one\ntwo\u001b\[2J\n {4}at /);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch(lines.join(""), /[\u0000-\u001f]/, "a terminal that shows the file obeys nothing in it");
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test("begins anew when it is too large, and keeps the one before", (t) => {
    const home = scratch(t);
    const path = join(home, "vidro.log");
    writeFileSync(path, "x".repeat(TERMINAL_LIMITS.logBytes + 1));
    const log = faultLog(home);
    log("t1", "one");
    log("t2", "two");
    assert.equal(readFileSync(path, "utf8").trimEnd().split("\n").length, 2);
    assert.equal(statSync(`${path}.old`).size, TERMINAL_LIMITS.logBytes + 1);
  });

  test("that cannot be written hides no fault", () => {
    for (const home of ["/proc/nope", "/dev/null", ""])
      faultLog(home === "" ? "/proc/self/nope" : home)("t1", new Error("x"));
  });
});
