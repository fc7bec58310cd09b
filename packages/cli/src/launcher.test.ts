import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const LAUNCHER = fileURLToPath(new URL("../bin/vidro", import.meta.url));
const FRESHNESS = fileURLToPath(new URL("../../../scripts/bundler/is-fresh.sh", import.meta.url));

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

/** Files of a clone by which the launcher goes. */
const CLONE = [
  "packages/cli/src/main.ts",
  "packages/cli/src/commands/run.ts",
  "packages/cli/package.json",
  "packages/brain/agents/bunny.md",
  "package-lock.json",
  ".cache/vidro/made",
];

/** Changes something until its time of change is after a given one: the clock of a file system is coarse. */
async function changeAfter(afterMs: number, path: string, change: () => Promise<void>): Promise<number> {
  for (;;) {
    await change();
    const { ctimeMs } = await stat(path);
    if (ctimeMs > afterMs) return ctimeMs;
  }
}

test("a clone starts its bundle, and its sources once one of them was changed, put back with its old date, added or removed", async () => {
  const clone = await mkdtemp(join(tmpdir(), "vidro-launcher-"));
  const at = (path: string): string => join(clone, path);
  for (const path of CLONE) {
    await mkdir(join(at(path), ".."), { recursive: true });
    await writeFile(at(path), "");
  }
  for (const folder of ["packages/cli/bin", "node_modules/.bin", "scripts/bundler"])
    await mkdir(at(folder), { recursive: true });
  await copyFile(LAUNCHER, at("packages/cli/bin/vidro"));
  await copyFile(FRESHNESS, at("scripts/bundler/is-fresh.sh"));
  await writeFile(at("scripts/bundler/bundle.js"), "");
  await copyFile(join(root, "node_modules/.bin/node"), at("node_modules/.bin/node"));
  const source = at("packages/cli/src/commands/run.ts");
  const [made, gone] = [at(".cache/vidro/made"), at("packages/cli/src/gone.ts")];
  const long = new Date(0);
  const runs = async (): Promise<string | undefined> => {
    const [, words = ""] = await started({}, at("packages/cli/bin/vidro"));
    return /lib\/vidro\/vidro\.js run two words$|--conditions=vidro-source .*src\/main\.ts run two words$/.exec(
      words,
    )?.[0][0];
  };
  const [bundle, sources] = ["l", "-"];
  const changes: readonly (readonly [string, () => Promise<void>])[] = [
    [source, () => writeFile(source, "changed")],
    [source, () => utimes(source, long, long)],
    [at("packages/cli/src/commands"), () => writeFile(at(`packages/cli/src/commands/${performance.now()}.ts`), "")],
    [at("packages/cli/src"), () => writeFile(gone, "").then(() => rm(gone))],
    [at("packages/brain/agents/bunny.md"), () => writeFile(at("packages/brain/agents/bunny.md"), "changed")],
  ];
  let changedAt = 0;
  for (const [path, change] of changes) {
    const madeAt = await changeAfter(changedAt, made, () => writeFile(made, ""));
    assert.equal(await runs(), bundle);
    changedAt = await changeAfter(madeAt, path, change);
    assert.equal(await runs(), sources, path);
  }
  await rm(clone, { recursive: true });
});

test("without a Node of its own the launcher takes one that is new enough, and refuses an older one with what to do", async () => {
  const alone = await mkdtemp(join(tmpdir(), "vidro-launcher-"));
  const [bin, path] = [join(alone, "lib/vidro/bin"), join(alone, "path")];
  for (const folder of [bin, path]) await mkdir(folder, { recursive: true });
  await copyFile(LAUNCHER, join(bin, "vidro"));
  const startOn = async (version: string) => {
    await writeFile(join(path, "node"), `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo started\n`, {
      mode: 0o755,
    });
    return promisify(execFile)(join(bin, "vidro"), ["run"], { env: { PATH: `${path}:/usr/bin:/bin` } });
  };
  for (const version of ["v26.0.0", "v27.1.3", "v30.0.0"]) assert.equal((await startOn(version)).stdout, "started\n");
  for (const version of ["v20.20.2", "v9.0.0", "v25.9.9"])
    await assert.rejects(startOn(version), (thrown: { code: number; stderr: string }) => {
      assert.equal(thrown.code, 1);
      assert.match(thrown.stderr, new RegExp(`Node 26 or newer is needed, and this is ${version}`));
      assert.match(thrown.stderr, /--include=optional/);
      return true;
    });
  await rm(alone, { recursive: true, force: true });
});
