import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { readHandKeys, readJsonLines, ReceiptCount, receiptWords } from "./receipt-count.ts";

/** A file that is gone after the test. */
function fileOf(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-receipts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "lines");
  writeFileSync(file, text);
  return file;
}

describe("the count of receipts", () => {
  it("counts each verdict once, and outcomes of hands that do not sign not at all", (t) => {
    const written: string[] = [];
    t.mock.method(process.stdout, "write", (text: string) => written.push(text) > 0);
    const count = new ReceiptCount(true);
    const outcome = { run: "run_1", seq: 7, event: { action: "act_1" } } as never;
    for (const verdict of ["none", "missing", "valid", "redacted"] as const) count.take(outcome, verdict as never);
    count.take(outcome, { wrong: "was signed with another key" });
    assert.deepEqual(count.sum, { receipts: 2, redacted: 1, missing: 1, unsigned: 1 });
    assert.deepEqual(written, [
      '{"ok":false,"run_id":"run_1","unsigned":"action act_1, entry 7 of run run_1, was signed with another key"}\n',
    ]);
  });

  it("is told in one sentence, with only what there is", () => {
    const none = { receipts: 0, redacted: 0, missing: 0, unsigned: 0 };
    assert.equal(receiptWords(none), "0 receipts of hands fit.");
    assert.equal(receiptWords({ ...none, receipts: 1 }), "1 receipt of hands fit.");
    const all = receiptWords({ receipts: 3, redacted: 2, missing: 1, unsigned: 4 });
    assert.match(all, /^3 receipts of hands fit, 2 of them .*, 1 outcome without one .*, 4 outcomes not as signed\.$/);
  });
});

describe("a file with a value in each line", () => {
  it("is read with or without a last line break, with blank lines and breaks of other systems", async (t) => {
    assert.deepEqual(await readJsonLines(fileOf(t, '{"a":1}\n\n[2]\r\n"x"')), [{ a: 1 }, [2], "x"]);
    assert.deepEqual(await readJsonLines(fileOf(t, "")), []);
    assert.deepEqual(await readJsonLines(fileOf(t, "\n \n")), []);
  });

  it("that is missing, a folder or no JSON is a fault that names the file and the line as an editor counts it", async (t) => {
    const file = fileOf(t, '{"a":1}\n\n\n{"a":\n');
    await assert.rejects(readJsonLines(file), { code: "BAD_REQUEST", message: /^Line 4 of .*lines is no JSON/ });
    for (const path of [`${file}.gone`, join(file, "..")])
      await assert.rejects(readJsonLines(path), { code: "BAD_REQUEST", message: /cannot be read/ });
  });

  it("with anything but a key in it is refused with the line", async (t) => {
    const key = JSON.stringify({ hand: "h", key: "k" });
    for (const bad of [
      "7",
      "null",
      "[]",
      "{}",
      '{"hand":"h"}',
      '{"hand":1,"key":"k"}',
      '{"hand":"h","key":"k","since":"x"}',
    ])
      await assert.rejects(readHandKeys(fileOf(t, `${key}\n\n${bad}\n`)), {
        code: "BAD_REQUEST",
        message: /^Line 3 of .* is no key/,
      });
  });
});
