import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { quoteWord } from "@vidro/core/text";
import { userUnitFolder } from "../config.ts";
import { HAND_LAUNCHER } from "./background.ts";
import { installUnit, installUserUnit, SERVICE_STATE } from "./unit.ts";

/* What starts a hand with its host: systemd for all users, systemd of one user, or nothing. */

/** The supervisor that keeps a hand running on this host. */
export type Supervisor = "system" | "user" | "none";

const NAME = "vidro-hand";

/** The supervisor that this user has on this host. */
export function findSupervisor(): Supervisor {
  if (!existsSync("/run/systemd/system")) return "none";
  if (process.getuid?.() === 0) return "system";
  const { status } = spawnSync("systemctl", ["--user", "show-environment"], { stdio: "ignore" });
  return status === 0 && userUnitFolder() !== undefined ? "user" : "none";
}

/** A hand that is to be a service. */
interface HandPlace {
  readonly state: string;
  readonly workspace: string;
}

/** Starts a hand as a service, in place of the process before it, and gives what to tell a person. */
export function startService(supervisor: "system" | "user", { state, workspace }: HandPlace): readonly string[] {
  if (supervisor === "system") {
    installUnit({ dryRun: false });
    return [`  It is the service ${NAME} and starts with this host. To end it: systemctl disable --now ${NAME}`];
  }
  installUserUnit(state, workspace);
  const ends = `To end it: systemctl --user disable --now ${NAME}`;
  // Without lingering the services of a user begin and end with the user's sessions.
  const { status } = spawnSync("loginctl", ["enable-linger"], { stdio: "ignore" });
  if (status === 0) return [`  It is a service of yours and starts with this host. ${ends}`];
  return [
    `  It is a service of yours, and ends when you log out. ${ends}`,
    `  To have it start with this host: sudo loginctl enable-linger ${userInfo().username}`,
  ];
}

/** What a person does so that the hand starts with a host that has no systemd. */
export function rebootWords(state: string): readonly string[] {
  // A percent sign ends the command of a line of crontab.
  const [launcher, place] = [HAND_LAUNCHER, state].map((path) => quoteWord(path));
  return [
    "  There is no systemd here. To have it start with this host, add this line by crontab -e:",
    `@reboot ${launcher} serve --detach --state ${place}`.replaceAll("%", String.raw`\%`),
    `  To end it: ${launcher} stop --state ${place}`,
  ];
}

/** Ends the service of a hand, and keeps it from starting with the host; false when there is none. */
export function stopService(state: string): boolean {
  if (state === SERVICE_STATE && existsSync(`/etc/systemd/system/${NAME}.service`)) {
    execFileSync("systemctl", ["disable", "--now", NAME], { stdio: "ignore" });
    return true;
  }
  if (!existsSync(join(userUnitFolder() ?? "", `${NAME}.service`)) || findSupervisor() !== "user") return false;
  execFileSync("systemctl", ["--user", "disable", "--now", NAME], { stdio: "ignore" });
  return true;
}
