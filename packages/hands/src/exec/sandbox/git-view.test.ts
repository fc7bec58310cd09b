import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, linkSync, mkdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, it } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { scratch } from "../../scratch.fixture.ts";
import { childrenOf } from "../proc.ts";
import {
  ENV,
  FILES,
  findSandbox,
  HERE_ONLY,
  hold,
  makeRepository as make,
  Repository,
  scopeOf,
} from "./git-view.fixture.ts";

/* What a held git says about repositories in which files are hidden is what git says that sees them. */

/** Questions about a work tree; the answers name files and tell whether they differ. */
const QUESTIONS = [
  "git status",
  "git status --porcelain=v2 --ignored",
  "git diff --name-status",
  "git diff --cached --name-status",
  "git diff --quiet",
  "git diff-index --quiet HEAD",
  "git diff-files --name-status",
  "git ls-files -m -d -o --exclude-standard",
  "git describe --always --dirty",
  "git stash list",
  "git log --stat --format=%s",
];

/** Resolves when a process below another one has something mounted at a path. */
async function mountedBy(parent: number, path: string): Promise<void> {
  const isMounted = (pid: number): boolean =>
    childrenOf(pid).some((child) => hasMount(child, path) || isMounted(child));
  while (!isMounted(parent)) await sleep(5);
}

function hasMount(pid: number, path: string): boolean {
  try {
    const isSetUp = readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sh\0");
    return isSetUp && readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(` ${path} `);
  } catch {
    return false;
  }
}

