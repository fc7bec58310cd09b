import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findGguf } from "./gguf-head.ts";

test("a model is a GGUF file, or the only one of a folder; anything else is refused with what to do", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-gguf-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  const model = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(20)]);
  writeFileSync(at("model.gguf"), model);
  writeFileSync(at("notes.txt"), "no model");
  assert.equal(findGguf(at("model.gguf")), at("model.gguf"));
  assert.equal(findGguf(folder), at("model.gguf"));
  const refused: readonly (readonly [string, RegExp])[] = [
    [at("missing.gguf"), /There is nothing at .*missing\.gguf\. --model takes/],
    [at("notes.txt"), /is no GGUF model: it does not begin with GGUF/],
    [at("empty"), /has no GGUF file/],
    [at("two"), /has a\.gguf, b\.gguf: name one/],
    [at("short.gguf"), /is no GGUF model/],
  ];
  mkdirSync(at("empty"));
  mkdirSync(at("two"));
  for (const name of ["a.gguf", "b.gguf"]) writeFileSync(join(at("two"), name), model);
  writeFileSync(at("short.gguf"), "GGUF");
  for (const [path, words] of refused) assert.throws(() => findGguf(path), { code: "BAD_REQUEST", message: words });
});

test("a folder in the place of a model file is refused by name, and what only ends like one is no model", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-gguf-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "model.gguf"));
  assert.throws(() => findGguf(folder), {
    code: "BAD_REQUEST",
    message: /model\.gguf cannot be read: .*--model takes/,
  });
  assert.throws(() => findGguf("/dev/null"), { code: "BAD_REQUEST", message: /is no GGUF model/ });
  for (const head of ["gguf", "GGUE", "\ufeffGGUF", " GGUF"]) {
    const path = join(folder, "other.gguf");
    writeFileSync(path, head.padEnd(40, "\0"));
    assert.throws(() => findGguf(path), { code: "BAD_REQUEST" }, head);
  }
});
