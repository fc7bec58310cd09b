import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { constants as osConstants } from "node:os";
import { getSystemErrorName } from "node:util";
import { Fault, HAND_LIMITS } from "@vidro/core";
import { LAUNCHER_SCRIPT } from "./launcher-script.ts";
import { withoutLeaks } from "./leaked-descriptors.ts";
import type { ProcessExit } from "./process-end.ts";
import type { ProcessLaunch, RunningProgram } from "./running-program.ts";
import { PERL, screenArguments } from "./sandbox/process-screen.ts";

/*
 * A launcher is a small process that starts commands for this one. A fork copies the tables of its parent's memory, and
 * those of a hand or a daemon are large: a fork takes them several times as long, and they do nothing else meanwhile.
 * The launcher also enters covers itself, for which a program would have to be executed otherwise. It starts, tells pid
 * and exit status, and passes signals on; all else about a command stays with the hand.
 */

/** Arguments of `enter_screen` of which only the folder counts. */
const unscreened = (folder: string): readonly string[] => ["", "", folder, "", ""];

/** A command from its order to its end. */
interface Launch {
  readonly started: PromiseWithResolvers<RunningProgram>;
  readonly exited: PromiseWithResolvers<ProcessExit>;
  isRunning: boolean;
}

/** Starts commands by a process of its own. */
export class Launcher {
  readonly #child: ChildProcess;
  readonly #launches = new Map<string, Launch>();
  readonly #ready = Promise.withResolvers<boolean>();
  #heard = "";
  #last = 0;
  #state: "starting" | "ready" | "gone" = "starting";

  /** Throws when no process can be started. */
  constructor() {
    this.#child = spawn(PERL, ["-e", LAUNCHER_SCRIPT], {
      cwd: "/",
      env: {},
      stdio: withoutLeaks(["pipe", "pipe", "ignore"]),
      // Its own session: a signal to the hand's group is for the hand.
      detached: true,
    });
    const { stdin, stdout } = this.#child;
    const isGone = (): void => this.#leave();
    this.#child.on("error", isGone).once("exit", isGone).unref();
    stdin?.on("error", isGone);
    stdout?.on("error", isGone).once("close", isGone).setEncoding("latin1");
    stdout?.on("data", (text: string) => this.#hear(text));
    if (stdin instanceof Socket) stdin.unref();
  }

  /** Whether it takes orders. */
  get isReady(): boolean {
    return this.#state === "ready";
  }

  /** Whether it takes no orders any more. */
  get isGone(): boolean {
    return this.#state === "gone";
  }

  /** Resolves with whether it takes orders, as soon as that is known. */
  whenReady(): Promise<boolean> {
    return this.#ready.promise;
  }

  /**
   * Starts a program in a session of its own, with an empty input. Rejects with the error of the system when it cannot
   * be executed, and with OUTCOME_UNKNOWN when the launcher ended before it said so.
   */
  start({ program, argv, cwd, env, screen }: ProcessLaunch): Promise<RunningProgram> {
    if (!this.isReady) return Promise.reject(lostFault());
    const place = screen === undefined ? unscreened(cwd) : screenArguments(screen);
    const words = [program, String(argv.length), ...argv, ...place, ...Object.entries(env).flat()];
    // It would part a word in two; the system takes none either.
    if (words.some((word) => word.includes("\0"))) return Promise.reject(new Error("a word has a NUL in it"));
    const id = String((this.#last += 1));
    const launch: Launch = {
      started: Promise.withResolvers(),
      exited: Promise.withResolvers(),
      isRunning: true,
    };
    // Its reader may not wait for it yet.
    launch.exited.promise.catch(() => undefined);
    this.#launches.set(id, launch);
    this.#hold();
    this.#order("start", id, ...words);
    return launch.started.promise;
  }

  /** Ends the launcher, and with it whatever it has started. */
  end(): void {
    this.#child.stdin?.end();
  }

  #order(...words: readonly string[]): void {
    const order = Buffer.from(words.join("\0"));
    this.#child.stdin?.write(Buffer.concat([Buffer.from(`${order.length}\n`), order]));
  }

  #hear(text: string): void {
    const lines = (this.#heard + text).split("\n");
    this.#heard = lines.pop() ?? "";
    for (const line of lines) {
      const [verb, id = "", ...words] = line.split(" ");
      if (verb === "ready") this.#probe(Number(id));
      const launch = this.#launches.get(id);
      if (launch === undefined) continue;
      if (verb === "started") this.#takeStart(id, launch, words.map(Number));
      if (verb === "failed") this.#takeFailure(id, launch, words);
      if (verb === "ended") this.#takeEnd(id, launch, Number(words[0]));
    }
  }

  /** A launcher is of use where this process can open its pipes. */
  #probe(descriptor: number): void {
    try {
      closeSync(openSync(this.#pathOf(descriptor), "r"));
      this.#state = "ready";
      this.#hold();
      this.#ready.resolve(true);
    } catch {
      this.#leave();
      this.end();
    }
  }

  #takeStart(id: string, launch: Launch, [pid = 0, ...pipes]: readonly number[]): void {
    const { exited } = launch;
    try {
      const [stdout, stderr] = pipes.map((pipe) => openPipe(this.#pathOf(pipe)));
      const ends = [stdout, stderr].map((pipe) => new Promise((resolve) => pipe?.once("close", resolve)));
      const order = (signal: NodeJS.Signals): void => this.#order("signal", id, signal.slice("SIG".length));
      launch.started.resolve({
        pid,
        parent: this.#child.pid ?? 0,
        stdout: stdout ?? null,
        stderr: stderr ?? null,
        exited: exited.promise,
        closed: Promise.allSettled([exited.promise, ...ends]),
        get isRunning() {
          return launch.isRunning;
        },
        signalGroup(signal) {
          if (launch.isRunning) order(signal);
        },
      });
    } catch {
      this.#order("signal", id, "KILL");
      launch.started.reject(lostFault());
    }
    this.#order("opened", id);
  }

  #takeFailure(id: string, launch: Launch, [errno, ...reason]: readonly string[]): void {
    const said = reason.join(" ");
    const code = Number(errno) > 0 ? getSystemErrorName(-Number(errno)) : undefined;
    launch.started.reject(Object.assign(new Error(said), { code }));
    this.#settle(id, launch);
  }

  #takeEnd(id: string, launch: Launch, status: number): void {
    launch.exited.resolve(exitOf(status));
    this.#settle(id, launch);
  }

  #settle(id: string, launch: Launch): void {
    launch.isRunning = false;
    this.#launches.delete(id);
    this.#hold();
  }

  /** Keeps this process running while the launcher or a command is awaited. */
  #hold(): void {
    const { stdout } = this.#child;
    if (!(stdout instanceof Socket)) return;
    if (this.#state === "starting" || this.#launches.size > 0) stdout.ref();
    else stdout.unref();
  }

  #leave(): void {
    this.#state = "gone";
    this.#hold();
    this.#ready.resolve(false);
    for (const [id, launch] of this.#launches) {
      launch.started.reject(lostFault());
      launch.exited.reject(lostFault());
      this.#settle(id, launch);
    }
  }

  #pathOf(descriptor: number): string {
    return `/proc/${this.#child.pid}/fd/${descriptor}`;
  }
}

