// npm run check: types, lint, format, lockfile, architecture, reference pages, the trained model; everything that can be said without running the product.
import { checkLockfile } from "./lockfile.js";
import { installPeers, NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
for (const folder of ["scripts", "scripts/bundler", "tests", "packages/console"]) installPeers(folder);
const bin = (/** @type {string} */ name) => `${ROOT}scripts/node_modules/.bin/${name}`;
process.stdout.write("check: lockfiles, types, lint, format, architecture, reference, trained model\n");
for (const folder of ["", "scripts/", "scripts/bundler/", "packages/console/"])
  checkLockfile(`${ROOT}${folder}package-lock.json`);
checkLockfile(`${ROOT}tests/package-lock.json`, ["esbuild"]);
checkLockfile(`${ROOT}packages/worker/engine/package-lock.json`, ["node-llama-cpp"]);
checkLockfile(`${ROOT}packages/brain/vendors/package-lock.json`);
checkLockfile(`${ROOT}tests/clients/package-lock.json`, ["@scarf/scarf"]);
for (const project of [ROOT, `${ROOT}packages/console`]) run(`${ROOT}node_modules/.bin/tsc`, ["--project", project]);
run(bin("oxlint"), ["--type-aware", "--deny-warnings", "packages", "tests", "scripts", "bench"], {
  OXLINT_TSGOLINT_PATH: bin("tsgolint"),
});
run(bin("oxfmt"), ["--check", "packages", "tests", "scripts", "bench"]);
run(NODE, [...NODE_FLAGS, "--test", "tests/architecture.test.ts"]);
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/reference/main.ts`, "--check"]);
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/train/main.ts`, "--check"]);
process.stdout.write("check: all is well\n");
