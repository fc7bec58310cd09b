import { TERMINAL_LIMITS } from "@vidro/core";
import type { BrainRuns, Obstacle } from "../brain-api/brain-api.ts";
import type { Screen } from "./screen.ts";

/** Says what a watched run waits for, a brain that does not answer or a hand that is down, and when that is over. */
export class Vigil {
  readonly #runs: BrainRuns;
  readonly #screen: Screen;
  readonly #hands: () => string;
  readonly #timer: NodeJS.Timeout;
  /** What was said last, which still holds. */
  #obstacle: Obstacle | undefined;
  #isBusy = false;
  #hasEnded = false;

  constructor({ runs, screen }: { readonly runs: BrainRuns; readonly screen: Screen }, hands: () => string) {
    this.#runs = runs;
    this.#screen = screen;
    this.#hands = hands;
    this.#timer = setInterval(() => void this.#look(), TERMINAL_LIMITS.vigilMs).unref();
  }

  end(): void {
    this.#hasEnded = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const found = await this.#runs.obstacle(this.#hands()).catch(() => this.#obstacle);
    this.#isBusy = false;
    if (this.#hasEnded || found?.who === this.#obstacle?.who) return;
    if (found === undefined) this.#screen.notice(`${this.#obstacle?.who ?? ""} is back`);
    else this.#screen.notice(`${found.who} ${found.what} since ${clockWords(found.since ?? Date.now())}, waiting`);
    this.#obstacle = found;
  }
}

/** The time of day of a moment. */
function clockWords(at: number): string {
  const moment = new Date(at);
  return [moment.getHours(), moment.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}
