// npm run shape: measures the source: files in folders, sizes, what commands load, what a token passes, packages of others.
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/shape-figures.ts`]);
