import assert from "node:assert/strict";
import { test } from "node:test";
import { fileIdentity, isSameFile } from "./file-identity.ts";
import type { FileSystem } from "./file-identity.ts";

function system(stat: { ino?: bigint; born?: bigint; changed?: bigint }, machine?: string): FileSystem {
  return {
    stat: () => ({ ino: stat.ino ?? 7n, birthtimeNs: stat.born ?? 100n, ctimeNs: stat.changed ?? 200n }),
    read() {
      if (machine === undefined) throw new Error("ENOENT");
      return `${machine}\n`;
    },
  };
}

const at = (...parts: Parameters<typeof system>) => fileIdentity("x", system(...parts));

test("a file is the same after it was changed, and another one after it was copied or its machine cloned", () => {
  const file = at({}, "m1");
  assert.deepEqual(file, { inode: "7", born: "100", machine: "m1" });
  assert.ok(isSameFile(file, at({ changed: 900n }, "m1")));
  for (const other of [at({ ino: 8n }, "m1"), at({ born: 101n }, "m1"), at({}, "m2")])
    assert.ok(!isSameFile(file, other));
});

test("what a system does not tell does not make another file", () => {
  const file = at({}, "m1");
  assert.ok(isSameFile(file, at({ born: 0n }, "m1")));
  assert.ok(isSameFile(file, at({ born: 900n, changed: 900n }, "m1")), "the time of the last change is none of birth");
  assert.ok(isSameFile(file, at({})));
  assert.ok(!isSameFile(file, at({ ino: 8n, born: 0n })));
});
