import { asFault, HEALTH_LIMITS } from "@vidro/core";
import { byteWords, countWords } from "@vidro/core/text";
import type { Bus, Fault, Records } from "@vidro/core";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { LOCAL_OWNER } from "../auth/caller.ts";
import type { OpenRuns, StoreCondition } from "../stores/store.ts";
import { isTransient } from "../stores/transient-faults.ts";
import { diskRoom, openDescriptors } from "./vitals.ts";
import type { Descriptors, DiskRoom } from "./vitals.ts";

/** State of a part that the brain needs: `ok`, `degraded` when the brain goes on without it, `down` when it cannot. */
export type Health = "ok" | "degraded" | "down";

/** Dependencies of the health watch. */
interface HealthDependencies {
  /** The folder of all state. */
  readonly home: string;
  readonly condition: StoreCondition;
  readonly records: Pick<Records, "put">;
  readonly metrics: Metrics;
  readonly log: Log;
  /** The way to other brains, if one is set. */
  readonly bus?: Pick<Bus, "condition">;
  /** Open runs are held on purpose, so an undriven one is no finding. */
  readonly holdsRuns: boolean;
}

/** Health of one part, and the reason when it is not ok. */
interface Finding {
  readonly health: Health;
  readonly why: string;
}

const OK: Finding = { health: "ok", why: "" };
const WITHOUT_BUS =
  "Until it is back, hands and live output stay with the brain that they are connected to; entries reach the others through PostgreSQL.";
const LOG_NAMES = { ok: "health.restored", degraded: "health.degraded", down: "health.lost" } as const;

/**
 * Watches the health of a daemon: it checks disk, descriptors, store and open runs at intervals, is told of each write
 * to the store, and logs each change.
 */
export class HealthWatch {
  readonly #deps: HealthDependencies;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #writeFault: Fault | undefined;
  #refused = 0;
  #findings: { readonly [thing: string]: Finding } = {};

  constructor(deps: HealthDependencies) {
    this.#deps = deps;
  }

  /** Checks now, and at intervals until it is closed. */
  async start(): Promise<this> {
    await this.look();
    this.#timer = setInterval(() => void this.look(), HEALTH_LIMITS.lookMs).unref();
    return this;
  }

  /**
   * Told of the end of each write to the store: a failure of the disk marks the store as down, the next success clears
   * it.
   */
  wrote(thrown?: unknown): void {
    if (thrown === undefined) {
      this.#writeFault = undefined;
      return;
    }
    const fault = asFault(thrown);
    if (!isTransient(fault) && fault.code !== "STORE_UNREADABLE") return;
    this.#deps.metrics.storeFailures.inc();
    this.#writeFault = fault;
  }

  /** Checks everything now; never rejects. */
  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  /** Health of each part at the last check. */
  checks(): { readonly [thing: string]: Health } {
    return Object.fromEntries(Object.entries(this.#findings).map(([thing, { health }]) => [thing, health]));
  }

  /** Reasons of the parts that are not ok. */
  details(): { readonly [thing: string]: string } {
    const found = Object.entries(this.#findings).filter(([, { why }]) => why !== "");
    return Object.fromEntries(found.map(([thing, { why }]) => [thing, why]));
  }

  /** Stops checking. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { home, metrics } = this.#deps;
    const room = await diskRoom(home);
    const descriptors = openDescriptors();
    if (this.#writeFault !== undefined) await this.#tryToWrite();
    metrics.storeWritable.set(this.#writeFault === undefined ? 1 : 0);
    const runs = await this.#deps.condition.openRuns().catch(asFault);
    metrics.setVitals({ room, descriptors, runs, damaged: this.#deps.condition.damaged().length });
    this.#take({
      store: this.#storeFinding(runs),
      disk: diskFinding(room),
      descriptors: this.#descriptorFinding(descriptors),
      runs: this.#runsFinding(runs),
      ...this.#busFinding(),
    });
  }

  /** Without the bus a brain goes on by itself. */
  #busFinding(): { readonly bus?: Finding } {
    const condition = this.#deps.bus?.condition();
    if (condition === undefined) return {};
    this.#deps.metrics.setBus(condition);
    if (condition.isUp) return { bus: OK };
    return { bus: { health: "degraded", why: `${condition.why}. ${WITHOUT_BUS}` } };
  }

  /**
   * Tries a write: where a load balancer keeps requests away from a brain that is down, no other write would clear the
   * mark.
   */
  async #tryToWrite(): Promise<void> {
    const record = { kind: "health", id: "write", owner: LOCAL_OWNER, body: {} };
    await this.#deps.records.put(record).then(
      () => this.wrote(),
      (thrown: unknown) => void (this.#writeFault = asFault(thrown)),
    );
  }

  #storeFinding(runs: OpenRuns | Fault): Finding {
    if (this.#writeFault !== undefined) return { health: "down", why: this.#writeFault.message };
    if (runs instanceof Error) return { health: "down", why: runs.message };
    const damaged = this.#deps.condition.damaged().length;
    if (damaged === 0) return OK;
    return { health: "degraded", why: `${countWords(damaged, "run")} cannot be read. See which: vidro audit verify` };
  }

  #descriptorFinding(descriptors: Descriptors | undefined): Finding {
    const { refused } = this.#deps.metrics;
    const isNew = refused > this.#refused;
    this.#refused = refused;
    if (descriptors === "exhausted" || isNew) {
      this.#deps.metrics.descriptorsExhausted.inc();
      return {
        health: "down",
        why: "No descriptor is left: raise the limit (ulimit -n), or see what holds them open.",
      };
    }
    if (descriptors === undefined || descriptors.open < descriptors.limit * HEALTH_LIMITS.descriptorShare) return OK;
    return { health: "degraded", why: `${descriptors.open} of ${descriptors.limit} descriptors are open` };
  }

  #runsFinding(runs: OpenRuns | Fault): Finding {
    if (runs instanceof Error || runs.undriven === 0 || this.#deps.holdsRuns) return OK;
    return { health: "degraded", why: `${countWords(runs.undriven, "open run")} without a driver` };
  }

  #take(findings: { readonly [thing: string]: Finding }): void {
    for (const [thing, { health, why }] of Object.entries(findings)) {
      const before = this.#findings[thing]?.health ?? "ok";
      if (before !== health) this.#deps.log(LOG_NAMES[health], { thing, health, before, why });
    }
    this.#findings = findings;
  }
}

function diskFinding(room: DiskRoom | undefined): Finding {
  if (room === undefined || room.freeBytes >= HEALTH_LIMITS.lowBytes) return OK;
  const health = room.freeBytes < HEALTH_LIMITS.fullBytes ? "down" : "degraded";
  return { health, why: `${byteWords(room.freeBytes)} free for the state. Free some disk: df -h` };
}
