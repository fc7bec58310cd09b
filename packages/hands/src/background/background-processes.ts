import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, HAND_LIMITS, PROCESS_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { encodeNdjson } from "@vidro/core/codec";
import { withoutLeaks } from "../exec/leaked-descriptors.ts";
import { HAND_LAUNCHER } from "../program/background.ts";
import { askKeeper } from "./keeper-wire.ts";
import type { KeeperOrder, KeeperReport } from "./keeper-wire.ts";
import {
  isRunning,
  listRecords,
  makeProcessFolder,
  processFolder,
  pruneRecords,
  readRecord,
} from "./process-record.ts";
import type { ProcessEnd, ProcessRecord } from "./process-record.ts";

/** Who asks for a process. */
interface ProcessClaim {
  readonly run: string;
  readonly by?: string;
}

/** The processes that a hand has in the background. */
export class BackgroundProcesses {
  readonly #state: () => string;
  /** Keepers of processes that end with this hand. */
  readonly #keepers = new Set<ChildProcess>();
  /** Starts one at a time, so that the bound on their number holds. */
  #starting: Promise<unknown> = Promise.resolve();

  constructor(state: () => string) {
    this.#state = state;
  }

  /** Whether processes run that end with this hand. */
  get isKeeping(): boolean {
    return this.#keepers.size > 0;
  }

  /** Every process on record, the newest first. */
  list(): readonly ProcessRecord[] {
    return listRecords(this.#state());
  }

  /** The folder of a process. */
  folderOf({ action }: ProcessRecord): string {
    return processFolder(this.#state(), action);
  }

  /** The newest process of a name or an action; throws NOT_FOUND. */
  find(named: string): ProcessRecord {
    const all = this.list();
    const found = all.find(({ action }) => action === named) ?? all.find(({ name }) => name === named);
    if (found !== undefined) return found;
    throw new Fault("NOT_FOUND", `There is no process ${JSON.stringify(named)}: started_processes lists them.`);
  }

  /** The process as one that a run may use: its own, or one that is kept; throws NOT_FOUND for others. */
  findFor(named: string, { run, by }: ProcessClaim): ProcessRecord {
    const isUsable = (one: ProcessRecord): boolean => one.keep || (one.run === run && one.by === by);
    const record = this.find(named);
    if (isUsable(record)) return record;
    // Another run may have given the name of one that has ended to a process of its own.
    const own = this.list().find((one) => one.name === named && isUsable(one));
    if (own !== undefined) return own;
    throw new Fault("NOT_FOUND", `The process ${record.name} belongs to another run.`);
  }

  /** Starts a process; rejects with TOOL_FAILED when that fails, or when too many run. */
  start(order: Omit<KeeperOrder, "record"> & { readonly record: Omit<KeeperOrder["record"], "name"> }, name?: string) {
    const started = this.#starting.then(() => this.#start(order, name));
    this.#starting = started.catch(() => undefined);
    return started;
  }

  /** Writes to a process, and closes its input if wanted. */
  async write(record: ProcessRecord, text: string, close: boolean): Promise<void> {
    if (!isRunning(record)) throw new Fault("TOOL_FAILED", `The process ${record.name} has ended.`);
    const said = await askKeeper(this.folderOf(record), { do: "write", text, close });
    if ("error" in said) throw new Fault("TOOL_FAILED", `Nothing was written to ${record.name}: ${said.error}.`);
  }

  /** Ends a process with all that it has started; gives its end, undefined when that is not known. */
  async stop(record: ProcessRecord): Promise<ProcessEnd | undefined> {
    if (!isRunning(record)) return record.end;
    const folder = this.folderOf(record);
    try {
      const said = await askKeeper(folder, { do: "stop" });
      if ("end" in said) return said.end;
    } catch (thrown) {
      // It may have ended meanwhile.
      if (isRunning(readRecord(folder) ?? record)) throw thrown;
    }
    return readRecord(folder)?.end;
  }

  /** Ends the processes that end with this hand. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#keepers].map(async (keeper) => {
        const gone = once(keeper, "exit");
        keeper.stdin?.end();
        keeper.ref();
        const late = sleep(HAND_LIMITS.graceMs + 2 * HAND_LIMITS.pipesMs, "late", { ref: false });
        // Its watchdog ends what it has kept.
        if ((await Promise.race([gone, late])) === "late") keeper.kill("SIGKILL");
      }),
    );
  }

  async #start(
    order: Omit<KeeperOrder, "record"> & { readonly record: Omit<KeeperOrder["record"], "name"> },
    asked: string | undefined,
  ): Promise<ProcessRecord> {
    const state = this.#state();
    pruneRecords(state, Date.now());
    const running = this.list().filter(isRunning);
    if (running.length >= PROCESS_LIMITS.running)
      throw new Fault(
        "TOOL_FAILED",
        `${running.length} processes run in the background already, which is the most: stop one first.`,
      );
    if (asked !== undefined && running.some(({ name }) => name === asked))
      throw new Fault("BAD_ARGUMENTS", `A process ${asked} runs already: stop it first, or choose another name.`);
    const name = asked ?? this.#freeName();
    const { action, keep } = order.record;
    const folder = makeProcessFolder(state, action);
    const keeper = await startKeeper({ ...order, record: { ...order.record, name } }).catch((thrown: unknown) => {
      // Without a record nothing would ever remove it.
      rmSync(folder, { recursive: true, force: true });
      throw thrown;
    });
    if (!keep) {
      this.#keepers.add(keeper);
      keeper.once("exit", () => this.#keepers.delete(keeper));
    }
    const record = readRecord(folder);
    if (record === undefined) throw new Fault("OUTCOME_UNKNOWN", "The process was started, and its record is gone.");
    return record;
  }

  /** The next number that no process on record has. */
  #freeName(): string {
    const numbers = this.list().map(({ name }) => Number(/^p(\d{1,9})$/.exec(name)?.[1] ?? 0));
    return `p${Math.max(0, ...numbers) + 1}`;
  }
}

/** Starts the keeper of a process and waits until the process runs. */
async function startKeeper(order: KeeperOrder): Promise<ChildProcess> {
  const keeper = spawn(HAND_LAUNCHER, ["keep"], {
    cwd: "/",
    env: order.env,
    stdio: withoutLeaks(["pipe", "pipe", "ignore"]),
    // Its own session: what ends this process by its group or terminal does not end a process that is kept.
    detached: true,
  });
  keeper.stdin?.on("error", () => undefined).write(encodeNdjson(order as unknown as JsonObject));
  const said = await Promise.race([
    firstReport(keeper),
    sleep(PROCESS_LIMITS.keeperMs, { failed: "it did not start in time" }, { ref: false }),
  ]);
  if ("failed" in said) {
    keeper.stdin?.destroy();
    keeper.kill("SIGKILL");
    throw new Fault("TOOL_FAILED", said.failed);
  }
  // This process may end although the keeper runs.
  keeper.unref();
  keeper.stdout?.destroy();
  if (order.record.keep) keeper.stdin?.end();
  else if (keeper.stdin instanceof Socket) keeper.stdin.unref();
  return keeper;
}

async function firstReport(keeper: ChildProcess): Promise<KeeperReport> {
  return new Promise((resolve) => {
    const fail = (): void => resolve({ failed: "The keeper of the process could not be started." });
    keeper.once("error", fail).once("exit", fail);
    if (keeper.stdout === null) return fail();
    createInterface({ input: keeper.stdout }).once("line", (line) => resolve(JSON.parse(line) as KeeperReport));
  });
}
