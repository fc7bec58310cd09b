import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { HAND_LIMITS, type Confinement } from "@vidro/core";
import { SECRETS } from "../../policy/default-policy/file-rules.ts";
import { QUIET_ENV } from "../../policy/default-policy.ts";
import { scratch } from "../../scratch.fixture.ts";
import { findHostSandbox, type Sandbox, type SandboxScope } from "../sandbox.ts";

/* Repositories with files that the sandbox hides, and lines that run in it. */

/** The environment of every git. */
export const ENV = {
  PATH: process.env["PATH"] ?? "",
  ...QUIET_ENV,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

/** The content of secrets in work trees: no held command may show it. */
export const HERE_ONLY = "only-on-this-disk";

/** Files of a repository, two of them hidden. */
export const FILES = { "a.txt": "one\n", ".env.local": "TOKEN=committed\n", "deploy/server.key": "committed\n" };

/** A workspace whose top is a repository, with one commit of the given files. */
export class Repository {
  readonly folder: string;

  constructor(folder: string, files: { readonly [path: string]: string }, format = "sha1") {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.git("init", "-q", "-b", "main", `--object-format=${format}`);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
    this.git("add", "-Af");
    this.git("commit", "-qm", "first");
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.folder, env: ENV, encoding: "utf8" });
  }

  /** Makes the index older than the files are not: git trusts the times of files only then. */
  settle(): void {
    for (const path of this.git("ls-files", "-z")
      .split("\0")
      .filter((name) => name !== "")) {
      if (statSync(this.at(path), { throwIfNoEntry: false })?.isFile() === true)
        utimesSync(this.at(path), 1_600_000_000, 1_600_000_000);
    }
    this.git("update-index", "-q", "--refresh");
  }
}

/** A new repository in a folder of its own. */
export const makeRepository = (
  t: TestContext,
  files: { readonly [path: string]: string } = FILES,
  format?: string,
): Repository => new Repository(join(scratch(t), "work"), files, format);

/** What a line of the sandbox may see and touch. */
export function scopeOf(workspace: string, confined: Confinement = "files"): SandboxScope {
  const state = join(dirname(workspace), "state");
  return { confined, workspace, state, reserved: [state], env: ENV };
}

/** The sandbox of this host, with a hidden folder. */
export async function findSandbox(): Promise<Sandbox> {
  const sandbox = await findHostSandbox([...SECRETS, "{workspace}/vault/**"]);
  assert.ok(sandbox !== undefined);
  return sandbox;
}

/** Runs a line in the sandbox, held to reading unless told otherwise; what it printed, and its exit code. */
export async function hold(folder: string, line: string, cwd = folder, confined?: Confinement): Promise<string> {
  const sandbox = await findSandbox();
  const cell = await sandbox.hold(scopeOf(folder, confined));
  const order = { line: ["/bin/sh", "-c", line], cwd, tag: "test", memoryBytes: HAND_LIMITS.memoryBytes };
  const { child } = await cell.run({ ...order, hasInput: false });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (text += String(chunk)));
  const [code] = await once(child, "close");
  return `${text}=> ${code}`;
}
