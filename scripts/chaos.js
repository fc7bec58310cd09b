// npm run chaos [-- --seconds N --seed S --faults kill,stop,store,disk,abort]: sets up, then lets everything go wrong.
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
run(NODE, [...NODE_FLAGS, `${ROOT}tests/chaos/main.ts`, ...process.argv.slice(2)]);
