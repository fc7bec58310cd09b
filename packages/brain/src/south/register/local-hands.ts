import { asFault, Fault, RUN_LIMITS } from "@vidro/core";
import type {
  Action,
  FaultReport,
  Hand,
  HandEvent,
  HandRow,
  Judgement,
  Order,
  SpoolPart,
  Surroundings,
  ToolSpec,
} from "@vidro/core";
import { LOCAL_HAND } from "../local.ts";
import type { RegisteredHand } from "./registered-hand.ts";

/** A hand that is open or being opened, and the number of calls that use it. */
interface OpenHand {
  readonly opening: Promise<Hand>;
  /** The hand, once it is open. */
  hand?: Hand;
  uses: number;
}

/** Runs a function with the open hand of a workspace. */
type Use = <Result>(work: (hand: Hand) => Promise<Result>) => Promise<Result>;

/** How the hand of this machine appears in lists. */
interface LocalListing {
  /** The workspace whose hand lists show. */
  readonly workspace: string;
  readonly version: string;
  readonly since: number;
}

/**
 * The hand of the brain's own machine, open once for each workspace. As many as the bound are kept open; beyond it the
 * one that was not used for the longest time is closed, never one that is at work, and is opened again when it is needed.
 */
export class LocalHands implements RegisteredHand {
  readonly #openAt: (workspace: string) => Promise<Hand>;
  /** By workspace, least recently used first. */
  readonly #kept = new Map<string, OpenHand>();
  readonly #closing = new Set<Promise<void>>();
  #listing: LocalListing | undefined;
  /** The hand of the workspace that lists show; undefined when it could not be opened. */
  #shown: Hand | undefined;

  constructor(open: (workspace: string) => Promise<Hand>) {
    this.#openAt = open;
  }

  /** Lists the hand from now on, as that of a workspace. */
  async show({ workspace, version }: Omit<LocalListing, "since">): Promise<void> {
    this.#listing = { workspace, version, since: Date.now() };
    await this.check();
  }

  /** Finds out whether the listed hand can be opened. */
  async check(): Promise<void> {
    const { workspace } = this.#listing ?? {};
    if (workspace !== undefined) this.#shown = await this.open(workspace).catch(() => undefined);
  }

  row(): HandRow | undefined {
    if (this.#listing === undefined) return undefined;
    const { workspace, version, since } = this.#listing;
    const { workspace: folder = workspace, tools = [] } = this.#shown ?? {};
    return {
      id: LOCAL_HAND,
      owner: LOCAL_HAND,
      name: LOCAL_HAND,
      gateway: "local",
      version,
      workspace: folder,
      tools,
      tags: [],
      state: this.#shown === undefined ? "down" : "ok",
      lastSeenAt: this.#shown === undefined ? since : Date.now(),
      createdAt: since,
    };
  }

  /** Runs of every owner may use it. */
  isFor(): boolean {
    return true;
  }

  /** The hand for a workspace, which was opened once: it may be kept as long as a run needs it. */
  async open(workspace = this.#listing?.workspace ?? "."): Promise<Hand> {
    const use: Use = async (work) => {
      const kept = this.#take(workspace);
      try {
        return await work(await kept.opening);
      } finally {
        kept.uses -= 1;
        this.#closeIdle();
      }
    };
    return use(async (hand) => new LentHand(hand, use));
  }

  /** Ends every process of the hands, then returns. */
  async close(): Promise<void> {
    for (const [workspace, kept] of this.#kept) this.#close(workspace, kept);
    await Promise.all(this.#closing);
  }

  #take(workspace: string): OpenHand {
    const kept: OpenHand = this.#kept.get(workspace) ?? { opening: this.#openAt(workspace), uses: 0 };
    kept.uses += 1;
    this.#kept.delete(workspace);
    this.#kept.set(workspace, kept);
    void kept.opening.then((hand) => (kept.hand = hand)).catch(() => undefined);
    // A hand that failed to open is opened again at the next use, since folders come back.
    kept.opening.catch(() => this.#kept.get(workspace) === kept && this.#kept.delete(workspace));
    return kept;
  }

  #closeIdle(): void {
    for (const [workspace, kept] of this.#kept) {
      if (this.#kept.size <= RUN_LIMITS.openHands) return;
      if (kept.uses === 0 && kept.hand?.isKeeping?.() !== true) this.#close(workspace, kept);
    }
  }

  #close(workspace: string, { opening }: OpenHand): void {
    this.#kept.delete(workspace);
    const closing = opening
      .then((hand) => hand.close())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** The hand of a run: uses the open hand for each call, which is opened again if it was closed meanwhile. */
class LentHand implements Hand {
  readonly id: string;
  readonly workspace: string;
  readonly tools: readonly ToolSpec[];
  readonly #use: Use;

  constructor({ id, workspace, tools }: Hand, use: Use) {
    this.id = id;
    this.workspace = workspace;
    this.tools = tools;
    this.#use = use;
  }

  surroundings(): Promise<Surroundings> {
    return this.#use(async (hand) => (await hand.surroundings?.()) ?? {}).catch(() => ({}));
  }

  readSpool(action: Action, from: number): Promise<SpoolPart | FaultReport> {
    return this.#use(async (hand) => (await hand.readSpool?.(action, from)) ?? new Fault("NOT_FOUND").report()).catch(
      unavailable,
    );
  }

  judge(action: Action): Promise<Judgement | FaultReport> {
    return this.#use((hand) => hand.judge(action)).catch(unavailable);
  }

  allowAlways(action: Action, approved: string): Promise<string | FaultReport> {
    return this.#use(
      async (hand) => (await hand.allowAlways?.(action, approved)) ?? new Fault("POLICY_DENIED").report(),
    ).catch(unavailable);
  }

  async *perform(order: Order, signal: AbortSignal): AsyncGenerator<HandEvent, void, undefined> {
    const over = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<Hand>();
    const used = this.#use(async (hand) => {
      taken.resolve(hand);
      await over.promise;
    });
    used.catch((thrown: unknown) => taken.reject(thrown));
    try {
      const hand = await taken.promise.catch(unavailable);
      if ("code" in hand) yield { type: "failed", fault: hand };
      else yield* hand.perform(order, signal);
    } finally {
      over.resolve();
    }
  }

  acknowledge(action: string, by?: string): Promise<void> {
    return this.#use((hand) => hand.acknowledge(action, by));
  }

  /** The open hand is shared by all runs of its workspace: LocalHands closes it. */
  async close(): Promise<void> {}
}

/** HAND_UNAVAILABLE and no failure of the action: an earlier order may have been carried out. */
function unavailable(thrown: unknown): FaultReport {
  return { code: "HAND_UNAVAILABLE", message: `The hand cannot be opened: ${asFault(thrown).message}` };
}
