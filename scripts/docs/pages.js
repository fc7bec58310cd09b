// The documentation as pages of the console: each file of Markdown becomes a file of HTML, with links between them.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "../setup.js";
import { escaped, htmlOf, titleOf } from "./markdown-html.js";

const STYLE = readFileSync(new URL("style.css", import.meta.url), "utf8");
/** Pages of the repository's root that the documentation leads to. */
const ROOT_PAGES = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "SECURITY.md", "SPEC.md"];

const FOLDERS = ["docs", "docs/how-to", "docs/reference", "docs/explanation", "docs/decisions"];

/** The sources of all pages, by their path in the repository. */
export function docSources() {
  const pages = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => `${folder}/${name}`),
  );
  return [...ROOT_PAGES, ...pages];
}

/** The address of a page; undefined for a file that is no page. @param {string} source */
function addressOf(source) {
  if (source === "docs/README.md") return "/docs";
  if (ROOT_PAGES.includes(source)) return `/docs/${source.slice(0, -3).toLowerCase()}`;
  return docSources().includes(source) ? `/${source.slice(0, -3)}` : undefined;
}

/**
 * The address that a link of a page leads to; undefined where there is no page.
 * @param {string} source
 * @param {string} target
 */
function linkFrom(source, target) {
  if (target.startsWith("https://") || target.startsWith("#")) return target;
  const [path = "", fragment] = target.split("#");
  const address = addressOf(normalize(join(dirname(source), path)));
  return address === undefined || fragment === undefined ? address : `${address}#${fragment}`;
}

/** Writes the pages and their style into the folder of a built console. @param {string} folder */
export function writeDocPages(folder) {
  const style = `assets/docs-${createHash("sha256").update(STYLE).digest("hex").slice(0, 12)}.css`;
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, style), STYLE);
  for (const source of docSources()) {
    const markdown = readFileSync(join(ROOT, source), "utf8");
    const body = htmlOf(markdown, (target) => linkFrom(source, target));
    const address = addressOf(source) ?? "";
    const file = join(folder, address === "/docs" ? "docs/index.html" : `${address.slice(1)}.html`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, pageOf({ title: titleOf(markdown), body, style }));
  }
}

/** @param {{ title: string, body: string, style: string }} page */
function pageOf({ title, body, style }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Vidro</title>
<link rel="stylesheet" href="/${style}">
</head>
<body>
<nav aria-label="Documentation"><a href="/">Console</a> <a href="/docs">Documentation</a> <a href="/docs/tutorial">Tutorial</a> <a href="/docs/reference/cli">Commands</a> <a href="/docs/api">API</a></nav>
<main>
${body}
</main>
</body>
</html>
`;
}
