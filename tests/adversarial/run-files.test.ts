import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { approvalWords } from "@vidro/core/text";
import type { JsonObject } from "@vidro/core";
import { judged, perform, target } from "./attack.fixture.ts";

/* What an approved command has run by files that it does not name, or that are named another way. */

const FILES: { readonly [name: string]: string } = {
  Makefile: "all:\n\t@echo made\n",
  "sub/Makefile": "all:\n\t@echo made\n",
  "package.json": JSON.stringify({ scripts: { prebuild: ". ./before.sh", build: "node tool", test: "sh check.sh" } }),
  "before.sh": "true\n",
  "tool.js": "console.log('tool')\n",
  "check.sh": "echo checked\n",
  "job.py": "print('job')\n",
  "mod.py": "print('mod')\n",
  "pack/__init__.py": "",
  "pack/__main__.py": "print('pack')\n",
  "run.sh": "#!/bin/sh\n. ./before.sh\n",
};

const line = (command: string): readonly [string, JsonObject] => ["shell", { command }];
const command = (...argv: readonly string[]): readonly [string, JsonObject] => [
  "command",
  { command: argv[0] ?? "", args: argv.slice(1) },
];

/** What is approved, and the files whose change takes the approval away. */
const RUNS: readonly (readonly [what: readonly [string, JsonObject], ...files: readonly string[]])[] = [
  [command("make"), "Makefile"],
  [command("make", "-C", "sub"), "sub/Makefile"],
  [command("make", "-Csub", "all"), "sub/Makefile"],
  [line("make all"), "Makefile"],
  [command("npm", "run", "build"), "package.json", "before.sh", "tool.js"],
  [command("npm", "test"), "package.json", "check.sh"],
  [line("npm --silent t"), "package.json", "check.sh"],
  [line("cd . && yarn build"), "package.json", "before.sh", "tool.js"],
  [command("node", "tool"), "tool.js"],
  [command("node", "./tool.js"), "tool.js"],
  [command("python3", "job.py"), "job.py"],
  [command("python3", "-m", "mod"), "mod.py"],
  [line("python3 -m pack"), "pack/__main__.py", "pack/__init__.py"],
  [line(". ./before.sh; echo ok"), "before.sh"],
  [line("source before.sh"), "before.sh"],
  [line("bash check.sh"), "check.sh"],
  [command("bash", "check.sh"), "check.sh"],
  [command("env", "A=1", "make"), "Makefile"],
  [command("./run.sh"), "run.sh"],
  [line(`bash check.sh ${"x".repeat(3000)}`), "check.sh"],
];

test("a file that an approved command runs without naming it takes the approval away when it changes", async (t) => {
  const at = await target(t, { inSight: true });
  for (const [name, text] of Object.entries(FILES)) at.put(name, text);
  for (const [[tool, input], ...files] of RUNS) {
    for (const file of files) {
      const { hash } = await judged(at.hand, tool, input);
      appendFileSync(join(at.workspace, file), "\n");
      const { fault } = await perform(at.hand, tool, input, hash);
      assert.equal(fault, "PLAN_CHANGED", `${JSON.stringify(input)} ${file}`);
    }
    const judgement = await judged(at.hand, tool, input);
    assert.notEqual((await perform(at.hand, tool, input, judgement.hash)).fault, "PLAN_CHANGED");
    const words = approvalWords(judgement);
    for (const file of files) assert.ok(words.includes(`script: ${join(at.workspace, file)} as it is now`), words);
    assert.match(words, /not covered: what .* may load, include or run besides/);
  }
});

test("the question says in three languages what no fingerprint covers, and only where there is such a thing", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("Makefile", "all:\n");
  const judgement = await judged(at.hand, "command", { command: "make" });
  assert.match(approvalWords(judgement, "pt"), /não coberto: o que make pode carregar, incluir ou executar/);
  assert.match(approvalWords(judgement, "es"), /no cubierto: lo que make pueda cargar, incluir o ejecutar/);
  const bare = await judged(at.hand, "command", { command: "touch", args: ["a"] });
  assert.doesNotMatch(approvalWords(bare), /not covered/);
  // A program that looks for files where there are none to be found: its name says that more may run.
  const sought = await judged(at.hand, "shell", { command: "pytest -q" });
  assert.match(approvalWords(sought), /not covered: what pytest may load/);
});
