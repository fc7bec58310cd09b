import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@vidro/core";
import type { AttackRequest } from "./attacked-hand.process.ts";
import { SECRET, STATE_SECRET } from "./attack.fixture.ts";
import type { Attempt } from "./attack.fixture.ts";

const SCRIPT = fileURLToPath(new URL("attacked-hand.process.ts", import.meta.url));

/** A user without rights, to run hands as which are not root's. */
export const NOBODY = 65534;

/** Whether this host can keep other processes from lines of root's: root, perl and a kernel with Landlock 2. */
export function canScreenProcesses(): boolean {
  const { stdout } = spawnSync("/usr/bin/perl", ["-e", "print syscall(444, 0, 0, 1)"]);
  return process.getuid?.() === 0 && Number(stdout ?? 0) >= 2;
}

/** A hand in a process of its own. */
export interface AttackedHand {
  readonly pid: number;
  /** `work`, `outside` and `d/vidro` are in it. */
  readonly folder: string;
  readonly workspace: string;
  /** The folder of Vidro itself, `d/vidro`; it holds `token`. */
  readonly state: string;
  readonly outside: string;
  /** Performs what policy alone allows. */
  attempt(tool: string, input: JsonObject): Promise<Attempt>;
  /** Performs what a person approved. */
  approve(tool: string, input: JsonObject): Promise<Attempt>;
  /** Has the policy read anew; gives its version. */
  reload(): Promise<string>;
}

/** How the process of a hand is started. */
export interface AttackedHandOptions {
  /** The user and group that it runs as; default: those of this process. */
  readonly user?: number;
  /** Whether the workspace is the home of its user. */
  readonly isHomeWorkspace?: boolean;
  /** Descriptors that it inherits, by their numbers; made from the folder that the hand gets. */
  readonly descriptors?: (folder: string) => { readonly [descriptor: number]: number };
}

/** Lays out the folders for a hand and starts it in a process of its own; both are gone at the end of the test. */
export async function startAttackedHand(t: TestContext, options: AttackedHandOptions = {}): Promise<AttackedHand> {
  const { user, descriptors, isHomeWorkspace = false } = options;
  const places = layOut(t, user);
  const { workspace, state, folder } = places;
  const child = spawn(process.execPath, [...process.execArgv.filter(isForChild), SCRIPT, workspace, state], {
    stdio: stdioOf(descriptors?.(folder) ?? {}),
    env: { PATH: process.env["PATH"], HOME: isHomeWorkspace ? workspace : folder, VIDRO_HOME: state },
    cwd: workspace,
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  });
  const ask = await connect(child);
  return {
    ...places,
    pid: child.pid ?? 0,
    attempt: async (tool, input) => (await ask({ tool, input, isApproved: false })) as Attempt,
    approve: async (tool, input) => (await ask({ tool, input, isApproved: true })) as Attempt,
    reload: async () => ((await ask({ reload: true })) as { version: string }).version,
  };
}

/** The folders of a hand that runs as a user. */
function layOut(
  t: TestContext,
  user: number | undefined,
): Pick<AttackedHand, "folder" | "workspace" | "state" | "outside"> {
  // A sandbox has a /tmp of its own, in which a hole would not show; another user cannot enter root's home.
  const around = user === undefined ? homedir() : "/var/lib";
  const folder = realpathSync(mkdtempSync(join(around, ".vidro-attack-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [workspace, state, outside] = [join(folder, "work"), join(folder, "d/vidro"), join(folder, "out")];
  for (const path of [workspace, state, outside]) mkdirSync(path, { recursive: true });
  writeFileSync(join(outside, "secret.txt"), `${SECRET}\n`);
  writeFileSync(join(state, "token"), `${STATE_SECRET}\n`);
  chmodSync(folder, 0o755);
  if (user !== undefined)
    for (const path of [folder, workspace, outside, join(folder, "d"), state, join(state, "token")])
      chownSync(path, user, user);
  return { folder, workspace, state, outside };
}

/** Waits until the process is ready; gives what asks it. */
async function connect({ stdin, stdout }: ChildProcess): Promise<(request: AttackRequest) => Promise<unknown>> {
  if (stdin === null || stdout === null) throw new Error("The hand has no pipes.");
  const waiting = new Map<number, (value: unknown) => void>();
  const ready = Promise.withResolvers<void>();
  createInterface({ input: stdout })
    .on("line", (line) => {
      if (line === "ready") return ready.resolve();
      const { id, value } = JSON.parse(line) as { id: number; value: unknown };
      waiting.get(id)?.(value);
    })
    .once("close", () => ready.reject(new Error("The hand ended before it was ready.")));
  await ready.promise;
  let asked = 0;
  return async (request) => {
    const id = (asked += 1);
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    stdin.write(`${JSON.stringify({ id, request })}\n`);
    return answered;
  };
}

/** Options of the test runner are not for the hand. */
const isForChild = (option: string): boolean => option.startsWith("--conditions") || option.startsWith("--disable");

function stdioOf(descriptors: { readonly [descriptor: number]: number }): ("pipe" | "inherit" | "ignore" | number)[] {
  const entries = Object.entries(descriptors).map(([descriptor, file]) => [Number(descriptor), file] as const);
  const last = Math.max(2, ...entries.map(([descriptor]) => descriptor));
  const stdio = Array.from<"pipe" | "inherit" | "ignore" | number>({ length: last + 1 }).fill("ignore");
  stdio.splice(0, 3, "pipe", "pipe", "inherit");
  for (const [descriptor, file] of entries) stdio[descriptor] = file;
  return stdio;
}
