import { asFault, STORE_LIMITS } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/** How calls are gathered. */
interface BatchOptions<Call, Result> {
  /** Answers calls with one statement; the answers have the order of the calls. */
  readonly work: (calls: readonly Call[]) => Promise<readonly (Result | Promise<Result>)[]>;
  /** Statements under way at once; calls gather while there are as many. */
  readonly atOnce: number;
}

interface BatchedCall<Call, Result> {
  readonly call: Call;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Faults of the store as a whole: each call by itself would meet them again. */
const OF_STORE: ReadonlySet<FaultCode> = new Set(["STORE_UNREACHABLE", "COMMIT_UNKNOWN", "STORAGE_FULL"]);

/**
 * Calls of one turn of the event loop share one statement, which is one round trip and one commit. A statement that is
 * refused is repeated for each of its calls, so that one of them cannot make the others fail.
 */
export class Batches<Call, Result> {
  readonly #options: BatchOptions<Call, Result>;
  #waiting: BatchedCall<Call, Result>[] = [];
  #isPlanned = false;
  #underWay = 0;
  /** Resolved when nothing waits and nothing is under way. */
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(options: BatchOptions<Call, Result>) {
    this.#options = options;
  }

  /** Answers a call together with others. */
  ask(call: Call): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ call, resolve, reject });
    this.#plan();
    return promise;
  }

  /** Resolves when all calls are answered. */
  async settle(): Promise<void> {
    if (this.#waiting.length === 0 && this.#underWay === 0) return;
    this.#ended ??= Promise.withResolvers<void>();
    await this.#ended.promise;
  }

  #plan(): void {
    if (this.#waiting.length === 0 && this.#underWay === 0) this.#ended?.resolve();
    if (this.#isPlanned || this.#waiting.length === 0 || this.#underWay >= this.#options.atOnce) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#underWay += 1;
      void this.#answer(this.#waiting.splice(0, STORE_LIMITS.batch)).finally(() => {
        this.#underWay -= 1;
        this.#plan();
      });
      this.#plan();
    });
  }

  /** Answers calls; never rejects. */
  async #answer(waiting: readonly BatchedCall<Call, Result>[]): Promise<void> {
    try {
      const results = await this.#options.work(waiting.map(({ call }) => call));
      for (const [index, { resolve }] of waiting.entries()) {
        // oxlint-disable-next-line typescript/no-non-null-assertion -- there is an answer for each call
        resolve(results[index]!);
      }
    } catch (thrown) {
      const isOfAll = waiting.length === 1 || OF_STORE.has(asFault(thrown).code);
      for (const one of waiting) {
        if (isOfAll) one.reject(thrown);
        else await this.#answer([one]);
      }
    }
  }
}
