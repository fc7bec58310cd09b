import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { asFault, Fault } from "@vidro/core";
import { HAND_LAUNCHER } from "./background.ts";

/** Settings of the systemd service. */
interface UnitOptions {
  /** User of the service (default: vidro-hand). */
  readonly user?: string | undefined;
  /** The workspace (default: a folder beside its state). */
  readonly workspace?: string | undefined;
  /** Only returns what would be done. */
  readonly dryRun: boolean;
}

const NAME = "vidro-hand";
const HOME = `/var/lib/${NAME}`;

/** State of the service; beside its workspace, because no tool enters the hand's own state. */
export const SERVICE_STATE: string = join(HOME, "state");

/** Installs the hand as a systemd service under its own user; returns the steps that were, or would be, done. */
export function installUnit(options: UnitOptions): string {
  const { user = NAME, dryRun } = options;
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(user)) throw new Fault("BAD_REQUEST", `${user} is no name of a user.`);
  const [home, state] = [HOME, SERVICE_STATE];
  const workspace = options.workspace ?? `${home}/workspace`;
  if (!/^\/[\w./-]+$/.test(workspace)) throw new Fault("BAD_REQUEST", "The workspace is an absolute, plain path.");
  const file = `/etc/systemd/system/${NAME}.service`;
  const text = unitText({ user, state, workspace });
  const before = [
    ["useradd", "--system", "--user-group", "--home-dir", home, "--shell", "/usr/sbin/nologin", user],
    ["install", "-d", "-m", "0700", "-o", user, "-g", user, home, state, workspace],
    // The files belong to root if root joined the brain.
    ["chown", "-R", `${user}:${user}`, home],
  ];
  const after = [
    ["systemctl", "daemon-reload"],
    ["systemctl", "enable", NAME],
    ["systemctl", "restart", NAME],
  ];
  const lines = (commands: readonly (readonly string[])[]): string =>
    commands.map((words) => words.join(" ")).join("\n");
  const told = `${lines(before)}\n\n# ${file}\n${text}\n${lines(after)}\n`;
  if (dryRun) return told;
  if (process.getuid?.() !== 0) throw new Fault("FORBIDDEN", "Only root can make a service; see what: --dry-run");
  for (const command of before) run(command);
  writeFileSync(file, text, { mode: 0o644 });
  for (const command of after) run(command);
  return told;
}

/** Exit code of useradd for a user that exists already. */
const USER_EXISTS = 9;

function run([program = "", ...args]: readonly string[]): void {
  try {
    execFileSync(program, args, { stdio: "ignore" });
  } catch (cause) {
    if (program === "useradd" && (cause as { status?: number }).status === USER_EXISTS) return;
    throw new Fault("TOOL_FAILED", `${program} failed: ${asFault(cause).message}`, { cause });
  }
}

function unitText({ user, state, workspace }: { user: string; state: string; workspace: string }): string {
  return `[Unit]
Description=Vidro hand: carries out what a brain decides, under this host's own policy
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
Group=${user}
ExecStart=${HAND_LAUNCHER} serve --state ${state} --workspace ${workspace}
Restart=on-failure
RestartSec=5
# Who was refused, revoked or misused is not helped by another start.
RestartPreventExitStatus=2 3 4 5 6
StateDirectory=${NAME}
StateDirectoryMode=0700
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths=${workspace}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
LimitNOFILE=8192
TasksMax=1024
MemoryMax=2G
# Commands get a sandbox of their own, which needs namespaces and a /proc that nothing covers:
# RestrictNamespaces and ProtectKernelTunables would take it away.

[Install]
WantedBy=multi-user.target
`;
}
