import { setTimeout as pause } from "node:timers/promises";
import type { Event, QuestionAsked } from "@vidro/core";
import { JOURNAL_NDJSON, JOURNAL_SSE } from "../support/resumable-wires.ts";
import { ChaosFollower } from "./follower.ts";
import { taskOf } from "./model.ts";
import type { PlannedRun } from "./plan.ts";
import type { ChaosStand } from "./harness.ts";

const RUNS = "/v1/runs";
const ASK_MS = 10_000;
const AGAIN_MS = 100;

/** Something that the brain has said yes to, and has to keep. */
export type Acknowledged =
  | { readonly kind: "answer"; readonly question: string; readonly answer: string }
  | { readonly kind: "abort" };

/** A person with one run: begins it, watches it over two wires, answers what it asks, and stops it, as it was planned. */
export class PlannedClient {
  readonly plan: PlannedRun;
  /** The run, once the brain has said that it is there. */
  run: string | undefined;
  /** What was said of requests that were not taken, by status. */
  readonly refusals: number[] = [];
  readonly promised: Acknowledged[] = [];
  readonly wrongs: string[] = [];
  readonly followers: ChaosFollower[] = [];
  /** The question that is left without an answer on purpose. */
  leftOpen: string | undefined;
  readonly #stand: ChaosStand;
  readonly #deeds: Promise<void>[] = [];
  readonly #asked = new Set<string>();
  #isOver = false;

  constructor(stand: ChaosStand, plan: PlannedRun) {
    this.#stand = stand;
    this.plan = plan;
  }

  /** Begins the run, and asks as often as it takes under the same key; then once more, which must change nothing. */
  async begin(): Promise<void> {
    await pause(this.plan.atMs);
    const { key, place } = this.plan;
    const body = { task: taskOf(this.plan), ...(place === "local" ? {} : { hand: place }) };
    const id = await this.#insist(RUNS, body, { "idempotency-key": key });
    if (id === undefined) return;
    this.run = id;
    const hear = (event: Event): void => this.#hears(event);
    this.followers.push(
      new ChaosFollower(this.#stand, { run: id, wire: JOURNAL_NDJSON }, hear),
      new ChaosFollower(this.#stand, { run: id, wire: JOURNAL_SSE }),
    );
    if (this.plan.abortMs !== undefined) this.#deeds.push(this.#abort(this.plan.abortMs));
    const again = await this.#insist(RUNS, body, { "idempotency-key": key });
    if (again !== undefined && again !== id) this.wrongs.push(`key ${key} began two runs: ${id} and ${again}`);
  }

  /** Whether everything has come about that was planned: the run is over, or waits for an answer that it will not get. */
  get isSettled(): boolean {
    return this.run !== undefined && (this.leftOpen !== undefined || this.followers.every(({ isDone }) => isDone));
  }

  /** Gives up what is still tried. */
  async leave(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.followers.map((one) => one.leave()), ...this.#deeds]);
  }

  #hears(event: Event): void {
    if (event.type !== "question.asked" || this.#asked.has(event.id)) return;
    const { afterMs, word } = this.plan.answers[this.#asked.size] ?? { afterMs: 0, word: "first" as const };
    this.#asked.add(event.id);
    if (word === "none") this.leftOpen = event.id;
    else this.#deeds.push(this.#answer(event, { afterMs, answer: event.options[word === "first" ? 0 : 1] ?? "" }));
  }

  async #answer(
    { id: question }: QuestionAsked,
    { afterMs, answer }: { afterMs: number; answer: string },
  ): Promise<void> {
    await pause(afterMs);
    const said = await this.#insist(`/v1/runs/${this.run}/answers`, { question, answer });
    if (said !== undefined) this.promised.push({ kind: "answer", question, answer });
  }

  async #abort(afterMs: number): Promise<void> {
    await pause(afterMs);
    if ((await this.#insist(`/v1/runs/${this.run}/abort`, {})) !== undefined) this.promised.push({ kind: "abort" });
  }

  /** Asks until it is answered with yes; gives the id of the run, or nothing when it is too late for what was asked. */
  async #insist(
    path: string,
    body: { [field: string]: string },
    headers: { readonly [name: string]: string } = {},
  ): Promise<string | undefined> {
    while (!this.#isOver) {
      try {
        const response = await this.#stand.ask(path, { body, headers, signal: AbortSignal.timeout(ASK_MS) });
        const said = (await response.json()) as { id?: string; code?: string };
        if (response.ok) return said.id;
        this.refusals.push(response.status);
        // The run went on meanwhile, with this answer or another one.
        if (said.code === "CONFLICT" && path !== RUNS) return undefined;
      } catch {
        // The brain is gone or does not answer: the request may or may not have been taken.
        this.refusals.push(0);
      }
      await pause(AGAIN_MS);
    }
    return undefined;
  }
}
