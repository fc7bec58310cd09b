import { spawn, type ChildProcess } from "node:child_process";
import { statSync, type BigIntStats } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { HAND_LIMITS, KIB } from "@vidro/core";
import { writeInherited } from "../inherited-descriptor.ts";
import { withoutLeaks } from "../leaked-descriptors.ts";
import { preferForOomKill } from "../memory-watch.ts";
import { ACTION_TAG_VARIABLE, actionTag, holdTag, releaseTag } from "../orphans.ts";
import { childrenOf } from "../proc.ts";
import type { ViewPart } from "./file-view.ts";
import type { ViewData } from "./view-data.ts";

/*
 * A cell is a sandbox whose shell waits for an order on its input. It runs one command and ends with it. The input is a
 * pipe of this process: when this process ends, however it ends, the shell reads the end of its input and ends as well.
 */

/** The settings of a cell. */
export interface CellPlan {
  /** The words before the line that runs in the sandbox. */
  readonly words: readonly string[];
  /** The filter of system calls, for `INHERITED_DESCRIPTOR`. */
  readonly filter: Uint8Array;
  /** The parts of the view. */
  readonly view: readonly ViewPart[];
  /** The bytes of the hand in the view, for the descriptors from `DATA_DESCRIPTOR` on. */
  readonly data: readonly ViewData[];
  readonly env: { readonly [name: string]: string };
  /** The hand's own folder. */
  readonly state: string;
}

/** The command that a cell runs. */
export interface CellOrder {
  /** The program, as an absolute path, and its arguments. */
  readonly line: readonly string[];
  readonly cwd: string;
  /** The tag of the action's processes. */
  readonly tag: string;
  /** Memory limit of each process. */
  readonly memoryBytes: number;
  /** Whether its input is a pipe; else it is empty. */
  readonly hasInput: boolean;
}

/** The shell of a cell; its last word shows in lists of processes. */
const WAITING_SHELL = ["/bin/sh", "-s", "vidro-cell"];

/** An empty command that prints a line break: the shell runs it when the sandbox is set up. */
const REPORT_READY = "echo\n";
const READY = "\n";

/** The descriptor of the pipe that becomes the command's input: the shell reads its own input in advance. */
const INPUT_DESCRIPTOR = 4;

/** The first of the descriptors of pipes on which a sandbox reads files of its view. */
export const DATA_DESCRIPTOR = 5;

/** The exit code of a command that could not be begun in its folder. */
const NOT_BEGUN = 126;

let opened = 0;

/** A sandbox that waits for its one command. */
export class Cell {
  readonly #child: ChildProcess;
  readonly #started: Promise<unknown>;
  #ready = Promise.resolve(false);

  private constructor(child: ChildProcess, tag: string) {
    this.#child = child;
    this.#started = new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    this.#started.catch(() => releaseTag(tag));
    child.once("close", () => releaseTag(tag));
    for (const stream of child.stdio) stream?.on("error", () => undefined);
  }

  /** Starts a cell; throws when no process can be started. */
  static open({ words, filter, env, state, data }: CellPlan): Cell {
    const [program = "", ...args] = [...words, ...WAITING_SHELL];
    const tag = actionTag(state, `cell-${(opened += 1)}`);
    holdTag(tag);
    try {
      const child = spawn(program, args, {
        cwd: "/",
        env: { ...env, [ACTION_TAG_VARIABLE]: tag },
        stdio: withoutLeaks(["pipe", "pipe", "pipe", "pipe", "pipe", ...data.map(() => "pipe" as const)]),
        // Its own session: it has no terminal to ask for passwords on, and its group can be signalled as a whole.
        detached: true,
      });
      if (child.pid !== undefined) preferForOomKill(child.pid);
      writeInherited(child, filter);
      for (const [index, { bytes }] of data.entries()) writeInherited(child, bytes, DATA_DESCRIPTOR + index);
      child.stdin?.write(setTimes(data));
      return new Cell(child, tag);
    } catch (thrown) {
      releaseTag(tag);
      throw thrown;
    }
  }

