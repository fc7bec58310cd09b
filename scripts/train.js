// npm run train [-- --check]: makes the built-in model from its phrases and its lexicon; with --check it only compares.
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/train/main.ts`, ...process.argv.slice(2)]);
