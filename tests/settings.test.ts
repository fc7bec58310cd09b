import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { SETTING_KEYS, settingOf } from "@vidro/brain/config";
import { PROVIDERS } from "../packages/brain/src/models/providers.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** Set by a hand for the processes that it starts, and read by none of our programs. */
const SET_BY_VIDRO = ["VIDRO_ACTION"];

const variables = SETTING_KEYS.flatMap((key) => settingOf(key).variable ?? []);

test("the table of settings has every variable that the code names, and none twice", () => {
  const files = globSync("packages/*/src/**/*.ts", { cwd: ROOT }).filter((path) => !/\.(test|fixture)\.ts$/.test(path));
  const named = files.flatMap(
    (path) => readFileSync(join(ROOT, path), "utf8").match(/\bVIDRO_[A-Z][A-Z_]*[A-Z]\b/g) ?? [],
  );
  const ours = variables.filter((name) => name.startsWith("VIDRO_"));
  assert.deepEqual([...new Set(named)].toSorted(), [...ours, ...SET_BY_VIDRO].toSorted());
  assert.equal(new Set(variables).size, variables.length);
});

test("every variable of a provider of models is a setting", () => {
  for (const { keys, address } of PROVIDERS)
    for (const name of [...keys, address]) assert.ok(variables.includes(name), name);
});

test("every setting says what happens when nothing sets it", () => {
  for (const key of SETTING_KEYS) {
    const { default: usual, otherwise } = settingOf(key);
    assert.notEqual(usual ?? otherwise, undefined, key);
  }
});
