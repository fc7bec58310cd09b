import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { findImpliedRuns } from "../exec/implied-files.ts";
import { contextIn, handIn, scratch } from "../scratch.fixture.ts";
import { readFileStart } from "./regular-file.ts";

/** A folder with a fifo that nothing ever writes to. */
function withFifo(t: TestContext, name: string): string {
  const folder = scratch(t);
  execFileSync("mkfifo", [join(folder, name)]);
  return folder;
}

describe("the beginning of a file of a project", () => {
  it("is the whole of a file that is short enough, and says when there is more", (t) => {
    const path = join(scratch(t), "a");
    writeFileSync(path, "héllo");
    const start = (bytes: number) => {
      const read = readFileStart(path, bytes);
      return [String(read?.bytes), read?.isCut];
    };
    assert.deepEqual(start(100), ["héllo", false]);
    assert.deepEqual(start(6), ["héllo", false]);
    assert.deepEqual(start(5), ["héll", true]);
    assert.deepEqual(start(0), ["", true]);
  });

  it("is nothing for what is not there or is no regular file, and never waits for it", (t) => {
    const folder = withFifo(t, "fifo");
    symlinkSync(join(folder, "fifo"), join(folder, "link"));
    mkdirSync(join(folder, "folder"));
    for (const name of ["missing", "fifo", "link", "folder", "a\0b"])
      assert.equal(readFileStart(join(folder, name), 100), undefined, name);
    assert.equal(readFileStart("/dev/zero", 100), undefined);
  });

  it("follows a link to a file, and leaves no descriptor open", (t) => {
    const folder = scratch(t);
    writeFileSync(join(folder, "a"), "x");
    symlinkSync("a", join(folder, "link"));
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 50; round += 1) {
      assert.equal(String(readFileStart(join(folder, "link"), 10)?.bytes), "x");
      readFileStart(folder, 10);
    }
    assert.equal(readdirSync("/proc/self/fd").length, before);
  });
});

describe("a project that holds fifos", () => {
  it("does not stop a hand that tells its surroundings", async (t) => {
    const folder = scratch(t);
    const { workspace } = contextIn(folder);
    mkdirSync(join(workspace, ".agents", "skills", "s"), { recursive: true });
    for (const name of ["AGENTS.md", ".git", ".agents/skills/s/SKILL.md"])
      execFileSync("mkfifo", [join(workspace, name)]);
    const hand = await handIn(t, folder);
    const told = await hand.surroundings?.();
    assert.equal(told?.guides?.length ?? 0, 0);
    assert.equal(told?.git, undefined);
  });

  it("does not stop a hand that looks for what a command would run", (t) => {
    const folder = withFifo(t, "package.json");
    const { lines } = findImpliedRuns(["npm", "test"], folder);
    assert.deepEqual(lines, []);
  });
});
