import { createHash } from "node:crypto";

const STYLE =
  ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}";

/** What a browser is shown when the console was not built. */
export const MISSING_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vidro</title>
<style>${STYLE}</style>
<h1>The console is not built</h1>
<p>The brain works: the commands and the API are there. The console's own programs could not be installed or built.</p>
<p>In the clone of Vidro, with a way to the npm registry, run <code>npm run console</code>, and reload this page.</p>
<p><a href="/docs/api">The API</a></p>
</html>
`;

/** Content-Security-Policy of that page: its own style, by its hash. */
export const MISSING_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
