import { findDaemon } from "@vidro/brain/daemon-file";
import { Fault } from "@vidro/core";
import { say } from "../program/output.ts";
import { requireFolder } from "../program/require-folder.ts";
import { homeFolder } from "../program/settings.ts";
import { startDaemonInBackground } from "./background-daemon.ts";
import { stopDaemon } from "./stop.ts";

/** Ends the daemon and starts it again in the background, in its folder and with its flags. */
export async function restartDaemon(): Promise<number> {
  const daemon = await findDaemon(homeFolder());
  if (daemon?.args.includes("--supervised") === true)
    throw new Fault("CONFLICT", "systemd runs this daemon: systemctl restart vidro (a service of yours: --user)");
  if (daemon === undefined) say("Vidro is not up; it is started with the settings of this home.");
  else await stopDaemon();
  return startDaemonInBackground({ args: daemon?.args ?? [], workspace: daemon?.workspace ?? requireFolder(".") });
}