describe("git where files are hidden", () => {
  function seen(line: string, cwd: string): string {
    return execFileSync("/bin/sh", ["-c", `{ ${line}; } 2>&1; echo "=> $?"`], {
      cwd,
      env: ENV,
      encoding: "utf8",
    }).trim();
  }

  /** Asks each question inside and outside; the answers are the same, and the secret's content is in none. */
  async function assertTold(folder: string, cwd = folder): Promise<void> {
    for (const question of QUESTIONS) {
      const told = await hold(folder, question, cwd);
      assert.equal(told, seen(question, cwd), question);
      assert.ok(!told.includes(HERE_ONLY), question);
    }
    assert.ok(
      !(await hold(folder, "git diff; git diff HEAD; git diff --text; git grep -n TOKEN", cwd)).includes(HERE_ONLY),
    );
  }

  const CHANGES: readonly (readonly [name: string, change: (one: Repository) => void])[] = [
    ["nothing was changed", () => undefined],
    ["nothing was changed and the index is older than its files are", (one) => one.settle()],
    ["a secret was changed", (one) => one.write(".env.local", `TOKEN=${HERE_ONLY}\n`)],
    ["a secret was changed to another of the same length", (one) => one.write(".env.local", "TOKEN=COMMITTED\n")],
    ["a secret was written again as it was", (one) => one.write(".env.local", FILES[".env.local"])],
    ["a secret was touched", (one) => (one.settle(), utimesSync(one.at(".env.local"), 1_650_000_000, 1_650_000_000))],
    ["a secret was made executable", (one) => chmodSync(one.at(".env.local"), 0o755)],
    [
      "a secret was made executable where that does not count",
      (one) => (one.git("config", "core.fileMode", "false"), chmodSync(one.at(".env.local"), 0o755)),
    ],
    ["a secret was removed", (one) => rmSync(one.at(".env.local"))],
    ["a secret was removed from the index alone", (one) => one.git("rm", "-q", "--cached", ".env.local")],
    ["a secret became a link", (one) => (rmSync(one.at(".env.local")), symlinkSync("a.txt", one.at(".env.local")))],
    ["a secret became a folder", (one) => (rmSync(one.at(".env.local")), mkdirSync(one.at(".env.local")))],
    ["a secret is not tracked", (one) => one.write(".env", HERE_ONLY)],
    ["a secret is ignored", (one) => (one.write(".gitignore", ".env\n"), one.write(".env", HERE_ONLY))],
    ["a new secret is staged", (one) => (one.write(".env", "NEW=1\n"), one.git("add", ".env"))],
    [
      "a new secret is staged and was changed since",
      (one) => (one.write(".env", "NEW=1\n"), one.git("add", ".env"), appendFileSync(one.at(".env"), HERE_ONLY)),
    ],
    ["a secret is meant to be added", (one) => (one.write(".env", HERE_ONLY), one.git("add", "-N", ".env"))],
    ["a change of a secret is staged", (one) => (one.write(".env.local", "TOKEN=2\n"), one.git("add", "-u"))],
    ["a secret was renamed", (one) => one.git("mv", "deploy/server.key", "deploy/other.key")],
    ["a secret was renamed to a name that tells nothing", (one) => one.git("mv", ".env.local", "settings")],
    ["a file was renamed to a secret name", (one) => one.git("mv", "a.txt", ".env")],
    ["a secret was moved without git", (one) => renameSync(one.at(".env.local"), one.at(".env"))],
    ["another file was changed", (one) => one.write("a.txt", "ONE\n")],
    ["another file was changed and staged", (one) => (one.write("a.txt", "ONE\n"), one.git("add", "a.txt"))],
    [
      "a secret is left alone as its owner told",
      (one) => (one.git("update-index", "--skip-worktree", ".env.local"), one.write(".env.local", HERE_ONLY)),
    ],
    [
      "a secret is assumed to be unchanged",
      (one) => (one.git("update-index", "--assume-unchanged", ".env.local"), one.write(".env.local", HERE_ONLY)),
    ],
    ["the index has prefixes", (one) => one.git("update-index", "--index-version", "4")],
    [
      "the index has prefixes and a secret was changed",
      (one) => (one.git("update-index", "--index-version", "4"), one.write("deploy/server.key", HERE_ONLY)),
    ],
    [
      "the index has no sum",
      (one) => (one.git("-c", "index.skipHash=true", "update-index", "--force-write-index"), undefined),
    ],
    ["the checkout is sparse", (one) => one.git("sparse-checkout", "set", "deploy")],
    [
      "a secret was changed in a sparse checkout",
      (one) => (one.git("sparse-checkout", "set", "deploy"), one.write("deploy/server.key", HERE_ONLY)),
    ],
    ["a stash holds a change of a secret", (one) => (one.write(".env.local", "TOKEN=2\n"), one.git("stash"))],
  ];
  for (const [name, change] of CHANGES)
    it(`tells what git tells that sees all: ${name}`, async (t) => {
      const repository = make(t);
      change(repository);
      await assertTold(repository.folder);
    });

  it("tells of a repository with hashes of 32 bytes", async (t) => {
    const repository = make(t, FILES, "sha256");
    await assertTold(repository.folder);
    repository.write(".env.local", HERE_ONLY);
    await assertTold(repository.folder);
  });

  it("tells of a secret in conflict", async (t) => {
    const repository = make(t);
    repository.git("checkout", "-q", "-b", "other");
    repository.write(".env.local", "TOKEN=theirs\n");
    repository.git("commit", "-qam", "theirs");
    repository.git("checkout", "-q", "main");
    repository.write(".env.local", "TOKEN=ours\n");
    repository.git("commit", "-qam", "ours");
    assert.throws(() => repository.git("merge", "-q", "other"));
    appendFileSync(repository.at(".env.local"), HERE_ONLY);
    await assertTold(repository.folder);
  });

  it("tells of submodules, nested repositories and worktrees, each with secrets of its own", async (t) => {
    const repository = make(t);
    const library = new Repository(join(scratch(t), "library"), { "b.txt": "b\n", ".env": "LIBRARY=1\n" });
    repository.git(
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      `file://${library.folder}`,
      "library",
    );
    repository.git("commit", "-qm", "library");
    const nested = new Repository(repository.at("nested"), { ".env": "NESTED=1\n" });
    repository.git("worktree", "add", "-q", "tree", "-b", "side");
    const places = ["library", "nested", "tree"].map((name) => repository.at(name));
    for (const place of [repository.folder, ...places]) await assertTold(repository.folder, place);
    writeFileSync(repository.at("library/.env"), HERE_ONLY);
    nested.write(".env", HERE_ONLY);
    writeFileSync(repository.at("tree/.env.local"), HERE_ONLY);
    for (const place of [repository.folder, ...places]) await assertTold(repository.folder, place);
  });

  it("tells of tracked files in a hidden folder, whether or not they were changed", async (t) => {
    const repository = make(t, { "a.txt": "one\n", "vault/one": "1\n", "vault/deep/two": "2\n" });
    assert.match(await hold(repository.folder, "ls vault"), /^=> 0$/u);
    await assertTold(repository.folder);
    repository.write("vault/deep/two", HERE_ONLY);
    await assertTold(repository.folder);
  });

  it("tells of a tracked file that is hidden because it has a name outside of the workspace", async (t) => {
    const repository = make(t);
    linkSync(repository.at("a.txt"), join(dirname(repository.folder), "outside"));
    assert.match(await hold(repository.folder, "cat a.txt"), /Permission denied/u);
    await assertTold(repository.folder);
  });

  it("says that a changed secret differs, and shows neither its former nor its present content", async (t) => {
    const repository = make(t);
    repository.write(".env.local", `TOKEN=${HERE_ONLY}\n`);
    assert.match(
      await hold(repository.folder, "git diff"),
      /^diff --git a\/\.env\.local b\/\.env\.local\nindex \w+\.\.\w+ 100644\nBinary files a\/\.env\.local and b\/\.env\.local differ\n=> 0$/u,
    );
    assert.match(await hold(repository.folder, "cat .env.local"), /^This file is hidden from commands;/u);
  });

  it("lets no command open a secret that was not changed, nor find its content by a search in the work tree", async (t) => {
    const repository = make(t);
    assert.match(await hold(repository.folder, "cat .env.local"), /Permission denied\n=> 1$/u);
    assert.equal(await hold(repository.folder, "git grep committed"), "=> 1");
  });

  it("sees a change that was made while a sandbox waited for its command", async (t) => {
    const repository = make(t);
    repository.settle();
    assert.equal(await hold(repository.folder, "git status --porcelain"), "=> 0");
    repository.write(".env.local", HERE_ONLY);
    assert.equal(await hold(repository.folder, "git status --porcelain"), " M .env.local\n=> 0");
    repository.git("add", ".env.local");
    assert.equal(await hold(repository.folder, "git status --porcelain"), "M  .env.local\n=> 0");
    repository.git("commit", "-qm", "second");
    assert.equal(await hold(repository.folder, "git status --porcelain; git log -1 --format=%s"), "second\n=> 0");
  });

  it("shows no secret that was put in the place of a changed one while a sandbox waited for its command", async (t) => {
    const repository = make(t);
    repository.write(".env.local", "TOKEN=changed\n");
    await (await findSandbox()).warm(scopeOf(repository.folder));
    await mountedBy(process.pid, repository.at(".env.local"));
    // An editor saves by renaming, which takes the mount of the sandbox away with the file that it lay over.
    repository.write("saved", HERE_ONLY);
    renameSync(repository.at("saved"), repository.at(".env.local"));
    const told = await hold(repository.folder, "cat .env.local; git status --porcelain");
    assert.ok(!told.includes(HERE_ONLY), told);
    assert.match(told, / M \.env\.local\n=> 0$/u);
  });

  it("puts a bounded number of files into a view, however many repositories there are", async (t) => {
    const repository = make(t);
    const copied = ["config", "index"].map((name) => [name, readFileSync(repository.at(`.git/${name}`))] as const);
    for (let count = 0; count < 2 * HAND_LIMITS.gitFiles; count += 1) {
      for (const name of ["objects", "refs"]) mkdirSync(repository.at(`n${count}/.git/${name}`), { recursive: true });
      for (const [name, bytes] of copied) writeFileSync(repository.at(`n${count}/.git/${name}`), bytes);
      repository.write(`n${count}/.git/HEAD`, "ref: refs/heads/main\n");
      repository.write(`n${count}/.env.local`, HERE_ONLY);
    }
    const told = await hold(repository.folder, "cat a.txt */.env.local");
    assert.match(told, /^one\n/u);
    assert.ok(!told.includes(HERE_ONLY));
    const shown = told.match(/hidden from commands/gu)?.length ?? 0;
    assert.ok(shown > 0 && shown <= HAND_LIMITS.gitFiles / 2, String(shown));
  });

  it("notices a file of the same size and times that was changed when the index was written", async (t) => {
    const repository = make(t);
    const now = statSync(repository.at(".git/index")).mtimeMs / 1000;
    utimesSync(repository.at("a.txt"), now, now);
    repository.git("update-index", "-q", "--refresh");
    utimesSync(repository.at(".git/index"), now, now);
    writeFileSync(repository.at("a.txt"), "two\n");
    utimesSync(repository.at("a.txt"), now, now);
    assert.equal(await hold(repository.folder, "git -c core.trustctime=false status --porcelain"), " M a.txt\n=> 0");
  });

  const DAMAGES: readonly (readonly [name: string, bytes: (index: Buffer) => Buffer])[] = [
    ["empty", () => Buffer.alloc(0)],
    ["cut off", (index) => index.subarray(0, index.length >> 1)],
    [
      "of a version to come",
      (index) => Buffer.concat([index.subarray(0, 4), Buffer.from([0, 0, 0, 9]), index.subarray(8)]),
    ],
    [
      "of more entries than it holds",
      (index) => Buffer.concat([index.subarray(0, 8), Buffer.alloc(4, 0x7f), Buffer.alloc(64)]),
    ],
    ["another file", () => Buffer.from("#!/bin/sh\necho an index of git is something else\n")],
  ];
  for (const [name, bytes] of DAMAGES)
    it(`runs commands in a repository whose index is ${name}`, async (t) => {
      const repository = make(t);
      writeFileSync(repository.at(".git/index"), bytes(readFileSync(repository.at(".git/index"))));
      assert.equal(await hold(repository.folder, "cat a.txt; git log --format=%s"), "one\nfirst\n=> 0");
      assert.match(await hold(repository.folder, "cat .env.local"), /Permission denied/u);
    });

  const ODD: readonly (readonly [name: string, make: (one: Repository, outside: string) => void])[] = [
    ["is a link to another place", (one, outside) => symlinkSync(outside, one.at(".git/index"))],
    ["is a pipe", (one) => execFileSync("mkfifo", [one.at(".git/index")])],
    ["is a folder", (one) => mkdirSync(one.at(".git/index"))],
  ];
  for (const [name, replace] of ODD)
    it(`shows no file of the host and waits for none where an index ${name}`, async (t) => {
      const repository = make(t);
      const outside = join(dirname(repository.folder), "outside");
      renameSync(repository.at(".git/index"), outside);
      replace(repository, outside);
      assert.equal(await hold(repository.folder, "cat a.txt"), "one\n=> 0");
      assert.doesNotMatch(await hold(repository.folder, "timeout 1 cat .git/index"), /DIRC/u);
    });
});
