import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { assertLoopback, freePort } from "../contest/loopback.ts";
import { SSHD_PATH } from "../contest/needs.ts";
import type { CommandSettings, Runs } from "./commands.ts";
import { run } from "./run.ts";

/* OpenSSH's server as a child of this process, with keys and settings of its own. */

/** Connections that are made at a time. */
const AT_ONCE = 4;
const POLL_MS = 20;

/** Starts a server, connects to it as often as there are hosts, and gives what runs `true` there. */
export async function openSsh(
  kind: Exclude<CommandSettings["kind"], "spawn" | "kept">,
  hosts: number,
  folder: string,
): Promise<Runs> {
  const port = await serve(folder);
  const key = join(folder, "user");
  if (kind === "ssh2") {
    const { held } = await import("../peers/ssh2.js");
    const login = { port, username: userInfo().username, privateKey: readFileSync(key, "utf8") };
    const runs: ((command: string) => Promise<void>)[] = [];
    await each(hosts, async (host) => void (runs[host] = await held(login)));
    return async (host) => runs[host]?.("true");
  }
  const settings = ["BatchMode=yes", "StrictHostKeyChecking=no", `UserKnownHostsFile=${join(folder, "known")}`];
  const way = ["-F", "none", "-q", "-p", String(port), "-i", key, ...settings.flatMap((one) => ["-o", one])];
  if (kind === "ssh") return () => run("ssh", [...way, "127.0.0.1", "true"]);
  const socketOf = (host: number): string => join(folder, `c${host}`);
  await each(hosts, async (host) => {
    child("ssh", [...way, "-M", "-N", "-S", socketOf(host), "127.0.0.1"]);
    await until(() => run("ssh", ["-F", "none", "-q", "-S", socketOf(host), "-O", "check", "127.0.0.1"]));
  });
  return (host) => run("ssh", [...way, "-S", socketOf(host), "127.0.0.1", "true"]);
}

async function serve(folder: string): Promise<number> {
  const port = await freePort();
  // Where it puts those who are not let in yet; nothing else is outside of the folder.
  mkdirSync("/run/sshd", { recursive: true });
  for (const name of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
  writeFileSync(join(folder, "keys"), readFileSync(join(folder, "user.pub")), { mode: 0o600 });
  const settings = [
    "ListenAddress 127.0.0.1",
    `Port ${port}`,
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "keys")}`,
    `PidFile ${join(folder, "pid")}`,
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "StrictModes no",
    "UsePAM no",
    // No file of the measuring user's shell is read.
    `SetEnv HOME=${folder}`,
    "MaxStartups 100",
  ];
  writeFileSync(join(folder, "config"), `${settings.join("\n")}\n`);
  const pid = child(SSHD_PATH, ["-D", "-f", join(folder, "config")]);
  await until(async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  });
  assertLoopback(pid);
  return port;
}

/** A program that ends when this process does. */
function child(program: string, args: readonly string[]): number {
  const started = spawn(program, args, { stdio: "ignore" });
  process.once("exit", () => started.kill());
  process.setMaxListeners(0);
  return started.pid ?? 0;
}

/** Does something for each host, a few at a time. */
async function each(hosts: number, work: (host: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < hosts) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function until(probe: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await probe();
    } catch {
      await rest(POLL_MS);
    }
  }
}
