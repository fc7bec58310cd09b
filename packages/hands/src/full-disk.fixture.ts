import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ActionEnd } from "@vidro/core";
import { localHand } from "./hand.ts";
import { endOf, policyOf, processOf, shellOrder } from "./scratch.fixture.ts";

/*
 * Run with a folder in which `disk` is a small file system: a hand whose state is there, before, while and after it
 * is full. Prints what came of it as JSON.
 */

const folder = process.argv[2] ?? "";
const [workspace, state, ballast] = [join(folder, "work"), join(folder, "disk/state"), join(folder, "disk/ballast")];
mkdirSync(workspace);
const hand = await localHand({ id: "full", workspace, state, policy: policyOf("allow") });
const mark = (name: string) => shellOrder(`act_${name}`, `echo ${name} >> marks`);
const word = (ended: ActionEnd): string => (ended.type === "finished" ? ended.type : ended.fault.code);

function fill(): void {
  const file = openSync(ballast, "w");
  try {
    for (let size = 65_536; size >= 1;) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

const before = word(await endOf(hand, mark("before")));
const large = processOf(await endOf(hand, shellOrder("act_large", "head -c 4000000 /dev/zero | tr '\\0' x")));
const spooled = { truncated: large.stdout.truncated, spool: large.spool !== undefined };
fill();
const full = word(await endOf(hand, mark("full")));
rmSync(ballast);
const after = word(await endOf(hand, mark("after")));
const effects = readFileSync(join(workspace, "marks"), "utf8").trim().split("\n");
await hand.close();
process.stdout.write(JSON.stringify({ before, full, spooled, after, effects }));
