import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { FILES, HERE_ONLY, hold, makeRepository as make } from "./git-view.fixture.ts";

describe("a command that changes a repository where files are hidden", () => {
  it("changes nothing in the repository, whatever a held command writes to the index that it sees", async (t) => {
    const repository = make(t);
    const index = readFileSync(repository.at(".git/index"));
    await hold(repository.folder, "echo broken > .git/index; git add -A; git update-index --really-refresh");
    assert.deepEqual(readFileSync(repository.at(".git/index")), index);
    assert.equal(await hold(repository.folder, "git status --porcelain"), "=> 0");
  });

  const WRITES = [
    "git commit -qam second",
    "git add -A; git commit -qm second",
    "git add a.txt && git commit -qm second",
    "git stash",
    "git rm -rqf .env.local; git commit -qm second",
    "git reset -q --hard",
    "git checkout -q -f -- .",
    "git clean -qfdx",
    "git update-index --really-refresh; git commit -qm second",
    "rm -f .env.local; mv .env.local b; echo x > .env.local; ln -f a.txt .env.local; git add -A; git commit -qm second",
  ];
  for (const line of WRITES)
    it(`keeps a hidden file out of what is committed and whole on disk: ${line}`, async (t) => {
      const repository = make(t);
      repository.write("a.txt", "two\n");
      repository.write(".env.local", HERE_ONLY);
      const told = await hold(repository.folder, line, repository.folder, "workspace");
      assert.ok(!told.includes(HERE_ONLY));
      assert.equal(readFileSync(repository.at(".env.local"), "utf8"), HERE_ONLY);
      assert.equal(repository.git("show", "HEAD:.env.local"), FILES[".env.local"]);
    });

  it("commits the named files of a command that may write, and leaves the hidden ones as they were in the index", async (t) => {
    const repository = make(t);
    repository.write("a.txt", "two\n");
    const entries = repository.git("ls-files", "-s", ".env.local", "deploy");
    const told = await hold(repository.folder, "git commit -qm second a.txt", repository.folder, "workspace");
    assert.equal(told, "=> 0");
    assert.equal(repository.git("show", "--format=%s", "--name-only"), "second\n\na.txt\n");
    assert.equal(repository.git("ls-files", "-s", ".env.local", "deploy"), entries);
    assert.equal(repository.git("status", "--porcelain"), "");
  });
});
