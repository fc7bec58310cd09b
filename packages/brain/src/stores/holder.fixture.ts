import { writeSync } from "node:fs";
import { thisHolder } from "./lease-holder.ts";

// Says who it is, then lives until it is killed or whoever started it is gone.
writeSync(1, `${JSON.stringify(thisHolder())}\n`);
process.stdin.resume();
