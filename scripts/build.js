// npm run build [-- <package> ...]: makes JavaScript, declarations and source maps of the packages, in the order of
// their imports. A package whose sources are older than what was built of them is left alone.
import { copyFileSync, cpSync, rmSync, statSync, writeFileSync } from "node:fs";
import { buildConsole } from "./console.js";
import { newestIn, ROOT, run, setUp } from "./setup.js";

/**
 * The packages in the order of their imports, each with those it imports.
 * @type {{ readonly [name: string]: readonly string[] }}
 */
const PACKAGES = {
  core: [],
  aon: ["core"],
  client: ["core"],
  hands: ["core"],
  worker: ["core"],
  brain: ["core", "aon", "client", "hands"],
  cli: ["core", "aon", "client", "hands", "worker", "brain"],
};

setUp();
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(PACKAGES, name));
if (unknown.length > 0) {
  process.stderr.write(`build: no package ${unknown.join(", ")}; there are: ${Object.keys(PACKAGES).join(", ")}\n`);
  process.exit(2);
}
const wanted = new Set(
  asked.length === 0 ? Object.keys(PACKAGES) : asked.flatMap((name) => [name, ...(PACKAGES[name] ?? [])]),
);
for (const name of Object.keys(PACKAGES)) if (wanted.has(name)) build(name);

/**
 * Builds one package unless its build is newer than its sources and the builds that it imports.
 * @param {string} name
 */
function build(name) {
  const folder = `${ROOT}packages/${name}/`;
  const inputs = [`${ROOT}tsconfig.json`, `${ROOT}tsconfig.build.json`, `${folder}package.json`, `${folder}src`];
  if (name === "brain")
    inputs.push(
      `${ROOT}docs`,
      `${ROOT}scripts/docs`,
      `${ROOT}packages/console/src`,
      `${ROOT}packages/console/package-lock.json`,
    );
  const newest = Math.max(...inputs.map(newestIn), ...(PACKAGES[name] ?? []).map((other) => builtAt(other)));
  if (builtAt(name) > newest) return;
  rmSync(`${folder}dist`, { recursive: true, force: true });
  run(`${ROOT}node_modules/.bin/tsc`, ["--project", `${folder}tsconfig.build.json`]);
  copyFileSync(`${ROOT}LICENSE`, `${folder}LICENSE`);
  if (name === "brain") {
    buildConsole();
    cpSync(`${ROOT}packages/console/dist`, `${folder}dist/console`, { recursive: true });
  }
  writeFileSync(`${folder}dist/.built`, "");
  process.stderr.write(`build: packages/${name}/dist\n`);
}

/**
 * When a package was built, in milliseconds since the epoch; 0 when it was not.
 * @param {string} name
 */
function builtAt(name) {
  return statSync(`${ROOT}packages/${name}/dist/.built`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
