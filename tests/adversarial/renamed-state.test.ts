import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { approved, decoded, SECRET, STATE_SECRET, target } from "./attack.fixture.ts";
import { NOBODY, startAttackedHand } from "./attacked-hand.fixture.ts";
import type { AttackedHand } from "./attacked-hand.fixture.ts";

/*
 * The state is what it is, whatever it and the folders above it are called: nothing that a command renames gets the
 * state out of its cover, and no other folder takes its place.
 */

/** A policy that allows nothing, and so differs from the shipped one. */
const OTHER_POLICY = JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [] });

async function attack(hand: AttackedHand): Promise<void> {
  const above = join(hand.folder, "d");
  const [old, fresh] = [decoded(above), decoded(join(hand.folder, "e"))];
  const before = await hand.reload();
  for (const command of [
    `mv ${old} ${fresh}; cat ${fresh}/vidro/token`,
    `cat ${fresh}/vidro/token ${old}/vidro/token`,
    `mv ${old} ${fresh}; mkdir -p ${old}/vidro; echo '${OTHER_POLICY}' >${old}/vidro/policy.json`,
    `mv -T ${decoded(hand.folder)} ${decoded(`${hand.folder}-2`)}; cat ${decoded(`${hand.folder}-2`)}/d/vidro/token`,
    `python3 -c 'import os,sys; os.rename(sys.argv[1], sys.argv[2])' ${old} ${fresh}; cat ${fresh}/vidro/token`,
    `perl -e 'rename($ARGV[0], $ARGV[1])' ${old}/vidro ${old}/other; cat ${old}/other/token`,
    `rmdir ${old}/vidro; rm -rf ${old}; ls ${old}`,
  ]) {
    const { decision, text } = await hand.approve("shell", { command, access: "host" });
    assert.equal(decision, "ask", command);
    assert.doesNotMatch(text, new RegExp(STATE_SECRET), command);
    assert.equal(readFileSync(join(hand.state, "token"), "utf8"), `${STATE_SECRET}\n`, command);
  }
  assert.equal(await hand.reload(), before);
}

test("an approved line renames no folder above the state", async (t) => {
  await attack(await startAttackedHand(t));
});

test("nor does one of a user who is not root", { skip: process.getuid?.() !== 0 }, async (t) => {
  await attack(await startAttackedHand(t, { user: NOBODY }));
});

for (const user of [undefined, NOBODY])
  test(
    `a state that was renamed on the host is covered at once, and its policy still counts (${user ?? "own user"})`,
    { skip: process.getuid?.() !== 0 && user !== undefined },
    async (t) => {
      const hand = await startAttackedHand(t, user === undefined ? {} : { user });
      const [above, moved] = [join(hand.folder, "d"), join(hand.folder, "e")];
      const before = await hand.reload();
      await hand.approve("shell", { command: "true", access: "host" });
      renameSync(above, moved);
      mkdirSync(hand.state, { recursive: true });
      writeFileSync(join(hand.state, "policy.json"), OTHER_POLICY);
      for (const access of ["host", "workspace", "read"]) {
        const command = `cat ${decoded(moved)}/vidro/token; cat ../e/v*/token; echo end`;
        const { text } = await hand.approve("shell", { command, access });
        assert.match(text, /end/);
        assert.doesNotMatch(text, new RegExp(STATE_SECRET), access);
      }
      assert.equal(
        (await hand.approve("shell", { command: `cat ${moved}/vidro/token`, access: "host" })).decision,
        "deny",
      );
      assert.equal((await hand.attempt("read_file", { file_path: join(moved, "vidro/token") })).fault, "POLICY_DENIED");
      assert.equal(await hand.reload(), before, "the policy is not that of a folder with the state's old name");
      assert.ok(existsSync(join(moved, "vidro/token")));
    },
  );

test("a plan whose words rename or remove a folder above the state is denied", async (t) => {
  const hand = await startAttackedHand(t);
  const above = join(hand.folder, "d");
  for (const [tool, input] of [
    ["shell", { command: `mv ${above} ${hand.folder}/e`, access: "all" }],
    ["shell", { command: "cd /tmp; mv ../d ../e" }],
    ["shell", { command: `rm -rf ${hand.folder} 2>/dev/null` }],
    ["command", { command: "mv", args: [above, join(hand.folder, "e")] }],
    ["command", { command: "sh", args: ["-c", `mv ${above} /x`], access: "all" }],
    ["command", { command: "rm", args: ["-rf", "../d"] }],
  ] as const) {
    const { decision, fault } = await hand.approve(tool, input);
    assert.deepEqual([decision, fault], ["deny", "POLICY_DENIED"], JSON.stringify(input));
  }
  writeFileSync(join(hand.workspace, "a"), "a");
  const { decision, fault } = await hand.approve("shell", { command: `mv a ${hand.folder} && ls ${hand.folder}/a` });
  assert.deepEqual([decision, fault], ["ask", undefined]);
});

test("a line that is held to the workspace renames no folder above what is hidden in it", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("deep/er/x", "x\n");
  linkSync(join(at.outside, "secret.txt"), join(at.workspace, "deep/er/hard"));
  for (const command of ["mv deep deep2; ls", "mv deep/er deep/er2", "cat deep*/er*/hard"]) {
    const { text, fault } = await approved(at.hand, "shell", { command, access: "workspace" });
    assert.equal(fault, undefined);
    assert.doesNotMatch(text, new RegExp(SECRET), command);
  }
  const { text } = await at.attempt("shell", { command: "cat deep*/er*/*; mv deep/er/x deep/er/y", access: "read" });
  assert.doesNotMatch(text, new RegExp(SECRET));
  const free = await approved(at.hand, "shell", {
    command: "mv deep/er/x deep/er/y && ls deep/er",
    access: "workspace",
  });
  assert.match(free.text, /y/);
});

test(
  "a folder that shows the state by another mount is covered as well",
  { skip: process.getuid?.() !== 0 },
  async (t) => {
    const hand = await startAttackedHand(t);
    const shown = join(hand.folder, "shown");
    mkdirSync(shown);
    execFileSync("mount", ["--bind", join(hand.folder, "d"), shown]);
    try {
      // The hand looks at the mounts of its host now and then.
      const named = { command: `ls ${shown}/vidro`, access: "host" };
      while ((await hand.approve("shell", named)).decision !== "deny") await sleep(100);
      const { text } = await hand.approve("shell", {
        command: `cat ${decoded(shown)}/vidro/token; echo end`,
        access: "host",
      });
      assert.match(text, /end/);
      assert.doesNotMatch(text, new RegExp(STATE_SECRET));
    } finally {
      execFileSync("umount", ["--lazy", shown]);
    }
  },
);
