import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { capacityTable, MEASURED, needsOf } from "../bench/capacity.ts";

test("the table of docs/explanation/capacity.md is what the simulator computes from the measured costs", () => {
  const page = readFileSync(new URL("../docs/explanation/capacity.md", import.meta.url), "utf8");
  for (const row of capacityTable()) assert.ok(page.includes(`| ${row.join(" | ")} |\n`), row.join(" | "));
});

test("needs grow linearly with busy hands, and a dearer step needs more", () => {
  const plan = { hands: 100_000, busy: 0.1, stepSeconds: 5 };
  const [once, ten] = [needsOf(plan), needsOf({ ...plan, hands: 1_000_000 })];
  assert.equal(ten.steps, 10 * once.steps);
  assert.equal(ten.gigabytesPerDay, 10 * once.gigabytesPerDay);
  assert.equal(ten.brains - 1, 10 * (once.brains - 1), "one brain is to spare in each");
  const dear = needsOf(plan, { ...MEASURED, postgresSteps: MEASURED.postgresSteps / 4 });
  assert.ok(dear.shards > once.shards);
});
