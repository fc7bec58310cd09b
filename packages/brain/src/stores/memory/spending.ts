import { addSpending, NO_SPENDING } from "@vidro/core";
import type { Entry, NewRun, UsageTotal, SpendingRow, SpendingSums } from "@vidro/core";
import { spendingByDay } from "../spending-rules.ts";

type SpendingFilter = Parameters<SpendingSums["list"]>[1];

/** Sums that end with their process. */
export class MemorySpending implements SpendingSums {
  readonly #sums = { day: new Map<string, SpendingRow>(), thread: new Map<string, SpendingRow>() };

  /** Counts entries of a run. */
  count({ owner, thread }: NewRun, entries: readonly Entry[]): void {
    for (const { day, at, ...spent } of spendingByDay(entries)) {
      this.#add("day", { ...spent, key: day, owner, updatedAt: at });
      this.#add("thread", { ...spent, key: thread, owner, updatedAt: at });
    }
  }

  async sum(by: "day" | "thread", key: string): Promise<UsageTotal> {
    let sum = NO_SPENDING;
    for (const row of this.#sums[by].values()) if (row.key === key) sum = addSpending(sum, row);
    return sum;
  }

  async list(by: "day" | "thread", { owner, since, limit }: SpendingFilter): Promise<readonly SpendingRow[]> {
    return [...this.#sums[by].values()]
      .filter((row) => row.updatedAt >= since && (owner === undefined || row.owner === owner))
      .toSorted((one, other) => other.updatedAt - one.updatedAt || (one.key < other.key ? 1 : -1))
      .slice(0, limit);
  }

  #add(by: "day" | "thread", row: SpendingRow): void {
    const id = JSON.stringify([row.key, row.owner]);
    const known = this.#sums[by].get(id);
    const updatedAt = Math.max(row.updatedAt, known?.updatedAt ?? 0);
    this.#sums[by].set(id, known === undefined ? row : { ...row, ...addSpending(known, row), updatedAt });
  }
}
