import assert from "node:assert/strict";
import { lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import type { OptionValue, Value } from "../../packages/core/src/policy/rule.ts";
import { DEFAULT_POLICY } from "../../packages/hands/src/policy/default-policy.ts";
import { SECRET, STATE_SECRET, target } from "./attack.fixture.ts";

/*
 * Whatever words the shipped policy lets through, it lets through to real programs: they are run, and what they showed
 * and left behind is looked at. The words are those of an attacker, the options those that the rules offer.
 */

const WORDS = `
  file folder folder/ folder/secret.txt token state state/ shadow up one one/x two a.txt list.txt evil.sh ./evil.sh . ..
  ../vidro/token /etc/shadow /etc /proc/self/environ /proc/self/root/etc/shadow - -- @a.txt @token + * mark root 0 -o -f -e
  -exec -delete x=mark --output=mark -omark = status HEAD HEAD:token :/ token/../a.txt version /dev/stdin /dev/fd/0`
  .trim()
  .split(/\s+/);

const allowing = DEFAULT_POLICY.rules.filter((rule) => rule.kind === "process" && rule.decision === "allow");

/** What an attacker gives where a rule asks for a value. */
function valueFor(value: Value): fc.Arbitrary<string> {
  const anything = fc.constantFrom(...WORDS);
  if (value === "number") return fc.constantFrom("1", "+1", "99");
  if (typeof value === "string" || "paths" in value) return anything;
  return fc.oneof(fc.constantFrom(...value.like.map((pattern) => pattern.replaceAll("*", "a"))), anything);
}

function optionFor(name: string, type: OptionValue): fc.Arbitrary<readonly string[]> {
  if (name === "-#") return fc.constant(["-5"]);
  if (type === "flag") return fc.constant([name]);
  const isAttached = typeof type === "object" && "attached" in type;
  const attach = (value: string): string[] => [name.startsWith("--") ? `${name}=${value}` : `${name}${value}`];
  return isAttached ? valueFor(type.attached).map(attach) : valueFor(type).map((value) => [name, value]);
}

/** A command that a rule may allow. */
const command: fc.Arbitrary<readonly string[]> = fc.constantFrom(...allowing).chain((rule) => {
  assert.ok(rule.kind === "process");
  const program = fc.constantFrom(...rule.program);
  if (typeof rule.arguments === "string" || !("fit" in rule.arguments)) {
    const exact = typeof rule.arguments === "object" && "exact" in rule.arguments ? rule.arguments.exact : [[]];
    return fc.tuple(program, fc.constantFrom(...exact)).map(([name, args]) => [name, ...args]);
  }
  const { commands, options = {} } = rule.arguments.fit;
  const offered = Object.entries(options).map(([name, type]) => optionFor(name, type));
  return fc
    .tuple(
      program,
      fc.constantFrom(...(commands ?? [""])),
      offered.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...offered), { maxLength: 3 }),
      fc.array(fc.constantFrom(...WORDS), { maxLength: 2 }),
    )
    .map(([name, words, given, operands]) => [name, ...words.split(" ").filter(Boolean), ...given.flat(), ...operands]);
});

test("whatever the shipped policy lets through shows no secret and changes nothing", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("a.txt", "a\n");
  at.put("list.txt", "token\nfile\n");
  at.put("evil.sh", `#!/bin/sh\ntouch ${at.mark}\n`);
  at.put("version", `require("fs").writeFileSync("${at.mark}", "")\n`);
  for (const folder of ["one", "two"]) mkdirSync(join(at.workspace, folder));
  const links = {
    file: "../work-outside/secret.txt",
    folder: at.outside,
    token: join(at.state, "token"),
    state: at.state,
  };
  const more = { shadow: "/etc/shadow", up: "folder/../vidro/token", "one/x": join(at.state, "token") };
  for (const [name, to] of Object.entries({ ...links, ...more })) symlinkSync(to, join(at.workspace, name));
  const ground = (): unknown =>
    readdirSync(at.workspace).map((name) => [name, lstatSync(join(at.workspace, name)).mtimeMs]);
  const before = ground();
  let allowed = 0;
  await fc.assert(
    fc.asyncProperty(command, async ([program = "", ...args]) => {
      const { decision, text } = await at.attempt("command", { command: program, args, timeout_ms: 2000 });
      if (decision !== "allow") return;
      allowed += 1;
      // What diff meets in the folders that it compares it reads in a sandbox, where only secrets are hidden.
      if (program !== "diff") assert.ok(!text.includes(SECRET));
      assert.ok(!text.includes(STATE_SECRET) && !/root:[*!$]/.test(text));
      assert.deepEqual(ground(), before);
      assert.equal(at.isHarmed(), false);
    }),
    { numRuns: 200, interruptAfterTimeLimit: 20_000 },
  );
  assert.ok(allowed > 10, `${allowed} were allowed`);
});
