import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import manifest from "../../vendors/package.json" with { type: "json" };
import { folder } from "../stores/journal.fixture.ts";
import { loadVendorPackage } from "./vendor-packages.ts";
import type { VendorPackage } from "./vendor-packages.ts";

const [NAME, VERSION] = Object.entries(manifest.dependencies)[0] as [VendorPackage, string];

/**
 * A folder for packages and a stand-in for npm, which does what the test says after it has noted its call. Only what a
 * registry would give is played: each package is a module that tells its name.
 */
function stage(t: TestContext, script: string) {
  const place = folder();
  const [bin, calls] = [join(place.path, "bin"), join(place.path, "calls")];
  mkdirSync(bin);
  writeFileSync(calls, "");
  writeFileSync(join(bin, "npm"), `#!/bin/sh\necho "$*" >> ${calls}\n${script}\n`);
  chmodSync(join(bin, "npm"), 0o755);
  const path = process.env["PATH"];
  process.env["PATH"] = `${bin}:${path}`;
  t.after(() => {
    process.env["PATH"] = path;
    place[Symbol.dispose]();
  });
  const installed = join(place.path, "state", "vendors");
  return { place: place.path, installed, calls: () => readFileSync(calls, "utf8").split("\n").filter(Boolean) };
}

/** What npm would leave in its folder, of a version. */
function install(version: string): string {
  const at = `node_modules/${NAME}`;
  const about = JSON.stringify({ name: NAME, version, type: "module", main: "index.js" });
  return `mkdir -p ${at} && echo '${about}' > ${at}/package.json && echo 'export const from = "${version}";' > ${at}/index.js`;
}

test("a package is installed with the first use as the lockfile names it, and only loaded from then on", async (t) => {
  const { installed, calls, place } = stage(t, `${install(VERSION)}; test -f package-lock.json || exit 9`);
  const loaded = await loadVendorPackage<{ from: string }>(NAME, installed);
  assert.equal(loaded.from, VERSION);
  assert.equal((await loadVendorPackage<{ from: string }>(NAME, installed)).from, VERSION);
  assert.equal(calls().length, 1);
  assert.match(calls()[0] ?? "", /^ci .*--ignore-scripts/, "no script of a package runs");
  assert.deepEqual(readdirSync(join(place, "state")), ["vendors"], "no draft is left");
});

test("several that need packages at once install them once", async (t) => {
  const { installed, calls } = stage(t, install(VERSION));
  const all = await Promise.all([1, 2, 3].map(() => loadVendorPackage<{ from: string }>(NAME, installed)));
  assert.ok(all.every(({ from }) => from === VERSION));
  assert.equal(calls().length, 1);
});

test("packages of another version are replaced whole", async (t) => {
  const { installed, calls } = stage(t, install(VERSION));
  mkdirSync(join(installed, "node_modules", NAME), { recursive: true });
  writeFileSync(join(installed, "node_modules", NAME, "package.json"), JSON.stringify({ version: "0.0.1" }));
  writeFileSync(join(installed, "left-over"), "");
  assert.equal((await loadVendorPackage<{ from: string }>(NAME, installed)).from, VERSION);
  assert.deepEqual([calls().length, existsSync(join(installed, "left-over"))], [1, false]);
});

test("an installation that fails says why and what to do, leaves nothing, and is tried again", async (t) => {
  const { installed, calls, place } = stage(t, `echo "getaddrinfo ENOTFOUND registry" >&2; exit 1`);
  for (const _ of ["once", "twice"])
    await assert.rejects(loadVendorPackage(NAME, installed), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, "MODEL_UNAVAILABLE");
      assert.match(thrown.message, /ENOTFOUND registry\. It needs npm and its registry once.*copy the folder/s);
      assert.ok(thrown.message.includes(NAME) && thrown.message.includes(installed));
      return true;
    });
  assert.equal(calls().length, 2);
  assert.deepEqual(existsSync(join(place, "state")) ? readdirSync(join(place, "state")) : [], []);
});

test("an npm that says nothing is told by its exit, and one that floods is cut", async (t) => {
  await t.test("silent", async (one) => {
    const { installed } = stage(one, "exit 7");
    await assert.rejects(loadVendorPackage(NAME, installed), /npm ended with 7/);
  });
  await t.test("loud", async (one) => {
    const { installed } = stage(
      one,
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo last >&2; exit 1",
    );
    await assert.rejects(loadVendorPackage(NAME, installed), (thrown: Error) => {
      assert.ok(thrown.message.length < 3000 && thrown.message.includes("last"));
      return true;
    });
  });
});