function lostFault(): Fault {
  return new Fault(
    "OUTCOME_UNKNOWN",
    "The process that starts commands for this hand ended; the command may have run.",
  );
}

function openPipe(path: string): Socket {
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
}

const SIGNAL_NAMES = new Map(Object.entries(osConstants.signals).map(([name, number]) => [number, name]));

/** The end of a process by its wait status: the signal in the lowest bits, the exit code above. */
function exitOf(status: number): ProcessExit {
  const signal = SIGNAL_NAMES.get(status & 0x7f) as NodeJS.Signals | undefined;
  return signal === undefined ? { exitCode: status >> 8, signal: null } : { exitCode: null, signal };
}

let launcher: Launcher | undefined;
let isUnusable = !existsSync(PERL);
let soon: NodeJS.Timeout | undefined;

/**
 * The launcher of this process, when it takes orders; undefined until then, and on a host without perl or with a kernel
 * before 5.3. Asking for it brings about that there is one soon: not at once, because starting it blocks this process.
 */
export function readyLauncher(): Launcher | undefined {
  if (launcher?.isReady === true) return launcher;
  if (!isUnusable) soon ??= setTimeout(() => void openLauncher(), HAND_LIMITS.launcherDelayMs).unref();
  return undefined;
}

/** The launcher of this process, as soon as it takes orders; undefined on a host that has none. */
export async function openLauncher(): Promise<Launcher | undefined> {
  clearTimeout(soon);
  soon = undefined;
  if (isUnusable) return undefined;
  try {
    if (launcher === undefined || launcher.isGone) launcher = new Launcher();
  } catch {
    // No process can be started at present; the next command asks again.
    return undefined;
  }
  const opened = launcher;
  if (await opened.whenReady()) return opened;
  isUnusable = true;
  return undefined;
}
