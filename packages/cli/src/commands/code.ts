import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { Fault } from "@vidro/core";
import type { Hand } from "@vidro/core";
import manifest from "../../package.json" with { type: "json" };
import type { BrainAddress, BrainFlags } from "../brain-api/brain-address.ts";
import { withDaemon } from "../brain-api/with-daemon.ts";
import { findRun } from "../brain-api/find-run.ts";
import { requireFolder } from "../program/require-folder.ts";
import { remoteBrain } from "../brain-api/remote.ts";
import { sayBrain, showRun } from "../view/show-run.ts";
import type { ShowFlags } from "../view/show-run.ts";
import { readTask } from "../program/read-task.ts";
import { say } from "../program/output.ts";
import type { BrainRuns } from "../brain-api/brain-api.ts";
import { modelOf } from "../program/model-flags.ts";
import type { ModelFlags } from "../program/model-flags.ts";
import { homeFolder } from "../program/settings.ts";
import { EXIT } from "../program/exit-codes.ts";
import { Briefer, lastRunIn } from "./code/briefing.ts";
import type { Briefing } from "./code/briefing.ts";
import { readTasks } from "./talk.ts";

/** Flags of `vidro code`. */
interface CodeFlags extends ShowFlags, BrainFlags, ModelFlags {
  readonly workspace?: string;
  readonly resume?: string;
  readonly continue?: boolean;
}

/**
 * Works on tasks in a folder: a brain decides, this process is its executor, and each run is shown to its end. Without a
 * task it is a conversation.
 */
export async function code(words: readonly string[], flags: CodeFlags): Promise<number> {
  const workspace = requireFolder(flags.workspace ?? ".");
  const prompt = await readTask(words);
  const isTalk = prompt === "" && flags.resume === undefined;
  if ((prompt !== "" && flags.resume !== undefined) || (isTalk && !isAtTerminal(flags)))
    throw new Fault("BAD_REQUEST", 'Say what to do, or which run to go on with: vidro code "<task>"');
  return withDaemon(flags, { workspace, localHand: false }, async (address) => {
    const brain = remoteBrain(address);
    sayBrain(address.isHidden === true ? { place: "inside this command" } : brain, flags);
    await using hand = disposable(await executorHand(workspace));
    const session = new CodeSession({ runs: asDriver(brain.runs), address, hand: hand.value, flags });
    if (flags.continue === true) await session.recall();
    // Awaited here: the hand is closed at the end of this block.
    if (flags.resume !== undefined) return await session.resume(flags.resume);
    return await (isTalk ? session.converse() : session.work(prompt));
  });
}

function isAtTerminal({ json }: CodeFlags): boolean {
  return json !== true && process.stdin.isTTY && process.stdout.isTTY;
}

/** Tasks in one folder, each of which knows those before it. */
class CodeSession {
  readonly #runs: BrainRuns;
  readonly #about: Pick<ExecutorAbout, "address" | "hand">;
  readonly #flags: CodeFlags;
  readonly #briefer: Briefer;
  /** The last run of the conversation that has ended. */
  #last: string | undefined;

  constructor({
    runs,
    flags,
    ...about
  }: Pick<ExecutorAbout, "address" | "hand"> & {
    readonly runs: BrainRuns;
    readonly flags: CodeFlags;
  }) {
    this.#runs = runs;
    this.#flags = flags;
    this.#about = about;
    this.#briefer = new Briefer(about.hand);
  }

  /** Takes up the last conversation of this folder. */
  async recall(): Promise<void> {
    this.#last = await lastRunIn(this.#runs, this.#about.hand.workspace);
    if (this.#last === undefined) say("No conversation of this folder is known: this is the first.");
  }

  async resume(given: string): Promise<number> {
    const { id } = await findRun(this.#runs, given);
    return this.#show({ id });
  }

  /** Works on one task. */
  async work(prompt: string): Promise<number> {
    return this.#show({ id: randomUUID(), prompt });
  }

  /** Reads tasks from the terminal until the person leaves. */
  async converse(): Promise<number> {
    say("Say what to do in this folder; exit leaves.");
    for await (const task of readTasks()) await this.work(task);
    return EXIT.ok;
  }

  async #show(task: ExecutorAbout["task"]): Promise<number> {
    const { verbose = false } = this.#flags;
    const project = await this.#briefer.brief();
    const model = modelOf(this.#flags);
    const about = { ...this.#about, task, verbose, project, model, continues: this.#last };
    await using executor = disposable(await executorOf(about));
    const { run_id: run } = await executor.value.joined;
    if (run === undefined) throw new Fault("NOT_FOUND", "The brain has no run for this executor.");
    // Rejects when the executor is refused for good: the run would wait for it without end.
    const thrownOut = executor.value.over.then(() => new Promise<never>(() => undefined));
    const exit = await Promise.race([showRun(this.#runs, { id: run, after: 0 }, this.#flags), thrownOut]);
    const { status } = await this.#runs.find(run);
    // Other clients can only watch the run: it waits for its executor.
    if (status === "running" || status === "asking") say(`  it waits for this folder: vidro code --resume ${run}`);
    else this.#last = run;
    return exit;
  }
}

/** The hand of this process, under the policy of this home. */
async function executorHand(workspace: string): Promise<Hand> {
  const { exportSpans, mountingHand, openPolicy } = await import("@vidro/hands");
  const home = homeFolder();
  const state = join(home, "hand");
  await mkdir(state, { recursive: true, mode: 0o700 });
  const policy = openPolicy({ file: join(home, "policy.json"), workspace, state: home });
  const hand = await mountingHand(
    { id: "executor", workspace, state, reserved: home, policy },
    { file: join(home, "mcp.json"), version: manifest.version, note: say },
  );
  await exportSpans(hand, manifest.version);
  return hand;
}

interface ExecutorAbout {
  readonly address: BrainAddress;
  readonly hand: Hand;
  readonly task: { readonly id: string; readonly prompt?: string };
  readonly project: Briefing | undefined;
  readonly verbose: boolean;
  readonly model: ModelFlags;
  readonly continues: string | undefined;
}

async function executorOf({ address, hand, task, project, verbose, model, continues }: ExecutorAbout) {
  const { Executor } = await (await import("@vidro/hands")).loadExecutor();
  return new Executor({
    ...address,
    hand,
    task,
    ...(project === undefined ? {} : { project }),
    ...model,
    continues,
    name: basename(hand.workspace) || "executor",
    version: manifest.version,
    watch: (event) => {
      if (verbose && event.type === "CONNECTION_ERROR") say(`The executor's connection is lost: ${event.error}`);
      if (verbose && event.type === "CONNECTION_RESTORED") say("The executor is connected again.");
    },
  });
}

/** The runs of a brain, in which this process is the driver of each run that no other process drives. */
function asDriver(runs: BrainRuns): BrainRuns {
  return { ...runs, join: async (run) => ((await runs.join(run)) === "onlooker" ? "onlooker" : "driver") };
}

/** Wraps a value so that `await using` closes it. */
function disposable<Value extends { close(): Promise<void> }>(
  value: Value,
): AsyncDisposable & { readonly value: Value } {
  return { value, [Symbol.asyncDispose]: () => value.close() };
}
