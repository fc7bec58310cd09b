import assert from "node:assert/strict";
import { existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SECRET, STATE_SECRET } from "./attack.fixture.ts";
import { NOBODY, startAttackedHand } from "./attacked-hand.fixture.ts";
import type { AttackedHand } from "./attacked-hand.fixture.ts";

/*
 * The process of a hand inherits descriptors that its parent left open: a file, a file to write, a folder. No command
 * has them, whether a sandbox holds it, the state is covered for it, or nothing at all holds it.
 */

const SHOW = "ls -l /proc/self/fd | sed 's/.* //'; echo end";

const LEAK = [
  "cat <&30 2>/dev/null",
  "cat /proc/self/fd/30",
  "cat /dev/fd/30",
  "cat /proc/self/fd/32/../d/vidro/token",
  "cat /proc/self/fd/32/secret.txt",
  "echo written >&31",
  "echo written >/proc/self/fd/31",
  "echo written >/proc/self/fd/32/mark",
].map((line) => `bash -c '${line}' 2>&1`);

async function attack(hand: AttackedHand): Promise<void> {
  for (const command of [...LEAK, SHOW]) {
    const attempts = [
      await hand.attempt("shell", { command, access: "read" }),
      await hand.approve("shell", { command, access: "workspace" }),
      await hand.approve("shell", { command, access: "host" }),
      await hand.approve("shell", { command, access: "all" }),
    ];
    for (const { text } of attempts) assert.doesNotMatch(text, new RegExp(`${SECRET}|${STATE_SECRET}`), command);
    if (command !== SHOW) continue;
    for (const { text } of attempts) {
      assert.match(text, /end/);
      assert.doesNotMatch(text, new RegExp(`${hand.folder}/(?!work)`), text);
    }
  }
  const { text } = await hand.attempt("command", { command: "cat", args: ["/proc/self/fd/30"] });
  assert.doesNotMatch(text, new RegExp(SECRET));
  assert.equal(readFileSync(join(hand.folder, "written"), "utf8"), "");
  assert.ok(!existsSync(join(hand.outside, "mark")));
}

const descriptors = (folder: string): { readonly [descriptor: number]: number } => ({
  30: openSync(join(folder, "out/secret.txt"), "r"),
  31: openSync(join(folder, "written"), "w"),
  32: openSync(join(folder, "out"), "r"),
  200: openSync(join(folder, "out/secret.txt"), "r"),
});

test("no command has a descriptor that the hand's process inherited", async (t) => {
  await attack(await startAttackedHand(t, { descriptors }));
});

test("nor has one of a hand that is not root's", { skip: process.getuid?.() !== 0 }, async (t) => {
  await attack(await startAttackedHand(t, { descriptors, user: NOBODY }));
});
