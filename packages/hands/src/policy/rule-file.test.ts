import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import { addRuleToFile, readPolicySource, replacePolicyFile, rulesIn } from "./rule-file.ts";

const PASSES = (): void => undefined;
const RULE = { id: "r", kind: "facts", facts: ["a"] };

test("a home without a policy file adds nothing to the shipped policy", (t) => {
  assert.deepEqual(readPolicySource(join(scratch(t), "policy.json")), { extends: "shipped", rules: [] });
});

test("a file that is no JSON, or no object, is a policy that cannot be used, and its fault names it", (t) => {
  const file = join(scratch(t), "policy.json");
  for (const text of ["", "{", "null", "[]", "5", '"rules"', "\u0000", "\ufeff{}", "{}{}"]) {
    writeFileSync(file, text);
    assert.throws(() => readPolicySource(file), { code: "BAD_POLICY", message: /policy\.json/ }, JSON.stringify(text));
  }
  const folder = join(scratch(t), "policy.json");
  mkdirSync(folder);
  assert.throws(() => readPolicySource(folder), { code: "BAD_POLICY" });
});

test("rules are a list, and what is no list has none", () => {
  assert.deepEqual(rulesIn({ rules: [1, "a"] }), [1, "a"]);
  for (const rules of [undefined, null, "x", { 0: "a", length: 1 }, 5] as const)
    assert.deepEqual(rulesIn({ rules }), []);
});

test("a rule is added behind the others, once, whatever the order of its fields, and all else stays", (t) => {
  const file = join(scratch(t), "policy.json");
  const before = { extends: "shipped", secrets: ["{home}/x"], __proto__of: 1, rules: [{ id: "first" }], memory: 64 };
  writeFileSync(file, JSON.stringify(before));
  addRuleToFile(file, RULE, PASSES);
  addRuleToFile(file, { facts: ["a"], kind: "facts", id: "r" }, () => assert.fail("nothing is checked again"));
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { ...before, rules: [{ id: "first" }, RULE] });
  addRuleToFile(file, { ...RULE, facts: ["b"] }, PASSES);
  assert.equal(rulesIn(readPolicySource(file)).length, 3);
});

test("fields named as those of every object are kept as they are", (t) => {
  const file = join(scratch(t), "policy.json");
  const text = '{"__proto__":{"rules":["from a prototype"]},"constructor":1,"rules":[]}';
  writeFileSync(file, text);
  addRuleToFile(file, RULE, PASSES);
  const written = readFileSync(file, "utf8");
  assert.match(written, /"__proto__": \{/);
  assert.deepEqual(rulesIn(readPolicySource(file)), [RULE]);
});

test("a file that its check refuses stays to the letter, and nothing is left beside it", (t) => {
  const folder = scratch(t);
  const file = join(folder, "policy.json");
  writeFileSync(file, "{  }");
  const refuse = (fresh: string): never => {
    assert.deepEqual(JSON.parse(readFileSync(fresh, "utf8")), { rules: [] });
    throw new Error("refused");
  };
  assert.throws(() => replacePolicyFile(file, { rules: [] }, refuse), /refused/);
  assert.equal(readFileSync(file, "utf8"), "{  }");
  assert.deepEqual(readdirSync(folder), ["policy.json"]);
});

test("the new file is readable by its owner only, also where the one before was open to all", (t) => {
  const folder = scratch(t);
  const file = join(folder, "policy.json");
  writeFileSync(file, "{}");
  chmodSync(file, 0o666);
  replacePolicyFile(file, { rules: [] }, PASSES);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a link in the place of the fresh file is not written through", (t) => {
  const folder = scratch(t);
  const file = join(folder, "policy.json");
  const victim = join(folder, "victim");
  writeFileSync(victim, "precious");
  symlinkSync(victim, `${file}.${process.pid}.new`);
  replacePolicyFile(file, { rules: [] }, PASSES);
  assert.equal(readFileSync(victim, "utf8"), "precious");
  assert.deepEqual(readPolicySource(file), { rules: [] });
});
