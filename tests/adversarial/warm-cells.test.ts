import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SECRET } from "./attack.fixture.ts";
import { NOBODY, startAttackedHand, type AttackedHand } from "./attacked-hand.fixture.ts";

/*
 * A sandbox is set up before its command is known. Whatever changes between the two, the command is held as if its
 * sandbox had been made for it, and no sandbox is left when its hand ends.
 */

const USERS = process.getuid?.() === 0 ? ([undefined, NOBODY] as const) : ([undefined] as const);

/** Pids of the sandboxes of a hand, with those that wait for a command. */
function cellsOf(hand: Pick<AttackedHand, "pid">): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return new RegExp(`VIDRO_ACTION=${hand.pid}-[^/]*/cell-`, "u").test(
          readFileSync(`/proc/${pid}/environ`, "latin1"),
        );
      } catch {
        return false;
      }
    });
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (let left = 800; !isTrue(); left -= 1) {
    assert.ok(left > 0, `not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Runs a line that is held to reading, and waits until a sandbox for the next one waits. */
async function read(hand: AttackedHand, command: string): Promise<string> {
  const { decision, text } = await hand.attempt("shell", { command, access: "read" });
  assert.equal(decision, "allow");
  await until(() => isWaiting(hand), "a sandbox waits");
  return text;
}

/** Whether the shell of a sandbox of the hand waits for its input. */
function isWaiting(hand: AttackedHand): boolean {
  return cellsOf(hand).some((pid) => {
    try {
      const isShell = readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("/bin/sh\0-s\0vidro-cell");
      return isShell && readFileSync(`/proc/${pid}/stat`, "utf8").includes(") S ");
    } catch {
      return false;
    }
  });
}

for (const user of USERS) {
  const who = user === undefined ? "" : " (a hand without rights)";

  test(`what is secret stays hidden when it is replaced after the sandbox was set up${who}`, async (t) => {
    const hand = await startAttackedHand(t, { isHomeWorkspace: true, ...(user === undefined ? {} : { user }) });
    const [secret, next] = [join(hand.workspace, ".netrc"), join(hand.workspace, "next")];
    writeFileSync(secret, "first\n");
    assert.doesNotMatch(await read(hand, "cat .net*"), /first/);
    for (let round = 0; round < 3; round += 1) {
      writeFileSync(next, `${SECRET}\n`, { mode: 0o644 });
      renameSync(next, secret);
      const text = await read(hand, "cat .net*; grep -r . .");
      assert.ok(!text.includes(SECRET), text);
    }
  });

  test(`a command sees the workspace that is there when it runs${who}`, async (t) => {
    const hand = await startAttackedHand(t, user === undefined ? {} : { user });
    writeFileSync(join(hand.workspace, "a.txt"), "old\n");
    assert.equal(await read(hand, "cat a.txt"), "old\n");
    writeFileSync(join(hand.workspace, "a.txt"), "written\n");
    assert.equal(await read(hand, "cat a.txt"), "written\n");
    rmSync(hand.workspace, { recursive: true });
    mkdirSync(hand.workspace);
    writeFileSync(join(hand.workspace, "a.txt"), "new\n");
    assert.equal(await read(hand, "cat a.txt"), "new\n");
  });

  test(`what a command leaves behind in its sandbox no other one finds${who}`, async (t) => {
    const hand = await startAttackedHand(t, user === undefined ? {} : { user });
    // Folders above the workspace and above this repository may be there.
    for (let round = 0; round < 3; round += 1)
      assert.doesNotMatch(
        await read(hand, "ls -A /tmp /var/tmp; touch /tmp/left /var/tmp/left; ls /tmp/left"),
        /^left$/m,
      );
  });

  test(`no sandbox outlives its hand, however the hand ends${who}`, async (t) => {
    const hand = await startAttackedHand(t, user === undefined ? {} : { user });
    await read(hand, "true");
    await hand.attempt("command", { command: "uname", args: [] });
    await until(() => cellsOf(hand).length > 0, "a sandbox waits");
    process.kill(hand.pid, "SIGKILL");
    await until(() => cellsOf(hand).length === 0, "no sandbox is left");
  });
}

test("the words of a command reach it as they are, and are never taken for words of the waiting shell", async (t) => {
  const hand = await startAttackedHand(t);
  const words = [
    "'",
    "''; echo lost; '",
    '"$(id)"',
    "`id`",
    "a\nb",
    "\\",
    "}",
    "} ; echo out",
    "$HOME",
    "*",
    "",
    "é\t",
  ];
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  for (let round = 0; round < 2; round += 1)
    assert.equal(await read(hand, `printf '%s|' ${quoted}`), words.map((word) => `${word}|`).join(""));
});
