import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { Folder } from "./files.ts";
import { IgnoreFiles } from "./gitignore.ts";
import { scratch } from "../scratch.fixture.ts";

/** Paths of files and folders; a folder ends with a slash. */
const PATHS = [
  "a",
  "b.log",
  "src/",
  "src/a",
  "src/b.log",
  "src/gen/",
  "src/gen/x.log",
  "build/",
  "build/a",
  "a b",
  "{a}",
];

/** The paths that a walk leaves out; what is below one that it leaves out is left out with it. */
async function ignoredBelow(root: string): Promise<readonly string[]> {
  const ignores = new IgnoreFiles();
  const ignored: string[] = [];
  const walk = async (below: string): Promise<void> => {
    await using folder = await Folder.open(join(root, below));
    await ignores.enter(folder, [{ name: ".gitignore", type: "file" }]);
    const inside = PATHS.filter((path) => `${dirname(path)}/` === (below === "" ? "./" : below));
    for (const path of inside) {
      if (ignores.isIgnored(join(root, path).replace(/\/$/, ""), path.endsWith("/")))
        ignored.push(...PATHS.filter((other) => other === path || (path.endsWith("/") && other.startsWith(path))));
      else if (path.endsWith("/")) await walk(path);
    }
  };
  await walk("");
  return ignored.sort();
}

function ignoredByGit(root: string): readonly string[] {
  const paths = PATHS.map((path) => path.replace(/\/$/, ""));
  const { stdout } = spawnSync("git", ["check-ignore", "--no-index", "-z", "--stdin"], {
    cwd: root,
    input: paths.join("\0"),
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
  });
  const found = new Set(stdout.split("\0"));
  return PATHS.filter((path) => found.has(path.replace(/\/$/, ""))).sort();
}

const part = fc.constantFrom(
  "a",
  "*",
  "*.log",
  "src",
  "gen",
  "**",
  "b.*",
  "[ab]",
  "build",
  "?",
  "{a}",
  "a\\ b",
  "x.log",
);
const line = fc
  .tuple(
    fc.constantFrom("", "!"),
    fc.constantFrom("", "/"),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "/"),
  )
  .map(([not, begin, parts, end]) => `${not}${begin}${parts.join("/")}${end}`);
const lines = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: line },
    fc.constantFrom("", "# a", "  ", "a   ", "a\\ b  ", "a\\ ", "a\\  ", "\\#a", "\\!a", " a"),
  ),
  {
    maxLength: 4,
  },
);

/** A repository with files and folders. */
function projectIn(t: TestContext): string {
  const root = scratch(t);
  assert.equal(spawnSync("git", ["init", "-q"], { cwd: root }).status, 0);
  for (const path of PATHS) {
    if (path.endsWith("/")) mkdirSync(join(root, path), { recursive: true });
    else writeFileSync(join(root, path), "");
  }
  return root;
}

test("a search leaves out what git ignores, for any lines in a project and in a folder of it", async (t) => {
  const root = projectIn(t);
  await fc.assert(
    fc.asyncProperty(lines, lines, async (outer, inner) => {
      writeFileSync(join(root, ".gitignore"), outer.join("\n"));
      writeFileSync(join(root, "src/.gitignore"), inner.join("\n"));
      assert.deepEqual(await ignoredBelow(root), ignoredByGit(root));
    }),
    { numRuns: 60 },
  );
});

test("a file of long blanks is read in time that grows with its length", async (t) => {
  const root = projectIn(t);
  for (const blanks of [" ", "\\ ", "\t"]) {
    const long = blanks.repeat(60_000 / blanks.length);
    writeFileSync(join(root, ".gitignore"), `src\nx${long}y\n`);
    assert.deepEqual(await ignoredBelow(root), ignoredByGit(root));
  }
});
