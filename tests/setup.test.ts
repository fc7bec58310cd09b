import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { until } from "./support/daemon-process.ts";

/* The set-up of a fresh clone, which people interrupt, kill and start twice. */

const SETUP = resolve(import.meta.dirname, "../scripts/setup.js");

/**
 * Stands for npm: it works until it is let go, writes down that it began and ended, and fails when another is at work in
 * the same folder, as npm does.
 */
const NPM = `#!/bin/sh
cd "$FOLDER"
mkdir working || { echo "npm error ENOTEMPTY" >&2; exit 190; }
echo "begun $$" >> npm.log
while [ ! -e go ]; do sleep 0.02; done
mkdir -p node_modules/.bin
case "$*" in *--omit=dev*) ;; *) mkdir -p node_modules/typescript ;; esac
echo "$1 $(echo "$*" | grep -o -- '--omit=dev')" >> words.log
cp /bin/true node_modules/.bin/node
echo '{}' > node_modules/.package-lock.json
rmdir working
echo ended >> npm.log
`;

class Clone {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), "vidro-setup-"));
    t.after(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
    for (const name of ["scripts", "path"]) mkdirSync(join(this.folder, name));
    cpSync(SETUP, join(this.folder, "scripts/setup.js"));
    writeFileSync(join(this.folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(this.folder, "package-lock.json"), "{}");
    writeFileSync(join(this.folder, "start.js"), 'import { setUp } from "./scripts/setup.js"; setUp();');
    writeFileSync(join(this.folder, "run.js"), 'import { setUpToRun } from "./scripts/setup.js"; setUpToRun();');
    writeFileSync(join(this.folder, "path/npm"), NPM, { mode: 0o755 });
  }

  /** Starts a set-up, in a process group of its own as a shell does. */
  start(script: "start.js" | "run.js" = "start.js") {
    const env = { PATH: `${join(this.folder, "path")}:/usr/bin:/bin`, FOLDER: this.folder };
    const child = spawn(process.execPath, [join(this.folder, script)], { env, detached: true });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    const ended = once(child, "close").then(([code]) => code as number | null);
    return { pid: child.pid ?? 0, ended, stderr: () => stderr };
  }

  /** What the stand-in for npm wrote down. */
  get log(): string {
    const path = join(this.folder, "npm.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Resolves when npm has begun so many times. */
  begun(times: number): Promise<void> {
    return until(`npm has begun ${times} times`, () => this.log.split("begun").length > times);
  }

  letGo(): void {
    writeFileSync(join(this.folder, "go"), "");
  }
}

test("of set-ups at the same moment one installs, and the others wait for it", async (t) => {
  const clone = new Clone(t);
  const all = [clone.start(), clone.start(), clone.start()];
  await clone.begun(1);
  await until("the others wait", () => all.filter(({ stderr }) => stderr().includes("waiting")).length === 2);
  clone.letGo();
  assert.deepEqual(await Promise.all(all.map(({ ended }) => ended)), [0, 0, 0]);
  assert.match(clone.log, /^begun \d+\nended\n$/);
});

test("a set-up waits for the npm of one that was killed, and takes what that installed", async (t) => {
  const clone = new Clone(t);
  const killed = clone.start();
  await clone.begun(1);
  process.kill(killed.pid, "SIGKILL");
  const next = clone.start();
  await until("the next one waits", () => next.stderr().includes("waiting for another set-up"));
  clone.letGo();
  assert.equal(await next.ended, 0, next.stderr());
  assert.match(clone.log, /^begun \d+\nended\n$/);
});

test("a set-up that is interrupted with its npm is done again by the next one", async (t) => {
  const clone = new Clone(t);
  const interrupted = clone.start();
  await clone.begun(1);
  process.kill(-interrupted.pid, "SIGINT");
  assert.notEqual(await interrupted.ended, 0);
  // npm cleans up when it is interrupted.
  rmSync(join(clone.folder, "working"), { recursive: true });
  clone.letGo();
  const next = clone.start();
  assert.equal(await next.ended, 0, next.stderr());
  assert.match(clone.log, /^begun \d+\nbegun \d+\nended\n$/);
});

test("a set-up to run leaves out what only development needs; one to develop adds it to what is there", async (t) => {
  const clone = new Clone(t);
  clone.letGo();
  for (const script of ["run.js", "run.js", "start.js", "start.js", "run.js"] as const) {
    const { ended, stderr } = clone.start(script);
    assert.equal(await ended, 0, stderr());
  }
  assert.equal(readFileSync(join(clone.folder, "words.log"), "utf8"), "ci --omit=dev\ninstall \n");
});
