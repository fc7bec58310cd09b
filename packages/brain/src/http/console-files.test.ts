import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { openConsoleFiles } from "./console-files.ts";

/** A folder with a built console, and a secret beside it. */
function built(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "vidro-console-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, "dist");
  mkdirSync(join(folder, "assets"), { recursive: true });
  mkdirSync(join(folder, "docs", "how-to"), { recursive: true });
  writeFileSync(join(root, "secret.html"), "secret");
  writeFileSync(join(folder, "index.html"), "<p>one</p>");
  writeFileSync(join(folder, "assets", "main-abc.js"), "let a;");
  writeFileSync(join(folder, "assets", "main-abc.css"), "a {}");
  writeFileSync(join(folder, "assets", "font.woff2"), "font");
  writeFileSync(join(folder, "docs", "how-to", "approve.html"), "approve");
  return folder;
}

describe("files of the console", () => {
  it("have their type, a strong validator, and the same bytes compressed", async (t) => {
    const find = openConsoleFiles([built(t)]);
    const file = await find("assets/main-abc.js");
    assert.equal(file?.type, "text/javascript; charset=utf-8");
    assert.equal(String(file?.bytes), "let a;");
    assert.equal(String(brotliDecompressSync(file?.brotli ?? Buffer.of())), "let a;");
    assert.match(file?.etag ?? "", /^"[\w-]{43}"$/);
    assert.equal((await find("assets/main-abc.css"))?.type, "text/css; charset=utf-8");
    assert.equal((await find("assets/font.woff2"))?.type, "application/octet-stream");
    assert.equal(String((await find("docs/how-to/approve.html"))?.bytes), "approve");
  });

  it("are read once, but for the page, which a new build replaces", async (t) => {
    const folder = built(t);
    const find = openConsoleFiles([folder]);
    const [page, script] = [await find("index.html"), await find("assets/main-abc.js")];
    writeFileSync(join(folder, "index.html"), "<p>two</p>");
    writeFileSync(join(folder, "assets", "main-abc.js"), "let b;");
    const again = await find("index.html");
    assert.equal(String(again?.bytes), "<p>two</p>");
    assert.notEqual(again?.etag, page?.etag);
    assert.equal(await find("assets/main-abc.js"), script);
  });

  it("lie in the first folder that has them", async (t) => {
    const folder = built(t);
    const find = openConsoleFiles([join(folder, "nowhere"), folder]);
    assert.equal(String((await find("index.html"))?.bytes), "<p>one</p>");
    assert.equal(await openConsoleFiles([])("index.html"), undefined);
  });

  it("that are not there are none, and no path leads out of the folder", async (t) => {
    const find = openConsoleFiles([built(t)]);
    for (const path of [
      "assets/other.js",
      "../secret.html",
      "docs/../../secret.html",
      "docs/../secret.html",
      "assets/../index.html",
      "assets/%2e%2e/index.html",
      "/etc/passwd",
      "assets/",
      "assets",
      "",
      "index.html/",
      "INDEX.HTML",
      "assets/main-abc.js\0.html",
      "docs/a/b/c.html",
    ])
      assert.equal(await find(path), undefined, path);
  });

  it("that cannot be read are an error, not an absence", async (t) => {
    const folder = built(t);
    mkdirSync(join(folder, "assets", "folder.js"));
    await assert.rejects(openConsoleFiles([folder])("assets/folder.js"), { code: "EISDIR" });
  });
});
