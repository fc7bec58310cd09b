import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --dim: #777; --get: #2a7; --post: #37c; --put: #a70; --delete: #c33; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin: 0; } h2 { margin: 2rem 0 .5rem; } p { margin: .25rem 0 1rem; color: var(--dim); }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; border: 1px solid var(--line); border-radius: 6px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .75rem; }
summary { cursor: pointer; } code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; max-height: 24rem; }
b { display: inline-block; min-width: 4.5rem; font: bold 14px ui-monospace, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .delete { color: var(--delete); }
`;

const SCRIPT = `
const make = (tag, text, name) => Object.assign(document.createElement(tag), { textContent: text ?? "", className: name ?? "" });
const json = (value) => make("pre", JSON.stringify(value, null, 2));
const part = (title, ...nodes) => [make("h4", title), ...nodes];
function card(path, method, operation) {
  const box = make("details");
  box.dataset.words = (method + " " + path + " " + operation.summary).toLowerCase();
  const head = make("summary");
  head.append(make("b", method.toUpperCase(), method), make("code", path), " ", make("span", operation.summary));
  box.append(head);
  if (operation.description) box.append(make("p", operation.description));
  if (operation.parameters.length > 0) box.append(...part("Parameters", json(operation.parameters)));
  if (operation.requestBody) box.append(...part("Body", json(operation.requestBody.content["application/json"].schema)));
  for (const [status, response] of Object.entries(operation.responses))
    box.append(...part(status + ": " + response.description,
      ...Object.entries(response.content ?? {}).flatMap(([type, { schema }]) => [make("code", type), json(schema)])));
  return box;
}
async function show() {
  const api = await (await fetch("/openapi.json", { headers: { accept: "application/json" } })).json();
  const main = document.querySelector("main");
  main.replaceChildren();
  for (const { name } of api.tags) {
    const cards = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(name))
      .map(([method, operation]) => card(path, method, operation)));
    if (cards.length === 0) continue;
    const section = make("section");
    section.append(make("h2", name), ...cards);
    main.append(section);
  }
  document.querySelector("#version").textContent = "Version " + api.info.version;
}
document.querySelector("input").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().trim();
  for (const box of document.querySelectorAll("details")) box.hidden = !box.dataset.words.includes(words);
});
show().catch((error) => document.querySelector("main").replaceChildren(make("p", "The description cannot be read: " + error.message)));
`;

/** A page that shows /openapi.json; it loads nothing else. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vidro API</title>
<style>${STYLE}</style>
<header><h1>Vidro API</h1><p id="version"></p></header>
<label>Find a route <input type="search" autocomplete="off"></label>
<main><p>Reading the description…</p></main>
<noscript><p>This page needs JavaScript; <a href="/openapi.json">/openapi.json</a> has all of it.</p></noscript>
<script>${SCRIPT}</script>
</html>
`;

/** Content-Security-Policy of the page: its own style and script, by their hashes, and /openapi.json. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src ${hash(STYLE)}`,
  `script-src ${hash(SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
