import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import { withoutLeaks } from "./leaked-descriptors.ts";

const MODULE = new URL("leaked-descriptors.ts", import.meta.url).href;

/** What a command finds at descriptors, started by a program whose own parent left some open. */
async function seenBehind(t: TestContext, leaked: readonly number[], isGuarded: boolean) {
  const secret = join(scratch(t), "secret");
  writeFileSync(secret, "secret of the parent");
  const script = `
    import { spawnSync } from "node:child_process";
    import { withoutLeaks } from ${JSON.stringify(MODULE)};
    const stdio = ["ignore", "pipe", "pipe"];
    const read = 'for n in /proc/self/fd/*; do n=\${n##*/}; [ $n -lt 3 ] || head -c 99 <&$n 2>/dev/null; done';
    const { stdout } = spawnSync("/bin/bash", ["-c", read], { stdio: ${isGuarded} ? withoutLeaks(stdio) : stdio, timeout: 20000 });
    process.stdout.write(stdout);`;
  const stdio: (number | "ignore" | "pipe")[] = Array.from({ length: Math.max(...leaked) + 1 }, () => "ignore");
  stdio[1] = "pipe";
  for (const descriptor of leaked) stdio[descriptor] = openSync(secret, "r");
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio });
  assert.ok(child.stdout !== null);
  return text(child.stdout);
}

test("a file that the parent of a hand left open is not read by its commands", async (t) => {
  for (const leaked of [[20], [17, 25, 40]]) {
    assert.match(await seenBehind(t, leaked, false), /secret/, "a command that is started plainly reads it");
    assert.doesNotMatch(await seenBehind(t, leaked, true), /secret/, String(leaked));
  }
});

test("descriptors that a command is given stay where they are, and nothing is added where nothing leaks", () => {
  assert.deepEqual(withoutLeaks(["pipe", "ignore", "inherit"]).slice(0, 3), ["pipe", "ignore", "inherit"]);
  const many = withoutLeaks(["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"]);
  assert.deepEqual(many.slice(0, 6), ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"]);
  for (const entry of many.slice(6)) assert.ok(entry === "ignore" || typeof entry === "number");
});
