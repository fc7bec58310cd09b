import assert from "node:assert/strict";
import { chmodSync, chownSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { scratch } from "../../scratch.fixture.ts";
import { findSecretTwins, ForeignLinks } from "./foreign-links.ts";

/** A workspace, and a folder beside it. */
function places(t: TestContext): { readonly workspace: string; readonly outside: string } {
  const folder = scratch(t);
  const [workspace, outside] = [join(folder, "workspace"), join(folder, "outside")];
  for (const path of [workspace, outside]) mkdirSync(path);
  return { workspace, outside };
}

function file(...parts: readonly string[]): string {
  const path = join(...parts);
  writeFileSync(path, "x");
  return path;
}

/** Foreign files as a new scan finds them. */
const foreignIn = async (workspace: string): Promise<readonly string[]> =>
  [...(await new ForeignLinks().below(workspace)).foreign].sort();

test("a file with a name outside of the workspace is foreign, and one with all names inside is not", async (t) => {
  const { workspace, outside } = places(t);
  mkdirSync(join(workspace, "deep/er"), { recursive: true });
  linkSync(file(outside, "theirs"), join(workspace, "deep/er/ours"));
  linkSync(file(workspace, "one"), join(workspace, "deep/two"));
  file(workspace, "plain");
  assert.deepEqual(await foreignIn(workspace), [join(workspace, "deep/er/ours")]);
  linkSync(join(workspace, "one"), join(outside, "three"));
  assert.deepEqual(await foreignIn(workspace), [
    join(workspace, "deep/er/ours"),
    join(workspace, "deep/two"),
    join(workspace, "one"),
  ]);
});

test("a linked file of another owner is foreign wherever its names are", async (t) => {
  const { workspace } = places(t);
  const [one, two] = [file(workspace, "one"), join(workspace, "two")];
  linkSync(one, two);
  assert.deepEqual(await foreignIn(workspace), []);
  // Only root may give a file away.
  if (process.getuid?.() !== 0) return;
  chownSync(one, 65534, 65534);
  assert.deepEqual(await foreignIn(workspace), [one, two]);
});

test("symlinks to files and folders outside are not followed", async (t) => {
  const { workspace, outside } = places(t);
  linkSync(file(outside, "one"), join(outside, "two"));
  symlinkSync(outside, join(workspace, "folder"));
  symlinkSync(join(outside, "one"), join(workspace, "file"));
  assert.deepEqual(await foreignIn(workspace), []);
});

test("with very many links of its owner only those are covered that others may not read", async (t) => {
  const { workspace, outside } = places(t);
  for (let nth = 0; nth <= HAND_LIMITS.foreignLinks; nth += 1)
    linkSync(file(outside, `f${nth}`), join(workspace, `f${nth}`));
  const secret = file(outside, "secret");
  chmodSync(secret, 0o600);
  linkSync(secret, join(workspace, "secret"));
  assert.deepEqual(await foreignIn(workspace), [join(workspace, "secret")]);
  rmSync(join(workspace, "f0"));
  rmSync(join(workspace, "f1"));
  assert.equal((await foreignIn(workspace)).length, HAND_LIMITS.foreignLinks);
});

test("scans of one folder that are asked for at once are one, and a folder that is not there has none", async (t) => {
  const { workspace } = places(t);
  const links = new ForeignLinks();
  const [one, other] = [links.below(workspace), links.below(workspace)];
  assert.equal(one, other);
  assert.deepEqual(await one, { foreign: [], linked: [] });
  assert.deepEqual(await links.below(join(workspace, "nothing")), { foreign: [], linked: [] });
  assert.deepEqual(await links.below(file(workspace, "file")), { foreign: [], linked: [] });
});

test("a folder that cannot be read, and files that vanish meanwhile, do not end a scan", async (t) => {
  const { workspace, outside } = places(t);
  const shut = join(workspace, "shut");
  mkdirSync(shut);
  linkSync(file(outside, "theirs"), join(workspace, "ours"));
  chmodSync(shut, 0);
  for (let nth = 0; nth < 200; nth += 1) file(workspace, `f${nth}`);
  const found = foreignIn(workspace);
  for (let nth = 0; nth < 200; nth += 1) rmSync(join(workspace, `f${nth}`));
  assert.deepEqual(await found, [join(workspace, "ours")]);
  chmodSync(shut, 0o700);
});

test("every name of a secret file is found, also where the secret is a folder, and names are compared whole", async (t) => {
  const { workspace } = places(t);
  for (const name of ["vault", "vault-not", "src"]) mkdirSync(join(workspace, name));
  linkSync(file(workspace, "vault/key"), join(workspace, "src/copy"));
  linkSync(file(workspace, "vault-not/key"), join(workspace, "src/other"));
  const { linked } = await new ForeignLinks().below(workspace);
  const twins = findSecretTwins(linked, [join(workspace, "vault")]);
  assert.deepEqual([...twins].sort(), [join(workspace, "src/copy"), join(workspace, "vault/key")]);
  assert.deepEqual(findSecretTwins(linked, []), []);
  assert.deepEqual(findSecretTwins([], [workspace]), []);
  assert.deepEqual([...findSecretTwins(linked, [join(workspace, "src/other")])].sort(), [
    join(workspace, "src/other"),
    join(workspace, "vault-not/key"),
  ]);
});
