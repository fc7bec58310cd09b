import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const LAUNCHER = fileURLToPath(new URL("../bin/vidro", import.meta.url));

let root: string;
let launcher: string;

// A repository whose Node only says what it was started with.
before(async () => {
  root = await mkdtemp(join(tmpdir(), "vidro-launcher-"));
  const [bin, node] = [join(root, "packages/cli/bin"), join(root, "node_modules/.bin")];
  for (const folder of [bin, node]) await mkdir(folder, { recursive: true });
  launcher = join(bin, "vidro");
  await copyFile(LAUNCHER, launcher);
  await writeFile(join(node, "node"), '#!/bin/sh\necho "cache=${NODE_COMPILE_CACHE-none}"\necho "$@"\n', {
    mode: 0o755,
  });
});

after(() => rm(root, { recursive: true, force: true }));

async function started(env: { readonly [name: string]: string }, program = launcher): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(program, ["run", "two words"], {
    env: { PATH: "/usr/bin:/bin", ...env },
  });
  return stdout.split("\n");
}

for (const [env, cache] of [
  [{ HOME: "/home/ann" }, "/home/ann/.cache/vidro/compile"],
  [{ HOME: "/home/ann", XDG_CACHE_HOME: "/var/cache/ann" }, "/var/cache/ann/vidro/compile"],
  [{ HOME: "/home/ann", NODE_COMPILE_CACHE: "/own" }, "/own"],
  [{}, "none"],
  [{ HOME: "" }, "none"],
  [{ HOME: "here" }, "none"],
] as const) {
  test(`with ${JSON.stringify(env)} compiled code is kept in ${cache}`, async () => {
    assert.equal((await started(env))[0], `cache=${cache}`);
  });
}

test("the launcher finds its Node and its code through symlinks, and hands its words on", async () => {
  const link = join(root, "vidro");
  await symlink("packages/cli/bin/vidro", link);
  const [, words] = await started({}, link);
  assert.match(words ?? "", /packages\/cli\/dist\/main\.js run two words$/);
});
