import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { scratch } from "../tools/files.fixture.ts";
import { searchTextTool } from "../tools/search-text.ts";

const FILES = {
  "a.txt": "first\nneedle\n",
  "src/deep/b.ts": "const needle = 1;\n",
  "src/deep/c.ts": "nothing\n",
  "src/.gitignore": "left\n",
  "src/left/d.ts": "needle\n",
  ".hidden/e.ts": "needle\n",
  "node_modules/x.ts": "needle",
  "--odd name\n.txt": "needle\n",
};

/** A folder with a program in the place of ripgrep: it takes the same words and notes each that it was given. */
function standIn(t: TestContext, found: string): { readonly PATH: string; readonly calls: () => string } {
  const { context } = scratch(t);
  const folder = join(dirname(context.workspace), "bin");
  mkdirSync(folder);
  const calls = join(folder, "calls");
  const script = `#!/bin/sh
printf '%s\\n' "$@" >> ${calls}
while [ "$1" != --regexp ]; do shift; done
${found}
`;
  writeFileSync(join(folder, "rg"), script);
  chmodSync(join(folder, "rg"), 0o755);
  return {
    PATH: `${folder}:/usr/bin:/bin`,
    calls: () => (existsSync(calls) ? readFileSync(calls, "utf8") : ""),
  };
}

const GREP = 'exec grep -rlZaF --exclude-dir=.git -e "$2" -- "$4"';

void test("with ripgrep on the host a search gives what it gives without, and only what its own rules let through", async (t) => {
  const { use, context } = scratch(t, FILES);
  const queries = [
    { pattern: "needle" },
    { pattern: "needle", ignored: true },
    { pattern: "need[a-z]+ =", regex: true },
    { pattern: "needle", glob: "*.ts", show: "counts" },
    { pattern: "absent" },
  ] as const;
  const without = await Promise.all(queries.map((query) => use(searchTextTool, query)));
  const { PATH, calls } = standIn(t, GREP);
  Object.assign(context.env, { PATH });
  for (const [at, query] of queries.entries()) assert.deepEqual(await use(searchTextTool, query), without[at]);
  assert.match(without[0]?.text ?? "", /src\/deep\/b\.ts:1/);
  assert.match(calls(), /--no-config\n/);
});

void test("what ripgrep cannot say or says wrongly loses nothing that its answer did not name, and a failure is no answer", async (t) => {
  const { use, context } = scratch(t, FILES);
  const { text } = await use(searchTextTool, { pattern: "needle" });
  for (const failing of ["exit 2", "printf 'a\\377b\\0'", "kill -9 $$"]) {
    Object.assign(context.env, { PATH: standIn(t, failing).PATH });
    assert.equal((await use(searchTextTool, { pattern: "needle" })).text, text, failing);
  }
  // Names outside of the folder, or of files that policy keeps, are met by no walk.
  const lying =
    'printf \'/etc/passwd\\0%s/../work-evil/secret.txt\\0%s/.state/ledger.db\\0%s/a.txt\\0\' "$4" "$4" "$4"';
  Object.assign(context.env, { PATH: standIn(t, lying).PATH });
  assert.equal((await use(searchTextTool, { pattern: "needle" })).text, "a.txt:2:needle");
});
