import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Peer } from "../support/peer-process.ts";
import type { LaunchedPeer, PeerStart } from "../support/peer-process.ts";

const RESTART_MS = 200;
const LOOK_MS = 25;
const PATIENCE_MS = 30_000;
const SAID_CHARS = 6000;
const LAST_WORDS = 1500;

/** A process that is started again whenever it ends, as a supervisor does, unless it is to be dead for a while. */
export class SupervisedProcess {
  readonly name: string;
  /** The last output of each life that ended without a signal from this test. */
  readonly deaths: string[] = [];
  readonly #start: () => PeerStart;
  #wanted: "up" | "dead" | "over" = "dead";
  #launched: LaunchedPeer | undefined;
  #lives: Promise<void> | undefined;
  #said = "";

  constructor(name: string, start: () => PeerStart) {
    this.name = name;
    this.#start = start;
  }

  /** Starts it, unless it is up; resolves when it says that it is ready, and rejects when that takes too long. */
  async up(): Promise<Peer> {
    const endsAt = performance.now() + PATIENCE_MS * 2;
    if (this.#wanted === "over") throw new Error(`${this.name} is over.`);
    this.#wanted = "up";
    this.#lives ??= this.#live();
    for (;;) {
      const peer = await this.#launched?.ready.catch(() => undefined);
      if (peer?.isAlive === true) return peer;
      if (performance.now() > endsAt) throw new Error(`${this.name} does not get ready: ${this.#said}`);
      await pause(LOOK_MS);
    }
  }

  /** Ends it without a word, and starts it again after a while. */
  async kill(deadMs: number): Promise<void> {
    this.#wanted = "dead";
    this.#launched?.child.kill("SIGKILL");
    await pause(deadMs);
    if (!this.#isOver) this.#wanted = "up";
  }

  /** Stops it for a while, and lets it go on. */
  async freeze(ms: number): Promise<void> {
    const child = this.#launched?.child;
    child?.kill("SIGSTOP");
    await pause(ms);
    child?.kill("SIGCONT");
  }

  /** Ends it at once and for good, when this process has no time for more. */
  drop(): void {
    this.#wanted = "over";
    this.#launched?.child.kill("SIGKILL");
  }

  /** Asks it to end, for good; gives its exit code, null when it had to be killed. */
  async end(): Promise<number | null> {
    this.#wanted = "over";
    const child = this.#launched?.child;
    child?.kill("SIGTERM");
    const impatience = setTimeout(() => child?.kill("SIGKILL"), PATIENCE_MS);
    await this.#lives;
    clearTimeout(impatience);
    return child?.exitCode ?? null;
  }

  get #isOver(): boolean {
    return this.#wanted === "over";
  }

  async #live(): Promise<void> {
    while (!this.#isOver) {
      if (this.#wanted === "up") await this.#once();
      await pause(this.#wanted === "up" ? RESTART_MS : LOOK_MS);
    }
  }

  /** One life. One that ends before it was ready is no news: what it needs may not be there yet. */
  async #once(): Promise<void> {
    const hear = (words: string): void => void (this.#said = (this.#said + words).slice(-SAID_CHARS));
    const { child, ready } = (this.#launched = Peer.launch(this.#start(), hear));
    const wasReady = ready.then(
      () => true,
      () => false,
    );
    await once(child, "exit");
    if (this.#wanted === "up" && child.signalCode !== "SIGKILL" && (await wasReady))
      this.deaths.push(`${child.exitCode ?? child.signalCode}: ${this.#said.slice(-LAST_WORDS)}`);
  }
}
