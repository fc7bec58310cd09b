// npm run check: types, lint, format, lockfile, architecture, reference pages; everything that can be said without running the product.
import { checkLockfile } from "./lockfile.js";
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
const bin = (/** @type {string} */ name) => `${ROOT}node_modules/.bin/${name}`;
process.stdout.write("check: lockfile, types, lint, format, architecture, reference\n");
checkLockfile(`${ROOT}package-lock.json`);
run(bin("tsc"), ["--project", ROOT]);
run(bin("oxlint"), ["--type-aware", "--deny-warnings", "packages", "tests", "scripts", "bench"]);
run(bin("oxfmt"), ["--check", "packages", "tests", "scripts", "bench"]);
run(NODE, [...NODE_FLAGS, "--test", "tests/architecture.test.ts"]);
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/reference/main.ts`, "--check"]);
process.stdout.write("check: all is well\n");
