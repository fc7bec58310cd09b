import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Hand } from "@vidro/core";
import { localHand } from "./hand.ts";
import { openPolicy } from "./policy/policy-file.ts";

/*
 * Project files that execute (the class of CVE-2025-61260 and CVE-2025-59536): a repository that came as an archive
 * names programs in its own settings, and an agent only looks at it.
 */

/** A repository whose every setting that can name a program names one that leaves a mark. */
async function hostile(t: TestContext): Promise<{ hand: Hand; mark: string }> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-hostile-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "work");
  // Outside every folder that a sandbox replaces by an empty one, so that a mark that is made is a mark that is seen.
  const mark = join(workspace, "mark");
  mkdirSync(workspace);
  const evil = join(workspace, "evil.sh");
  writeFileSync(evil, `#!/bin/sh\necho ran >> ${mark}\ncat\n`);
  chmodSync(evil, 0o755);
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: workspace, stdio: "ignore" });
  git("init", "-q");
  git("config", "user.email", "a@example.org");
  git("config", "user.name", "a");
  writeFileSync(join(workspace, "a.txt"), "one\n");
  git("add", "a.txt");
  git("commit", "-qm", "one");
  writeFileSync(join(workspace, ".gitattributes"), "*.txt diff=evil filter=evil\n");
  writeFileSync(join(workspace, "a.txt"), "two\n");
  const settings: Record<string, string> = {
    "core.fsmonitor": evil,
    "core.pager": evil,
    "core.sshCommand": evil,
    "diff.external": evil,
    "diff.evil.command": evil,
    "diff.evil.textconv": evil,
    "filter.evil.clean": evil,
    "filter.evil.smudge": evil,
    "filter.evil.process": evil,
    "gpg.program": evil,
    "log.showSignature": "true",
    "format.pretty": "%G? %h",
  };
  for (const [name, value] of Object.entries(settings)) git("config", name, value);
  const home = join(folder, "home");
  mkdirSync(home);
  const policy = openPolicy({ file: join(home, "policy.json"), workspace, state: home });
  const hand = await localHand({ id: "local", workspace, state: join(home, "hand"), reserved: home, policy });
  t.after(() => hand.close());
  rmSync(mark, { force: true });
  return { hand, mark };
}

const LOOKS = ["status", "diff", "log -p", "show HEAD", "log --stat", "blame a.txt", "ls-files -m", "branch -v"];

test("looking at a hostile repository with git runs nothing that can write, and gives an answer", async (t) => {
  const { hand, mark } = await hostile(t);
  for (const [index, look] of LOOKS.entries()) {
    const action = {
      id: `act_${index}`,
      tool: "command",
      input: { command: "git", args: look.split(" ") },
      callId: "c",
    };
    const judged = await hand.judge(action);
    assert.ok(!("code" in judged), look);
    assert.equal(judged.verdict.decision, "allow", `${look}: ${judged.verdict.reason}`);
    assert.ok(judged.plan.kind === "process" && judged.plan.confined, look);
    const order = { action, run: "run", epoch: 1, ttlMs: 60_000 };
    const events = await Array.fromAsync(hand.perform(order, new AbortController().signal));
    const end = events.at(-1);
    assert.ok(end?.type === "finished" && end.outcome.kind === "process", look);
    assert.equal(end.outcome.timedOut, false, look);
    assert.equal(existsSync(mark), false, `git ${look} has run a program of the repository's choice`);
  }
});

test("what git would change is asked, and runs as it was asked", async (t) => {
  const { hand } = await hostile(t);
  const input = { command: "git", args: ["commit", "-qm", "x"] };
  const judged = await hand.judge({ id: "act_c", tool: "command", input, callId: "c" });
  assert.ok(!("code" in judged) && judged.plan.kind === "process");
  assert.equal(judged.verdict.decision, "ask");
  assert.equal(judged.plan.confined, undefined);
});
