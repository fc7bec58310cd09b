// Bundles the commands vidro and vidro-hand, from their sources, into a folder: one file for each command and chunks
// that are loaded when they are needed. Further words are programs of
// tests, which are bundled with them and with maps of the sources.
import { cpSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { rolldown } from "rolldown";
import { ROOT } from "../setup.js";

/** Packages whose files load each other by `require`, which the bundle cannot hold: each lies beside it, in one file of its own. */
const REQUIRED = {
  "ajv/dist/2020.js": { package: "ajv", files: ["package.json", "LICENSE"] },
  "pg/lib/index.js": { package: "pg", files: ["package.json", "LICENSE", "esm/index.mjs"] },
  "@redis/client/dist/index.js": { package: "@redis/client", files: ["package.json"] },
};

/** Packages that those load when they are there. */
const OPTIONAL = ["pg-native", "@opentelemetry/api", "@node-rs/xxhash"];

/**
 * What is loaded together lies in one file, as each file costs a start a third of a millisecond. A group has the named
 * modules and all that they import; a module that several have is in the first, so that no file loads one behind it.
 */
const GROUPS = [
  { name: "core", roots: /packages\/(?:core\/src\/(?:index|text\/index)|hands\/src\/program\/signals)\.ts$/ },
  {
    name: "program",
    roots:
      /packages\/cli\/(?:package\.json|src\/(?:program\/(?:program|output|exit-codes)|view\/interrupts)\.ts)$|node_modules\/commander\//,
  },
  { name: "hand", roots: /packages\/hands\/src\/(?:index|hand|mounting-hand|enrol\/brain-key)\.ts$/ },
  { name: "brain", roots: /packages\/brain\/src\/(?:index|brain|config|south\/local)\.ts$/ },
  { name: "offline", roots: /packages\/brain\/src\/models\/offline\/(?:language|walk)\.ts$/ },
  {
    name: "run",
    roots: /packages\/cli\/src\/(?:commands\/run|brain-api\/(?:embedded|open-brain-api)|view\/show-run)\.ts$/,
  },
];

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
  // A module of a group may be one that its own group loads when it is needed.
  checks: { ineffectiveDynamicImport: false },
  external: [/^node:/, "ajv/dist/2020.js", "pg", "@redis/client"],
});
const groups = GROUPS.map(({ name, roots }, place) => ({ name, test: roots, priority: GROUPS.length - place }));
await bundle.write({ dir, format: "esm", codeSplitting: { groups }, sourcemap: programs.length > 0 });
await bundle.close();
writeFileSync(`${dir}/package.json`, '{ "type": "module" }\n');
for (const [file, of] of Object.entries(REQUIRED)) {
  const required = await rolldown({ cwd: ROOT, input: `node_modules/${file}`, platform: "node", external: OPTIONAL });
  await required.write({ file: `${dir}/node_modules/${file}`, format: "cjs" });
  await required.close();
  // The package's own manifest says which of its files are CommonJS.
  for (const name of of.files)
    cpSync(`${ROOT}node_modules/${of.package}/${name}`, `${dir}/node_modules/${of.package}/${name}`);
}
