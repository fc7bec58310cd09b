import { execFile, spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";

/*
 * Two machines with a way between them, each a network of its own on this one. The way is a third network that passes
 * packets on, or loses them: when it is cut, neither machine is told anything, as with a cable or a router that died.
 */

const run = promisify(execFile);
const NAMES = "/run/netns";

/** A machine at one end of the way. */
export interface NetworkHost {
  /** Where the other one reaches it. */
  readonly address: string;
  /** The words that run a command on it. */
  argv(...command: readonly string[]): readonly [string, ...string[]];
  /** Starts a command on it. */
  spawn(command: readonly string[], options?: SpawnOptions): ChildProcess;
  /** Runs a command on it to its end and gives what it printed; rejects when it fails. */
  run(...command: readonly string[]): Promise<string>;
}

/** What is lost on the way: all that goes to one of the two, or everything. */
export type Cut = "to near" | "to far" | "both ways";

/** Two machines and the way between them; it is all gone in the end. */
export interface NetworkPath extends AsyncDisposable {
  readonly near: NetworkHost;
  readonly far: NetworkHost;
  /** Loses packets from now on. */
  cut(what: Cut): Promise<void>;
  /** Loses none any more. */
  heal(): Promise<void>;
}

const ENDS = [
  { end: "near", network: "10.77.1", address: "10.77.1.2" },
  { end: "far", network: "10.77.2", address: "10.77.2.2" },
] as const;

let made = 0;

/** Makes two machines that reach each other; needs `ip` (iproute2) and to be root. */
export async function makeNetworkPath(): Promise<NetworkPath> {
  if (process.getuid?.() !== 0)
    throw new Error("A test of cut links makes networks, which only root may: run it as root.");
  await removeOrphans();
  made += 1;
  const prefix = `vidro-${process.pid}-${made}`;
  const named = (end: string): string => `${prefix}-${end}`;
  const middle = named("way");
  const names = [middle, ...ENDS.map(({ end }) => named(end))];
  const remove = async (): Promise<void> => {
    await Promise.all(names.map((name) => ip("netns", "del", name).catch(() => undefined)));
  };
  const [near, far] = ENDS.map(({ end, address }) => hostIn(named(end), address)) as [NetworkHost, NetworkHost];
  const lost = { "to near": [near], "to far": [far], "both ways": [near, far] };
  const eachRoute = async (verb: "replace" | "del", hosts: readonly NetworkHost[]): Promise<void> => {
    for (const { address } of hosts) await ip("-n", middle, "route", verb, "blackhole", `${address}/32`);
  };
  let cutNow: readonly NetworkHost[] = [];
  try {
    for (const name of names) await ip("netns", "add", name);
    for (const { end, network, address } of ENDS) await join({ name: named(end), middle, end, network, address });
    await ip("netns", "exec", middle, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
  } catch (thrown) {
    await remove();
    throw thrown;
  }
  return {
    near,
    far,
    async cut(what) {
      await eachRoute("replace", lost[what]);
      cutNow = lost[what];
    },
    async heal() {
      await eachRoute("del", cutNow);
      cutNow = [];
    },
    [Symbol.asyncDispose]: remove,
  };
}

function hostIn(name: string, address: string): NetworkHost {
  const argv = (...command: readonly string[]): readonly [string, ...string[]] => [
    "ip",
    "netns",
    "exec",
    name,
    ...command,
  ];
  return {
    address,
    argv,
    spawn(command, options = {}) {
      const [program, ...args] = argv(...command);
      return spawn(program, args, options);
    },
    async run(...command) {
      const [program, ...args] = argv(...command);
      return (await run(program, args)).stdout;
    },
  };
}

interface Joint {
  readonly name: string;
  readonly middle: string;
  readonly end: string;
  readonly network: string;
  readonly address: string;
}

/** Joins one machine to the way. */
async function join({ name, middle, end, network, address }: Joint): Promise<void> {
  await ip("link", "add", "way", "netns", name, "type", "veth", "peer", "name", end, "netns", middle);
  await ip("-n", middle, "addr", "add", `${network}.1/24`, "dev", end);
  await ip("-n", middle, "link", "set", end, "up");
  await ip("-n", name, "addr", "add", `${address}/24`, "dev", "way");
  await ip("-n", name, "link", "set", "way", "up");
  await ip("-n", name, "link", "set", "lo", "up");
  await ip("-n", name, "route", "add", "default", "via", `${network}.1`);
}

/** A process that was killed could not remove its own. */
async function removeOrphans(): Promise<void> {
  for (const name of namesOf()) {
    const pid = /^vidro-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await ip("netns", "del", name).catch(() => undefined);
  }
}

function namesOf(): readonly string[] {
  try {
    return readdirSync(NAMES);
  } catch {
    return []; // There was never one on this machine.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  await run("ip", args);
}
