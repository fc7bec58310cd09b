import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";
import { asFault, PROCESS_LIMITS, SECOND_MS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { encodeNdjson, ndjsonDecoder } from "@vidro/core/codec";
import { actionTag, holdTag, killStragglers, releaseTag } from "../exec/orphans.ts";
import { memoryNote, waitUntilGone } from "../exec/process.ts";
import type { StartedProgram } from "../exec/process.ts";
import { endWaitingCells, findHostSandbox } from "../exec/sandbox.ts";
import { thisProcess } from "../host/process-identity.ts";
import { startOfPlan } from "../tools/start-plan.ts";
import { withSocketAddress } from "./keeper-wire.ts";
import type { KeeperAnswer, KeeperOrder, KeeperReport, KeeperRequest } from "./keeper-wire.ts";
import { OutputLog } from "./output-log.ts";
import { processFolder, readRecord, writeRecord } from "./process-record.ts";
import type { ProcessEnd, ProcessRecord } from "./process-record.ts";

/*
 * The keeper of one process in the background: a process of its own, so that one that is kept outlives its run and its
 * hand. It starts the program, puts its output on record, passes input on, and ends the whole tree: when it is asked
 * to, when the life of the process is over, and, unless the process is kept, when the hand that started it is gone.
 */

/** Ends of the keeper: what it is told, and where it reports. */
interface KeeperEnds {
  readonly input: Readable;
  readonly report: Writable;
}

/** Keeps the process that the first line of the input orders; resolves when nothing is left of it. */
export async function keepProcess({ input, report }: KeeperEnds): Promise<void> {
  report.on("error", () => undefined);
  const order = await readOrder(input);
  const tag = actionTag(order.state, order.record.action);
  const stop = new AbortController();
  const say = (said: KeeperReport): void => void report.write(encodeNdjson(said));
  holdTag(tag);
  try {
    const started = await startProgram(order, tag);
    const kept = new KeptProcess(order, started, stop);
    // The hand is gone with the other end of this pipe.
    if (!order.record.keep) input.once("close", () => stop.abort()).once("end", () => stop.abort());
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stop.abort());
    await kept.open();
    say({ pid: kept.pid });
    await kept.untilGone(tag);
  } catch (thrown) {
    say({ failed: asFault(thrown).message });
  } finally {
    releaseTag(tag);
    killStragglers();
    endWaitingCells(order.state);
  }
}

async function readOrder(input: Readable): Promise<KeeperOrder> {
  const lines = createInterface({ input });
  const first = await new Promise<string>((resolve, reject) => {
    lines.once("line", resolve).once("close", () => reject(new Error("A keeper is started by a hand.")));
  });
  return JSON.parse(first) as KeeperOrder;
}

async function startProgram(order: KeeperOrder, tag: string): Promise<StartedProgram> {
  const { plan, workspace, state, reserved, secrets, env, memoryBytes } = order;
  const sandbox = () => findHostSandbox(secrets);
  const context = { workspace, state, reserved: () => reserved, env, memoryBytes: () => memoryBytes, sandbox };
  return (await startOfPlan(plan, context))(tag, true);
}

class KeptProcess {
  readonly #order: KeeperOrder;
  readonly #started: StartedProgram;
  readonly #stop: AbortController;
  readonly #folder: string;
  readonly #log: OutputLog;
  readonly #server: Server;
  readonly #ended = Promise.withResolvers<ProcessEnd>();
  #record: ProcessRecord;
  /** Bytes that were read in the current second. */
  #second = { number: 0, bytes: 0 };

  constructor(order: KeeperOrder, started: StartedProgram, stop: AbortController) {
    const { plan, record, state } = order;
    this.#order = order;
    this.#started = started;
    this.#stop = stop;
    this.#folder = processFolder(state, record.action);
    this.#log = new OutputLog(this.#folder);
    this.#server = createServer((socket) => this.#serve(socket));
    this.#record = { ...record, plan, pid: this.pid, keeper: thisProcess(), startedAt: Date.now() };
    started.input?.on("error", () => undefined);
    for (const stream of [started.program.stdout, started.program.stderr])
      stream?.on("data", (chunk: Buffer) => this.#take(stream, chunk));
  }

  get pid(): number {
    return this.#started.program.pid;
  }

  /** Puts the process on record and listens for requests. */
  async open(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      withSocketAddress(this.#folder, (address) => this.#server.listen(address, resolve));
    });
    writeRecord(this.#folder, this.#record);
  }

  /** Resolves when the whole tree has ended and its end is on record. */
  async untilGone(tag: string): Promise<void> {
    const { plan, memoryBytes } = this.#order;
    // A process without its record could be neither found nor stopped.
    const look = setInterval(() => {
      if (readRecord(this.#folder) === undefined) this.#stop.abort();
    }, PROCESS_LIMITS.recordLookMs);
    const bounds = { timeoutMs: plan.timeoutMs, signal: this.#stop.signal, memoryBytes };
    const { exit, why } = await waitUntilGone(this.#started.program, tag, bounds);
    clearInterval(look);
    if (why === "memory") this.#log.take(memoryNote(memoryBytes));
    this.#log.close();
    const end = { ...exit, why, at: Date.now() };
    this.#record = { ...this.#record, end };
    try {
      writeRecord(this.#folder, this.#record);
    } catch {
      // A record without an end says that the end is not known.
    }
    this.#ended.resolve(end);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Takes output; a program that says too much in one second waits for the next. */
  #take(stream: Readable, chunk: Buffer): void {
    this.#log.take(chunk);
    const now = performance.now();
    const number = Math.floor(now / SECOND_MS);
    this.#second = { number, bytes: chunk.length + (this.#second.number === number ? this.#second.bytes : 0) };
    if (this.#second.bytes < PROCESS_LIMITS.outputBytesPerSecond) return;
    stream.pause();
    setTimeout(() => stream.resume(), SECOND_MS - (now % SECOND_MS));
  }

  #serve(socket: Socket): void {
    const decoder = ndjsonDecoder(PROCESS_LIMITS.messageBytes);
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      for (const item of decoder.push(chunk)) {
        if (!item.ok) return void socket.destroy();
        void this.#answer(item.value as KeeperRequest).then((said) => socket.end(encodeNdjson(said as JsonObject)));
      }
    });
  }

  async #answer(request: KeeperRequest): Promise<KeeperAnswer> {
    if (request.do === "stop") {
      this.#stop.abort();
      return { ok: true, end: await this.#ended.promise };
    }
    const { input } = this.#started;
    if (input === undefined || input.writableEnded || input.destroyed) return { error: "its input is closed" };
    const waiting = input.writableLength + Buffer.byteLength(request.text);
    if (waiting > PROCESS_LIMITS.unreadBytes) return { error: "it does not read its input" };
    if (request.text !== "") input.write(request.text);
    if (request.close) input.end();
    return { ok: true };
  }
}
