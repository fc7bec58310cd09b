import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import { chromium } from "playwright-core";
import { DaemonProcess } from "../support/daemon-process.ts";
import { InstalledPackages, PEERS, runProgram } from "../support/installed-packages.ts";

/* What people get who install the packages outside the repository: they import, compile, bundle and start. */

const NODES = { 20: join(PEERS, "node-20/bin/node"), 22: join(PEERS, "node-22/bin/node"), 26: process.execPath };
const COMPILERS = {
  5: join(PEERS, "typescript-5/bin/tsc"),
  7: join(import.meta.dirname, "../../node_modules/.bin/tsc"),
};
const CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];
const TASK = "what is the working directory?";

let installed: InstalledPackages;
let daemon: DaemonProcess;
let page: { readonly url: string; serve(script: string): void; close(): void };

before(async () => {
  installed = await InstalledPackages.install();
  page = await servePage();
  const env = { ...installed.env, VIDRO_ORIGINS: page.url };
  const home = { command: { argv: [installed.bin("vidro")], env }, workspace: installed.project };
  daemon = await DaemonProcess.up(home, { flags: ["--port", "0"] });
});

after(async () => {
  await daemon?.[Symbol.asyncDispose]();
  page?.close();
  await installed?.[Symbol.asyncDispose]();
});

test("every package has its code, its types and its licence, and nothing of the tests", (t) => {
  assert.equal(installed.packed.length, 7);
  for (const { archive, size, files } of installed.packed) {
    const name = basename(archive);
    const unpacked = files.reduce((sum, file) => sum + file.size, 0);
    t.diagnostic(`${name}: ${kib(size)} packed, ${kib(unpacked)} unpacked, ${files.length} files`);
    for (const { path, size: bytes } of files) t.diagnostic(`  ${path} ${bytes}`);
    const paths = files.map(({ path }) => path);
    assert.ok(paths.includes("LICENSE"), `${name} has no licence`);
    assert.ok(paths.includes("dist/index.js") || paths.includes("dist/main.js"), `${name} has no code`);
    assert.ok(
      paths.some((path) => path.endsWith(".d.ts")),
      `${name} has no types`,
    );
    assert.deepEqual(
      paths.filter((path) => /\.(?:test|fixture|contract)\.|(?:^|\/)src\//.test(path)),
      [],
      name,
    );
  }
});

const SCRIPT = `
import { createServer } from "node:http";
import { aon, aonOf } from "@vidro/aon";
import { readAon } from "@vidro/aon/read";
import { Vidro } from "@vidro/client";
import { TcpClient } from "@vidro/client/tcp";

const [url, token] = process.argv.slice(2);
const run = await new Vidro({ url, token }).run(${JSON.stringify(TASK)});
const events = [];
for await (const event of run) events.push(event);
const observe = aon();
const server = createServer((request, response) =>
  observe(request, response, async () => {
    await aonOf(request).status("Looking.");
    response.json({ found: true });
  }),
);
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = "http://127.0.0.1:" + server.address().port;
const black = await (await fetch(address)).json();
const glass = (await (await fetch(address, { headers: { accept: "application/x-ndjson" } })).text()).trim().split("\\n");
console.log(JSON.stringify({ result: await run.result(), events: events.length, black, glass: glass.map((line) => JSON.parse(line).type), tcp: typeof TcpClient, read: typeof readAon }));
process.exit(0);
`;

for (const [version, node] of Object.entries(NODES)) {
  test(`client and aon work from JavaScript on Node ${version}`, async () => {
    const script = installed.write(`use-${version}.mjs`, SCRIPT);
    const { code, stdout, stderr } = await runProgram(node, [script, daemon.url, daemon.token], {
      cwd: installed.project,
      env: installed.env,
    });
    assert.equal(code, 0, stderr);
    const { result, events, black, glass } = JSON.parse(stdout) as { [field: string]: unknown };
    assert.match(String(result), new RegExp(installed.project));
    assert.ok(Number(events) > 0);
    assert.deepEqual(black, { found: true });
    assert.deepEqual((glass as string[]).at(-1), "result");
  });
}

const TYPED = `
import { createServer } from "node:http";
import { Vidro } from "@vidro/client";
import type { Json } from "@vidro/core";
import { aonFetch, negotiate } from "@vidro/aon";

const vidro = new Vidro({ url: "http://127.0.0.1:3120", token: "x" });
export async function answer(task: string): Promise<Json> {
  const run = await vidro.run(task);
  for await (const event of run) console.log(event);
  return run.result();
}
export const sight = negotiate("application/x-ndjson");
export { aonFetch, createServer };
`;

for (const [version, compiler] of Object.entries(COMPILERS)) {
  test(`client and aon have types for TypeScript ${version}`, async () => {
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck", "false"];
    const types = ["--typeRoots", join(import.meta.dirname, "../../node_modules/@types"), "--types", "node"];
    const compile = (file: string) =>
      runProgram(process.execPath, [compiler, ...flags, ...types, file], { cwd: installed.project });
    const right = await compile(installed.write(`right-${version}.ts`, TYPED));
    assert.equal(right.code, 0, right.stdout);
    const wrong = await compile(
      installed.write(`wrong-${version}.ts`, TYPED.replace("vidro.run(task)", "vidro.run(7)")),
    );
    assert.match(wrong.stdout, /TS2345/, "the types are not any");
  });
}

const BROWSER = `
import { Vidro } from "@vidro/client";
import { readAon } from "@vidro/aon/read";
const { url, token } = window.settings;
try {
  const run = await new Vidro({ url, token }).run(${JSON.stringify(TASK)});
  const result = await run.result();
  document.title = "done " + typeof readAon;
  document.body.textContent = result;
} catch (thrown) {
  document.body.textContent = String(thrown);
  document.title = "failed";
}
`;

const BUNDLERS: { readonly [name: string]: (entry: string, out: string) => Promise<string> } = {
  async esbuild(entry, out) {
    const words = [entry, "--bundle", "--format=esm", "--platform=browser", "--minify", `--outfile=${out}/page.js`];
    const { code, stderr } = await runProgram(process.execPath, [join(PEERS, "esbuild/bin/esbuild"), ...words], {
      cwd: installed.project,
    });
    assert.equal(code, 0, stderr);
    return readFileSync(`${out}/page.js`, "utf8");
  },
  async Vite(entry, out) {
    const config = installed.write(
      "vite.config.mjs",
      `export default { logLevel: "error", build: { target: "es2023", outDir: ${JSON.stringify(out)}, lib: { entry: ${JSON.stringify(entry)}, formats: ["es"], fileName: () => "page.js" } } };`,
    );
    const vite = [join(PEERS, "vite/bin/vite.js"), "build", "--config", config];
    const { code, stderr } = await runProgram(process.execPath, vite, { cwd: installed.project });
    assert.equal(code, 0, stderr);
    return readFileSync(`${out}/page.js`, "utf8");
  },
};

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`client and aon's reader bundled by ${name} run in a browser`, async (t) => {
    const script = await bundle(installed.write(`browser-${name}.js`, BROWSER), join(installed.folder, name));
    t.diagnostic(`${kib(script.length)} bundled by ${name}`);
    page.serve(script);
    const { title, text } = await openPage(t, page.url);
    assert.equal(title, "done function", text);
    assert.match(text, new RegExp(installed.project));
  });
}

