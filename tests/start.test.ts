import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";

/* What `npm start` makes of its words; set-up, bundler and console only say that they were called. */

const START = resolve(import.meta.dirname, "../scripts/start.js");
const VIDRO = resolve(import.meta.dirname, "../packages/cli/bin/vidro");

let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "vidro-start-"));
  for (const name of ["scripts/bundler/node_modules", "packages/cli/bin", "elsewhere"])
    mkdirSync(join(folder, name), { recursive: true });
  cpSync(START, join(folder, "scripts/start.js"));
  const files = {
    "package.json": '{ "type": "module" }',
    "scripts/setup.js": `export const ROOT = ${JSON.stringify(`${folder}/`)};\nexport function setUpToRun() {}`,
    "scripts/bundler/main.js": "",
    "scripts/console.js": 'console.log("console built"); process.exit(Number(process.env.CONSOLE ?? 0));',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  // The real command says what it knows; else it is only told its words.
  const command = `#!/bin/sh\n[ "$1" = help ] && [ $# = 2 ] && exec ${VIDRO} "$@"\nfor word in "$@"; do echo "[$word]"; done\npwd\n[ -z "$DIES" ] || kill -$DIES $$\nexit \${CODE:-0}\n`;
  writeFileSync(join(folder, "packages/cli/bin/vidro"), command, { mode: 0o755 });
});

after(() => rmSync(folder, { recursive: true, force: true }));

function start(words: readonly string[], env: { readonly [name: string]: string } = {}) {
  const options = { encoding: "utf8", env: { PATH: process.env["PATH"] ?? "", ...env }, cwd: folder } as const;
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(folder, "scripts/start.js"), ...words], options);
  return { said: [...stdout.matchAll(/\[(.*)\]/g)].map(([, word]) => word), stdout, stderr, status };
}

for (const [words, args] of [
  [
    ["tokens", "list"],
    ["tokens", "list"],
  ],
  [
    ["run", "how much disk is free?"],
    ["run", "how much disk is free?"],
  ],
  [["status"], ["status"]],
  [
    ["policy", "explain", "--", "ls"],
    ["policy", "explain", "--", "ls"],
  ],
  [["how much disk is free?"], ["run", "how much disk is free?"]],
  [["hello"], ["run", "hello"]],
  [
    ["list", "my", "tokens"],
    ["run", "list", "my", "tokens"],
  ],
  [
    ["--quiet", "tokens"],
    ["run", "--quiet", "tokens"],
  ],
  [["-"], ["run", "-"]],
  [["Tokens"], ["run", "Tokens"]],
  [["tokens list"], ["run", "tokens list"]],
] as const)
  test(`npm start -- ${words.join(" ")} is vidro ${args.join(" ")}`, () => {
    const { said, stdout } = start(words);
    assert.deepEqual(said, args);
    assert.doesNotMatch(stdout, /console built/);
  });

test("npm start brings the daemon up with its console, also when its command is written out", () => {
  for (const words of [[], ["up"], ["up", "--port", "0"]]) {
    const { said, stdout } = start(words);
    assert.deepEqual(said, words.length === 0 ? ["up"] : words);
    assert.match(stdout, /^console built\n/);
  }
});

test("a console that cannot be built is told, and the daemon comes up without it", () => {
  const { said, stderr, status } = start([], { CONSOLE: "1" });
  assert.deepEqual([said, status], [["up"], 0]);
  assert.match(stderr, /^vidro: the daemon starts without its console$/m);
});

test("a task is about the folder that the person is in", () => {
  const elsewhere = join(folder, "elsewhere");
  assert.match(start(["hello"], { INIT_CWD: elsewhere }).stdout, new RegExp(`\n${elsewhere}\n$`));
});

test("the exit code is that of the command, and 130 when it was interrupted", () => {
  for (const code of [2, 7]) assert.equal(start(["hello"], { CODE: `${code}` }).status, code);
  assert.equal(start(["hello"], { DIES: "INT" }).status, 130);
  assert.equal(start(["hello"], { DIES: "KILL" }).status, 1);
});
