import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asFault, Fault } from "@vidro/core";
import { userUnitFolder } from "../config.ts";

/* Programs of ours as services of systemd: of the system with a user of their own, or of one user. */

/** A program as a service. */
interface ServiceOptions {
  readonly name: string;
  readonly description: string;
  readonly command: readonly string[];
  readonly environment?: { readonly [name: string]: string };
  /** The folder that it works in. */
  readonly workspace: string;
  /** Time that it gets to end in order. */
  readonly stopSeconds: number;
  /** The user of a service of the system, its home, and the folders that it owns; without it, a service of this user. */
  readonly owner?: { readonly user: string; readonly home: string; readonly folders: readonly string[] };
  /** Only returns what would be done. */
  readonly dryRun: boolean;
}

/** Installs and starts a service; returns the steps that were, or would be, done. */
export function installService(options: ServiceOptions): string {
  const { name, owner, dryRun } = options;
  checkWords(options);
  const file =
    owner === undefined ? join(userUnitFolder() ?? "/", `${name}.service`) : `/etc/systemd/system/${name}.service`;
  const text = unitText(options);
  const before = owner === undefined ? [] : ownerSteps(owner);
  const systemctl = owner === undefined ? ["systemctl", "--user"] : ["systemctl"];
  const after = [["daemon-reload"], ["enable", name], ["restart", name]].map((words) => [...systemctl, ...words]);
  const lines = (commands: readonly (readonly string[])[]): string =>
    commands.map((words) => `${words.join(" ")}\n`).join("");
  const told = `${lines(before)}\n# ${file}\n${text}\n${lines(after)}`;
  if (dryRun) return told;
  if (owner !== undefined && process.getuid?.() !== 0)
    throw new Fault("FORBIDDEN", "Only root can make a service; see what: --dry-run");
  for (const command of before) run(command);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
  for (const command of after) run(command);
  return told;
}

/** Refuses words that would mean something else in a unit or in a step. */
function checkWords({ owner, workspace, command, environment = {} }: ServiceOptions): void {
  if (owner !== undefined && !/^[a-z_][a-z0-9_-]{0,31}$/.test(owner.user))
    throw new Fault("BAD_REQUEST", `${owner.user} is no name of a user.`);
  if (!/^\/[\w./-]+$/.test(workspace)) throw new Fault("BAD_REQUEST", "The workspace is an absolute, plain path.");
  const odd = [...command, ...Object.values(environment)].find((word) => !/^[\w./:@=-]+$/.test(word));
  if (odd !== undefined)
    throw new Fault("BAD_REQUEST", `A service takes plain paths only, without spaces: ${JSON.stringify(odd)}`);
}

function ownerSteps({ user, home, folders }: NonNullable<ServiceOptions["owner"]>): readonly (readonly string[])[] {
  return [
    ["useradd", "--system", "--user-group", "--home-dir", home, "--shell", "/usr/sbin/nologin", user],
    ["install", "-d", "-m", "0700", "-o", user, "-g", user, home, ...folders],
    // The files belong to root if root made them.
    ["chown", "-R", `${user}:${user}`, home],
  ];
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

function unitText(options: ServiceOptions): string {
  const { description, command, environment = {}, workspace, stopSeconds, owner } = options;
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${name}=${value}\n`);
  return `[Unit]
Description=${description}
${owner === undefined ? "" : "Wants=network-online.target\nAfter=network-online.target\n"}
[Service]
${owner === undefined ? "" : `User=${owner.user}\nGroup=${owner.user}\n`}WorkingDirectory=${workspace}
${variables.join("")}ExecStart=${command.join(" ")}
Restart=on-failure
RestartSec=5
# Who was refused, revoked or misused is not helped by another start.
RestartPreventExitStatus=2 3 4 5 6
TimeoutStopSec=${stopSeconds}
UMask=0077
NoNewPrivileges=yes
${owner === undefined ? "" : systemBounds(owner, workspace)}
[Install]
WantedBy=${owner === undefined ? "default.target" : "multi-user.target"}
`;
}

function systemBounds({ home }: { readonly home: string }, workspace: string): string {
  return `StateDirectory=${home.split("/").at(-1)}
StateDirectoryMode=0700
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
LimitNOFILE=16384
TasksMax=1024
MemoryMax=2G
# Commands get a sandbox of their own, which needs namespaces and a /proc that nothing covers:
# RestrictNamespaces and ProtectKernelTunables would take it away.
`;
}
