import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { buildConsole } from "../scripts/console.js";
import { htmlOf } from "../scripts/docs/markdown-html.js";
import { docSources } from "../scripts/docs/pages.js";
import { bundledCommands } from "../scripts/test-bundle.js";
import { blocksOf } from "./support/doc-page.ts";
import { DocShell } from "./support/doc-shell.ts";

/* Every block of the documentation is run as it is written, page by page, against one daemon in an empty home. */

const ROOT = resolve(import.meta.dirname, "..");
/** The tutorial starts the daemon that the other pages use. */
const PAGES = ["docs/tutorial.md", ...globSync("docs/{how-to,explanation}/*.md", { cwd: ROOT }).sort(byName)];
/** Blocks that need another machine or a server; tests of PostgreSQL, backups, models and of the README run them. */
const ELSEWHERE: { readonly [page: string]: number } = {
  "docs/how-to/back-up.md": 1,
  "docs/how-to/join-a-host.md": 1,
  "docs/how-to/local-models.md": 2,
  "docs/how-to/scale.md": 5,
  "docs/how-to/traces.md": 1,
};

let folder: string;
let shell: DocShell;

function byName(one: string, other: string): number {
  return one < other ? -1 : 1;
}

before(async () => {
  buildConsole();
  folder = mkdtempSync(join(tmpdir(), "vidro-docs-"));
  shell = await DocShell.set(folder, `${dirname(bundledCommands().launcher)}:${process.env["PATH"]}`);
});

after(async () => {
  await shell.end();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

for (const path of PAGES)
  test(`${path}: each block does what the page says`, async () => {
    const blocks = blocksOf(readFileSync(join(ROOT, path), "utf8"));
    const names = blocks.map(({ language }) => language).filter((name) => !["sh", "js", "json", ""].includes(name));
    assert.deepEqual(names, [], "languages that no test runs");
    assert.equal(blocks.filter(({ place }) => place === "elsewhere").length, ELSEWHERE[path] ?? 0);
    for (const { language, text } of blocks) if (language === "json") JSON.parse(text);
    const faults = await shell.follow(path);
    assert.equal(faults.length, 0, faults.join("\n"));
  });

test("the brain serves every page at /docs, without script, and each link between pages leads to one", async () => {
  const base = `http://127.0.0.1:${shell.port}`;
  const [seen, queue] = [new Set<string>(), ["/docs"]];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const answer = await fetch(base + path, { headers: { accept: "text/html" } });
    assert.equal(answer.status, 200, path);
    const html = await answer.text();
    if (path === "/docs/api" || path === "/") continue;
    assert.match(
      answer.headers.get("content-security-policy") ?? "",
      /^default-src 'none'; style-src 'self'; base-uri/,
    );
    assert.doesNotMatch(html, /<script|javascript:/);
    queue.push(...[...html.matchAll(/href="(\/docs[^"#]*|\/)[#"]/g)].map((match) => match[1] ?? ""));
  }
  const decisions = docSources().filter((source) => source.startsWith("docs/decisions/"));
  assert.ok(seen.size > docSources().length - decisions.length, [...seen].join());
  const missing = await fetch(`${base}/docs/..%2findex`);
  assert.equal(missing.status, 404);
});

test("a page of documentation shows HTML as text and links only to pages", () => {
  const html = htmlOf(
    '# A <b>\n\n<script>x</script> [a](javascript:x) [b](c.md#"d) `<i>`\n\n| a | b |\n|---|---|\n| `x\\|y` | **z** |',
    (target) => (target.startsWith("c.md") ? `/docs/${target}` : undefined),
  );
  assert.equal(
    html,
    '<h1 id="a-b">A &lt;b&gt;</h1>\n' +
      '<p>&lt;script&gt;x&lt;/script&gt; a <a href="/docs/c.md#&quot;d">b</a> <code>&lt;i&gt;</code></p>\n' +
      '<div class="table" tabindex="0"><table><tr><th>a</th><th>b</th></tr>\n' +
      "<tr><td><code>x|y</code></td><td><b>z</b></td></tr></table></div>",
  );
});
