import { auth } from "./auth.ts";
import type { Command } from "./command.ts";
import { getOsInfo } from "./get-os-info.ts";
import { getWatches } from "./get-watches.ts";
import { ack, cancel, judge, runTool } from "./orders.ts";
import { osCmd } from "./os-cmd.ts";
import { ping } from "./ping.ts";
import { ps } from "./ps.ts";
import { quit } from "./quit.ts";
import { watch } from "./watch.ts";

/** Every action of the TCP agent protocol [002-32]: one file and one line here adds one. */
export const COMMANDS: readonly Command[] = [
  auth,
  ping,
  getOsInfo,
  ps,
  watch,
  getWatches,
  osCmd,
  quit,
  judge,
  runTool,
  cancel,
  ack,
];
