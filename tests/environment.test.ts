import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { PROVIDERS } from "../packages/brain/src/models/providers.ts";

const ROOT = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Every variable of ours that the product's code names. */
function named(): ReadonlySet<string> {
  const files = globSync("packages/*/src/**/*.ts", { cwd: ROOT }).filter((path) => !/\.(test|fixture)\.ts$/.test(path));
  const whole = files.flatMap((path) => read(path).match(/\bVIDRO_[A-Z][A-Z_]*[A-Z]\b/g) ?? []);
  const signed = [...read("packages/brain/src/auth/jwt-settings.ts").matchAll(/said\("([A-Z_]+)"\)/g)];
  return new Set([...whole, ...signed.map(([, name]) => `VIDRO_JWT_${name}`)]);
}

test("docs/reference/environment.md lists every variable that the code reads, and none that it does not", () => {
  const page = read("docs/reference/environment.md");
  const told = new Set(page.match(/\bVIDRO_[A-Z][A-Z_]*[A-Z]\b/g));
  assert.deepEqual([...told].toSorted(), [...named()].toSorted());
  for (const { keys, address } of PROVIDERS)
    for (const name of [...keys, address]) assert.ok(page.includes(`\`${name}\``), name);
});
