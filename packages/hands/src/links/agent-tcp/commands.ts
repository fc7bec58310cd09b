import { authCommand } from "./auth.ts";
import type { TcpCommand } from "./command.ts";
import { getOsInfoCommand } from "./get-os-info.ts";
import { getWatchesCommand } from "./get-watches.ts";
import { ackCommand, cancelCommand, judgeCommand, runToolCommand } from "./orders.ts";
import { osCmdCommand } from "./os-cmd.ts";
import { pingCommand } from "./ping.ts";
import { psCommand } from "./ps.ts";
import { quitCommand } from "./quit.ts";
import { watchCommand } from "./watch.ts";

/** Every action of the TCP agent protocol [002-32]: one file and one line here adds one. */
export const COMMANDS: readonly TcpCommand[] = [
  authCommand,
  pingCommand,
  getOsInfoCommand,
  psCommand,
  watchCommand,
  getWatchesCommand,
  osCmdCommand,
  quitCommand,
  judgeCommand,
  runToolCommand,
  cancelCommand,
  ackCommand,
];
