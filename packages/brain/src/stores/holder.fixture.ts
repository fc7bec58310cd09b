import { writeSync } from "node:fs";
import { thisHolder } from "./lease-holder.ts";

// Prints its identity, then lives until it is killed or its parent ends.
writeSync(1, `${JSON.stringify(thisHolder())}\n`);
process.stdin.resume();
