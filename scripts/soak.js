// npm run soak [-- --minutes N --seed S]: sets up, then loads a daemon for a long time and tells what it holds.
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
run(NODE, [...NODE_FLAGS, `${ROOT}tests/soak/main.ts`, ...process.argv.slice(2)]);