  /** Has the shell report when the sandbox is set up. */
  prepare(): void {
    this.#child.stdin?.write(REPORT_READY);
    this.#ready = Promise.race([this.#reportsReady(), sleep(HAND_LIMITS.sandboxTrialMs, false, { ref: false })]);
  }

  /** Whether a prepared cell waits for its command. */
  async isReady(): Promise<boolean> {
    return (await this.#ready) && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Whether a prepared cell waits and shows at this moment what its plan says. */
  async isFit({ view }: CellPlan): Promise<boolean> {
    if (!(await this.isReady())) return false;
    const [inside] = childrenOf(this.#child.pid ?? 0);
    return inside !== undefined && view.every((part) => isShown(part, `/proc/${inside}/root`));
  }

  /** Gives the cell its one command; rejects when the cell could not be started. */
  async run(order: CellOrder): Promise<{ readonly child: ChildProcess; readonly input?: Writable }> {
    this.#child.stdin?.end(orderText(order));
    await this.#started;
    const input = this.#child.stdio[INPUT_DESCRIPTOR];
    if (order.hasInput && input instanceof Socket) return { child: this.#child, input };
    input?.destroy();
    return { child: this.#child };
  }

  /** Lets this process end although the cell waits. */
  release(): void {
    this.#child.unref();
    for (const stream of this.#streams()) stream.unref();
  }

  /** Keeps this process running for as long as the cell runs. */
  retain(): void {
    this.#child.ref();
    for (const stream of this.#streams()) stream.ref();
  }

  /** Calls back when the cell has ended. */
  whenEnded(callback: () => void): void {
    this.#child.once("exit", callback);
  }

  /** Ends a cell that has no command. */
  end(): void {
    this.#child.kill("SIGKILL");
    for (const stream of this.#streams()) stream.destroy();
  }

  async #reportsReady(): Promise<boolean> {
    const { stdout } = this.#child;
    if (stdout === null) return false;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve).once("error", resolve));
    const report = new Promise((resolve) => stdout.once("readable", resolve));
    await Promise.race([report, ended]);
    return String(stdout.read(READY.length)) === READY;
  }

  #streams(): readonly Socket[] {
    return this.#child.stdio.filter((stream) => stream instanceof Socket);
  }
}

/**
 * The text that the shell executes. The braces make it one command: a text that was cut off because this process ended
 * runs nothing.
 */
function orderText({ line, cwd, tag, memoryBytes, hasInput }: CellOrder): string {
  const command = line.map(quoteWord).join(" ");
  const input = hasInput ? `<&${INPUT_DESCRIPTOR}` : "</dev/null";
  return `{ ulimit -d ${Math.floor(memoryBytes / KIB)} 2>/dev/null
    cd ${quoteWord(cwd)} || exit ${NOT_BEGUN}
    unset OLDPWD; export ${ACTION_TAG_VARIABLE}=${quoteWord(tag)}
    exec ${command} ${input} ${INPUT_DESCRIPTOR}<&-
  }\n`;
}

/** Lines that give files of the view their times. */
function setTimes(data: readonly ViewData[]): string {
  return data
    .flatMap(({ at, seconds }) =>
      seconds === undefined ? [] : [`touch -c -d @${seconds} ${quoteWord(at)} 2>/dev/null\n`],
    )
    .join("");
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Whether a part of the view is what it should be under the root of a cell. */
function isShown({ at, shows }: ViewPart, root: string): boolean {
  if (shows === "fixed") return true;
  const inside = statIfAny(root + at);
  if (inside === undefined) return false;
  if (shows === "own") return inside.dev !== statIfAny(at)?.dev;
  const outside = statIfAny(shows.path);
  return outside !== undefined && outside.dev === inside.dev && outside.ino === inside.ino;
}

function statIfAny(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
