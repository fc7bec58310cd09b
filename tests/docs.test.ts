import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { basename, dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { Stage } from "../packages/cli/src/stage.fixture.ts";
import { buildConsole } from "../scripts/console.js";
import { docSources } from "../scripts/docs/pages.js";
import { htmlOf } from "../scripts/docs/markdown-html.js";
import { missingLines } from "../scripts/newcomer/readme.ts";
import { bundledCommands } from "../scripts/test-bundle.js";
import { blocksOf, scriptOf } from "./support/doc-page.ts";

/* Every block of the documentation is run as it is written, page by page, against one daemon in an empty home. */

const ROOT = resolve(import.meta.dirname, "..");
/** The tutorial starts the daemon that the other pages use. */
const PAGES = ["docs/tutorial.md", ...globSync("docs/{how-to,explanation}/*.md", { cwd: ROOT }).sort(byName)];
/** Blocks that need another machine or a server; tests of PostgreSQL, backups, models and of the README run them. */
const ELSEWHERE: { readonly [page: string]: number } = {
  "docs/how-to/back-up.md": 1,
  "docs/how-to/join-a-host.md": 1,
  "docs/how-to/local-models.md": 2,
  "docs/how-to/scale.md": 3,
};

let stage: Stage;
let env: NodeJS.ProcessEnv;
let port = 0;

function byName(one: string, other: string): number {
  return one < other ? -1 : 1;
}

before(async () => {
  buildConsole();
  stage = await Stage.set();
  port = await freePort();
  const home = join(stage.workspace, "../home");
  const [output, host] = [join(home, "../output"), join(home, "../host")];
  for (const folder of [join(home, ".local/state/vidro"), output, host])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, ".local/state/vidro/config.json"), JSON.stringify({ port, southbound_port: 0 }));
  // As `npm install @vidro/client` would.
  mkdirSync(join(stage.workspace, "node_modules/@vidro"), { recursive: true });
  symlinkSync(join(ROOT, "packages/client"), join(stage.workspace, "node_modules/@vidro/client"));
  const PATH = `${dirname(bundledCommands().launcher)}:${process.env["PATH"]}`;
  env = {
    PATH,
    HOME: home,
    HOST_HOME: host,
    OUTPUT: output,
    NODE: process.execPath,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
  };
});

after(async () => {
  await shell('for home in "$HOST_HOME"/*; do HOME=$home vidro-hand stop; done; vidro stop --now');
  await stage[Symbol.asyncDispose]();
});

/** A port that is free now; the pages name their own one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return free;
}

async function shell(script: string): Promise<{ readonly code: number; readonly said: string }> {
  const child = spawn("/bin/sh", ["-s"], { cwd: stage.workspace, env, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  child.stdin.end(script);
  // Not `close`: the daemon that a page starts holds the streams.
  const [code] = (await once(child, "exit")) as [number | null];
  return { code: code ?? 1, said };
}

for (const path of PAGES)
  test(`${path}: each block does what the page says`, async () => {
    const page = readFileSync(join(ROOT, path), "utf8");
    const blocks = blocksOf(page);
    const names = blocks.map(({ language }) => language).filter((name) => !["sh", "js", "json", ""].includes(name));
    assert.deepEqual(names, [], "languages that no test runs");
    assert.equal(blocks.filter(({ place }) => place === "elsewhere").length, ELSEWHERE[path] ?? 0);
    for (const { language, text } of blocks) if (language === "json") JSON.parse(text);
    const script = scriptOf(path, blocks).replaceAll("127.0.0.1:3120", `127.0.0.1:${port}`);
    const { code, said } = await shell(script.replaceAll("/var/backups", stage.workspace));
    const printed = (index: number): string =>
      readFileSync(join(env["OUTPUT"] ?? "", `${basename(path, ".md")}-${index}`), "utf8");
    const last = code === 0 ? "" : readFileSync(join(env["OUTPUT"] ?? "", "last"), "utf8");
    const index = blocks.findIndex(({ line }) => last.endsWith(`line ${line}\n`));
    assert.equal(code, 0, `${last}${said}${index === -1 ? "" : printed(index)}`);
    for (const [at, { shown, line }] of blocks.entries())
      assert.deepEqual(missingLines(shown, printed(at)), [], `${path}, line ${line}, printed:\n${printed(at)}`);
  });

test("the brain serves every page at /docs, without script, and each link between pages leads to one", async () => {
  const base = `http://127.0.0.1:${port}`;
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
