import type { Asker, Hand, HandCatalog, HandRow, ToolSpec } from "@vidro/core";
import { Fault } from "@vidro/core";
import type { HandCount } from "../../observe/metrics.ts";
import { findHand, selectHands } from "./hand-list.ts";
import type { HandRegister } from "./hand-register.ts";
import { LOCAL_HAND } from "../local.ts";

/** What there is to choose from. */
interface AllHandsWorld {
  /** The hands on other machines. */
  readonly far: HandRegister;
  /** The hand on this machine, for a workspace; rejects when it cannot be had. */
  readonly local: (workspace: string) => Promise<Hand>;
  /** Whether this machine is to have one at all. */
  readonly hasLocal: boolean;
  readonly workspace: string;
  readonly version: string;
  readonly now: () => number;
}

/** All hands of a brain, the one on its own machine included, as surfaces list and choose them. */
export class AllHands implements HandCatalog {
  readonly #world: AllHandsWorld;
  readonly #since: number;
  #local: Hand | undefined;

  constructor(world: AllHandsWorld) {
    this.#world = world;
    this.#since = world.now();
  }

  /** Finds out whether the hand on this machine can be had; a brain without it still answers. */
  async look(): Promise<void> {
    const { hasLocal, local, workspace } = this.#world;
    this.#local = hasLocal ? await local(workspace).catch(() => undefined) : undefined;
  }

  /** The hands that an asker may use: this machine's first, the others by name. */
  list(asker: Asker): readonly HandRow[] {
    return [...this.#own(), ...this.#world.far.list(asker)];
  }

  /** A hand by id or name; NOT_FOUND when the asker has none such, CONFLICT when the name is that of several. */
  find(named: string, asker: Asker): HandRow {
    return findHand(this.list(asker), named);
  }

  /** The hands that an asker means by a selector. */
  choose(selector: string, asker: Asker): readonly HandRow[] {
    return selectHands(this.list(asker), selector);
  }

  /** Their ids, as a run keeps them. */
  select(selector: string, asker: Asker): string {
    return this.choose(selector, asker)
      .map(({ id }) => id)
      .join(",");
  }

  /** The tools of the hands of these ids; those of this machine without them. */
  async tools(ids: string = LOCAL_HAND): Promise<readonly ToolSpec[]> {
    const { far, local, workspace } = this.#world;
    return (await far.at(ids, () => local(workspace))).tools;
  }

  /** The tools that an asker can choose from: those of this machine's hand, else all those of the hands elsewhere. */
  async catalog(asker: Asker): Promise<readonly ToolSpec[]> {
    if (this.#world.hasLocal) return this.tools();
    const usable = this.#world.far.list(asker).filter(({ barred }) => barred !== "revoked");
    return [...new Map(usable.flatMap(({ tools }) => tools.map((tool) => [tool.name, tool]))).values()];
  }

  /** Ends a hand on another machine for good. */
  async revoke(named: string, asker: Asker, why: string): Promise<HandRow> {
    return this.#change(named, asker, (id) => this.#world.far.revoke(id, why));
  }

  /** Gives a hand on another machine no new work. */
  async quarantine(named: string, asker: Asker, why: string): Promise<HandRow> {
    return this.#change(named, asker, (id) => this.#world.far.quarantine(id, why));
  }

  /** Lets a hand on another machine work again. */
  async release(named: string, asker: Asker): Promise<HandRow> {
    return this.#change(named, asker, (id) => this.#world.far.release(id));
  }

  /** How many are how. */
  count(): HandCount {
    const { ok, degraded, down } = this.#world.far.count();
    const own = this.#world.hasLocal ? 1 : 0;
    const here = this.#local === undefined ? 0 : 1;
    return { ok: ok + here, degraded, down: down + own - here };
  }

  /** `degraded` when this machine lacks the hand that it is to have, or when there are hands and none of them works. */
  get health(): "ok" | "degraded" {
    const { ok, degraded, down } = this.count();
    const lacksOwn = this.#world.hasLocal && this.#local === undefined;
    return lacksOwn || (ok === 0 && degraded + down > 0) ? "degraded" : "ok";
  }

  async #change(named: string, asker: Asker, change: (id: string) => Promise<void>): Promise<HandRow> {
    const { id } = this.find(named, asker);
    if (id === LOCAL_HAND)
      throw new Fault("BAD_REQUEST", "The hand of the brain's own machine is left out at the start: --no-local-hand.");
    await change(id);
    return this.find(id, asker);
  }

  #own(): readonly HandRow[] {
    const { hasLocal, workspace, version, now } = this.#world;
    if (!hasLocal) return [];
    return [
      {
        id: LOCAL_HAND,
        owner: LOCAL_HAND,
        name: LOCAL_HAND,
        gateway: "local",
        version,
        workspace: this.#local?.workspace ?? workspace,
        tools: this.#local?.tools ?? [],
        tags: [],
        state: this.#local === undefined ? "down" : "ok",
        lastSeenAt: this.#local === undefined ? this.#since : now(),
        createdAt: this.#since,
      },
    ];
  }
}
