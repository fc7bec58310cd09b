import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

/* `npx vidro` outside a clone would run a package of that name on a public registry, which is not ours. */

const ROOT = resolve(import.meta.dirname, "../..");

/** A program that runs or installs a package by its name, and the name. */
const FETCH =
  /\b(?:npx|bunx|pnpx|(?:pnpm|yarn) (?:dlx|add)|npm (?:exec|x|create|init|i|install|add))(?: +-[\w=-]+)* +([@\w][@\w./-]*)/g;

/** Lists of programs that policy, sandbox and the built-in model know; no reader is told to run them. */
const LISTS = /\/(?:policy|exec)\/|\/offline\/(?:command-line|skills-software)\.ts$/;

test("nothing that is printed or documented runs or installs a package by a name that is not ours", () => {
  assert.deepEqual(fetched("Try npx vidro, npm install --save codegen or npm i @vidro/client."), ["vidro", "codegen"]);
  const paths = globSync(
    [
      "*.md",
      "docs/**/*.md",
      "packages/*/README.md",
      "packages/*/src/**/*.ts",
      "packages/*/bin/*",
      "scripts/**/*.{js,sh,ts}",
    ],
    { cwd: ROOT, exclude: ["**/node_modules/**", "**/*.test.ts", "**/*.fixture.ts"] },
  ).filter((path) => !LISTS.test(path));
  assert.ok(paths.length > 300, String(paths.length));
  const found = paths.flatMap((path) =>
    fetched(readFileSync(join(ROOT, path), "utf8")).map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(found, []);
});

/** Names of packages that a text runs or installs and that are not ours. */
function fetched(text: string): readonly string[] {
  return [...text.matchAll(FETCH)].map(([, name = ""]) => name).filter((name) => !name.startsWith("@vidro/"));
}
