import { HAND_LIMITS } from "@vidro/core";
import { Cell, type CellPlan } from "./cell.ts";

/*
 * Setting a sandbox up takes longer than most commands that run in it. So a cell for the next command of the same kind
 * is made ahead, and taken only if it is what a new one would be: made from the same words under the same mounts of the
 * host, with each part of its view in place at that moment. Every cell runs one command.
 */

/** A cell of a kind, and what it was made from. */
export interface CellRequest {
  /** The hand, the workspace and the confinement: one cell is kept for each. */
  readonly kind: string;
  readonly plan: CellPlan;
  /** The mounts of the host, and all else that the words do not say. */
  readonly surroundings: string;
}

/** A cell that waits for a command. */
interface WaitingCell {
  readonly key: string;
  readonly cell: Cell;
  readonly state: string;
  readonly idle: NodeJS.Timeout;
}

/** The cells of this process that wait for a command. */
export class WarmCells {
  readonly #waiting = new Map<string, WaitingCell>();
  /** Timers of cells that are made soon, with the folder of their hand. */
  readonly #later = new Map<NodeJS.Timeout, string>();

  /** A cell for a command: the one that waits if it is fit, else a new one. Throws when no process can be started. */
  async take(request: CellRequest): Promise<Cell> {
    const kept = this.#remove(request.kind);
    kept?.cell.retain();
    const isFit = kept?.key === keyOf(request) && (await kept.cell.isFit(request.plan));
    if (!isFit) kept?.cell.end();
    const cell = isFit ? kept.cell : Cell.open(request.plan);
    cell.whenEnded(() => this.#warmLater(request));
    return cell;
  }

  /** Whether a cell of a kind waits. */
  has(kind: string): boolean {
    return this.#waiting.has(kind);
  }

  /** Makes a cell for the next command of the kind, unless one waits. */
  warm(request: CellRequest): void {
    const { kind, plan } = request;
    if (this.has(kind)) return;
    const [oldest] = this.#waiting.keys();
    if (oldest !== undefined && this.#waiting.size >= HAND_LIMITS.warmCells) this.#remove(oldest)?.cell.end();
    try {
      const cell = Cell.open(plan);
      cell.prepare();
      cell.release();
      const idle = setTimeout(() => this.#remove(kind)?.cell.end(), HAND_LIMITS.cellIdleMs).unref();
      this.#waiting.set(kind, { key: keyOf(request), cell, state: plan.state, idle });
    } catch {
      // No process can be started at present; the next command tries to start its own.
    }
  }

  /** Ends the waiting cells of a hand. */
  endAll(state: string): void {
    for (const [timer, owner] of this.#later) if (owner === state) this.#forget(timer);
    for (const [kind, waiting] of this.#waiting) if (waiting.state === state) this.#remove(kind)?.cell.end();
  }

  /** Leaves time to report the end of a command first: starting a process blocks this one. */
  #warmLater(request: CellRequest): void {
    const timer = setTimeout(() => {
      this.#forget(timer);
      this.warm(request);
    }, HAND_LIMITS.cellDelayMs).unref();
    this.#later.set(timer, request.plan.state);
  }

  #forget(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#later.delete(timer);
  }

  #remove(kind: string): WaitingCell | undefined {
    const kept = this.#waiting.get(kind);
    clearTimeout(kept?.idle);
    this.#waiting.delete(kind);
    return kept;
  }
}

function keyOf({ plan, surroundings }: CellRequest): string {
  const data = plan.data.map(({ id, seconds }) => [id, seconds]);
  return JSON.stringify([plan.words, plan.env, surroundings, data]);
}