test("the commands start on the Node that they bring, and a run works", async () => {
  for (const name of ["vidro", "vidro-hand", "codegen", "aon"]) {
    const { code, stdout, stderr } = await runProgram(installed.bin(name), ["--help"], {
      cwd: installed.project,
      env: { ...installed.env, PATH: "/usr/bin:/bin" },
    });
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(name === "codegen" ? "vidro code" : name), name);
  }
  const answer = await runProgram(installed.bin("vidro"), ["run", "--url", daemon.url, "--token", daemon.token, TASK], {
    cwd: installed.project,
    env: installed.env,
  });
  assert.equal(answer.code, 0, answer.stderr);
  assert.match(answer.stdout, new RegExp(installed.project));
});

const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;

/** A page of its own origin whose script can be exchanged. */
async function servePage(): Promise<typeof page> {
  let script = "";
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    const settings = JSON.stringify({ url: daemon?.url, token: daemon?.token });
    response.end(
      isScript
        ? script
        : `<!doctype html><body></body><script>window.settings = ${settings}</script><script type="module" src="/page.js"></script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, serve: (text) => void (script = text), close: () => void server.close() };
}

/** Opens a page in Chromium and waits until its script says how it went. */
async function openPage(t: TestContext, url: string): Promise<{ readonly title: string; readonly text: string }> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: CHROMIUM_FLAGS });
  t.after(() => browser.close());
  const tab = await browser.newPage();
  await tab.goto(url);
  await tab.waitForFunction('document.title !== ""');
  return { title: await tab.title(), text: (await tab.textContent("body")) ?? "" };
}
