// npm run newcomer: follows the README as a person does who has Node 20 and npm and nothing of Vidro: clones, types what
// it says on a terminal, compares what is printed with what it shows, and joins a machine that has sh and curl alone.
import { installPeers, NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
installPeers("tests");
run(NODE, [`${ROOT}scripts/package.js`]);
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/newcomer/main.ts`]);
