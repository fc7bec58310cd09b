// npm run reference [-- --check]: writes docs/reference from the tables in the code; with --check it only compares.
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/reference/main.ts`, ...process.argv.slice(2)]);
