// npm run shape: measures the source: files in folders, sizes, what commands load, what a token passes, packages of others.
import { installPeers, NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
installPeers("scripts");
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/shape-figures.ts`]);
