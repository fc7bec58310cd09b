import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { asFault, canonicalJson, Fault, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";

/* A policy file as people and commands change it: rules are added and removed, and nothing else is touched. */

/** What a policy file says; without one, that it adds to the shipped policy. BAD_POLICY when it is no JSON object. */
export function readPolicySource(file: string): JsonObject {
  if (!existsSync(file)) return { extends: "shipped", rules: [] };
  let value: Json;
  try {
    value = JSON.parse(readFileSync(file, "utf8")) as Json;
  } catch (cause) {
    throw new Fault("BAD_POLICY", `${file} is no JSON: ${asFault(cause).message}`, { cause });
  }
  if (isObject(value)) return value;
  throw new Fault("BAD_POLICY", `${file} is no object.`);
}

/** The rules in a policy file. */
export function rulesIn(source: JsonObject): readonly Json[] {
  return Array.isArray(source["rules"]) ? source["rules"] : [];
}

/** Replaces a policy file by one that the check accepts; when it throws, the file stays as it is. */
export function replacePolicyFile(file: string, source: JsonObject, check: (fresh: string) => void): void {
  const fresh = `${file}.${process.pid}.new`;
  try {
    rmSync(fresh, { force: true });
    writeFileSync(fresh, `${JSON.stringify(source, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    check(fresh);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Adds a rule to a policy file; one that is there to the letter is left. */
export function addRuleToFile(file: string, rule: object, check: (fresh: string) => void): void {
  const source = readPolicySource(file);
  const added = rule as JsonObject;
  if (rulesIn(source).some((other) => canonicalJson(other) === canonicalJson(added))) return;
  replacePolicyFile(file, { ...source, rules: [...rulesIn(source), added] }, check);
}
