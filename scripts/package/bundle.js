// Bundles the commands vidro and vidro-hand, from their sources, into a folder: one file for each command and chunks
// that are loaded when they are needed. Further words are programs of
// tests, which are bundled with them and with maps of the sources.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { rolldown } from "rolldown";
import { ROOT } from "../setup.js";

/** Packages that are loaded by `require` when they are needed, which a bundle cannot hold: they lie beside it. */
const REQUIRED = ["ajv", "ajv-formats"];

const [dir = "", ...programs] = process.argv.slice(2);
const bundle = await rolldown({
  cwd: ROOT,
  input: {
    vidro: "packages/cli/src/main.ts",
    "vidro-hand": "packages/hands/src/main.ts",
    ...Object.fromEntries(programs.map((path) => [basename(path, ".ts"), path])),
  },
  platform: "node",
  resolve: { conditionNames: ["vidro-source", "node", "import"] },
  external: [/^node:/, ...REQUIRED.map((name) => new RegExp(`^${name}(?:/|$)`))],
});
await bundle.write({ dir, format: "esm", sourcemap: programs.length > 0 });
await bundle.close();
writeFileSync(`${dir}/package.json`, '{ "type": "module" }\n');
for (const name of withDependencies(REQUIRED))
  cpSync(`${ROOT}node_modules/${name}`, `${dir}/node_modules/${name}`, { recursive: true });

/**
 * Packages and all that they depend on.
 * @param {readonly string[]} names
 * @returns {ReadonlySet<string>}
 */
function withDependencies(names) {
  /** @type {Set<string>} */
  const found = new Set();
  const add = (/** @type {string} */ name) => {
    if (found.has(name)) return;
    found.add(name);
    const { dependencies = {} } = JSON.parse(readFileSync(`${ROOT}node_modules/${name}/package.json`, "utf8"));
    Object.keys(dependencies).forEach(add);
  };
  names.forEach(add);
  return found;
}
