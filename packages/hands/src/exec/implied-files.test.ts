import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import fc from "fast-check";
import { scratch } from "../scratch.fixture.ts";
import { findImpliedRuns, runsGivenFiles } from "./implied-files.ts";

const SCRIPTS = {
  test: "echo test",
  pretest: "echo pretest",
  posttest: "echo posttest",
  build: "echo build",
  install: "echo install",
  postinstall: "echo postinstall",
  prepare: "echo prepare",
  prepack: "echo prepack",
  constructor: "echo constructor",
  number: 7,
};

/** A package with scripts, and a folder in it. */
function packageIn(t: TestContext): string {
  const folder = scratch(t);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: SCRIPTS }));
  mkdirSync(join(folder, "sub"));
  return folder;
}

/** The scripts that a command line runs, by what they print. */
function scriptsOf(line: string, cwd: string): string {
  const { lines } = findImpliedRuns(line.split(" "), cwd);
  return lines.map((one) => one.line.replace("echo ", "")).join(" ");
}

test("scripts of a package are found by each way of running them", (t) => {
  const cwd = packageIn(t);
  const ways: readonly (readonly [string, string])[] = [
    ["npm run build", "build"],
    ["npm test", "pretest test posttest"],
    ["npm t", "pretest test posttest"],
    ["npm run constructor", "constructor"],
    ["npm ci", "install postinstall prepare"],
    ["npm i left-pad", "install postinstall prepare"],
    ["yarn", "install postinstall prepare"],
    ["npm it", "pretest test posttest install postinstall prepare"],
    ["npm pack", "prepack prepare"],
    ["npm run number", ""],
    ["npm run toString", ""],
    ["npm view left-pad", ""],
    ["/usr/local/bin/npm-10.2 run build", "build"],
    ["pnpm build", "build"],
    ["bun run build", "build"],
  ];
  for (const [line, scripts] of ways) assert.equal(scriptsOf(line, cwd), scripts, line);
});

test("scripts run in the folder of their package, also when the command is started below it", (t) => {
  const cwd = packageIn(t);
  const { lines, files } = findImpliedRuns(["npm", "run", "build"], join(cwd, "sub"));
  assert.deepEqual(lines, [{ line: "echo build", cwd }]);
  assert.ok(files.includes(join(cwd, "package.json")));
  assert.ok(files.includes(join(cwd, "node_modules/.bin/build")));
});

test("files that programs look for by themselves are named, also in a folder that an option gives", (t) => {
  const cwd = packageIn(t);
  const names = (line: string): readonly string[] =>
    findImpliedRuns(line.split(" "), cwd).files.map((file) => relative(cwd, file));
  assert.deepEqual(names("make all"), ["GNUmakefile", "makefile", "Makefile"]);
  assert.ok(names("make -C sub").includes("sub/Makefile"));
  assert.ok(names("make -Csub").includes("sub/Makefile"));
  assert.ok(names("env FOO=1 make").includes("Makefile"));
  assert.ok(names("node app").includes("app.js"));
  assert.ok(names("python3 -m tool.main").includes("tool/main.py"));
  assert.ok(names("python3.12 -mtool").includes("tool/__main__.py"));
  assert.deepEqual(names("python3 -m ../evil"), []);
  assert.deepEqual(names("ls -l"), []);
});

test("programs that run the files they are given are known", () => {
  for (const name of ["bash", "psql", "make", "."]) assert.equal(runsGivenFiles(name), true, name);
  for (const name of ["ls", "toString", "__proto__"]) assert.equal(runsGivenFiles(name), false, name);
});

test("a package.json that is none gives no scripts and stops nothing", (t) => {
  const cwd = scratch(t);
  for (const text of ["", "{", "[]", "null", '{"scripts":[]}', '{"scripts":{"build":null}}', '{"scripts":"x"}']) {
    writeFileSync(join(cwd, "package.json"), text);
    assert.equal(scriptsOf("npm run build", cwd), "", text);
  }
});

test("any words are looked at, and none throws", (t) => {
  const cwd = packageIn(t);
  const word = fc.oneof(
    fc.constantFrom("npm", "run", "-C", "make", "..", "/", "python", "-m", "__proto__"),
    fc.string({ unit: "binary" }),
  );
  fc.assert(fc.property(fc.array(word, { maxLength: 8 }), (words) => void findImpliedRuns(words, cwd)));
});

test("a word of any length is looked at in time that grows with it", (t) => {
  const cwd = scratch(t);
  for (const part of ["1", "-", ".", "1.", "a", "/", "-1x"]) {
    const word = `${part.repeat(128_000 / part.length)}x`;
    assert.deepEqual(findImpliedRuns([word, "make"], cwd).runners, ["make"], part);
    assert.equal(runsGivenFiles(word), false);
  }
});

test("versions behind the name of a program do not hide it", (t) => {
  const cwd = scratch(t);
  for (const [word, runner] of [
    ["make-4.3", "make"],
    ["/usr/bin/gmake4", "gmake"],
    ["npm-10.2.1", "npm"],
    ["cargo-1.80", "cargo"],
  ] as const)
    assert.deepEqual(findImpliedRuns([word], cwd).runners, [runner], word);
  for (const word of ["4.3", "-", "...", "make4x", "1make"])
    assert.deepEqual(findImpliedRuns([word], cwd).runners, [], word);
});
