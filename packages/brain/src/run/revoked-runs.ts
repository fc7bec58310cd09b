import type { Entry } from "@vidro/core";
import { asFault, Fault, PAGE_LIMITS, RUN_LIMITS, TOKEN_LIMITS } from "@vidro/core";
import { REVOKED_REASON } from "./revoked-token.ts";
import type { Log } from "../observe/log.ts";
import type { Runs } from "./runs.ts";
import { isTransient } from "../stores/transient-faults.ts";
import type { TokenRow, Tokens } from "../auth/tokens.ts";

/** Dependencies of RevokedRuns. */
interface RevokedRunsDependencies {
  readonly tokens: Pick<Tokens, "list" | "watch">;
  readonly runs: Pick<Runs, "list" | "read" | "abort">;
  readonly log: Log;
}

/** Aborts the open runs that a token started once the token is revoked, also by another process. */
export class RevokedRuns {
  readonly #deps: RevokedRunsDependencies;
  /** Revoked tokens without open runs. */
  readonly #done = new Set<string>();
  #looking: Promise<void> | undefined;
  #again = false;
  #isClosed = false;
  #recheck: NodeJS.Timeout | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(deps: RevokedRunsDependencies) {
    this.#deps = deps;
  }

  /** Resolves when the runs of tokens revoked so far are aborted, and watches for later revocations. */
  async start(): Promise<void> {
    this.#stopWatching = this.#deps.tokens.watch(() => void this.#look());
    await this.#look();
  }

  /** Stops watching. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopWatching?.();
    clearTimeout(this.#recheck);
    await this.#looking;
  }

  #look(): Promise<void> {
    this.#again = true;
    return (this.#looking ??= this.#lookUntilQuiet());
  }

  async #lookUntilQuiet(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const revoked = await this.#listRevoked().catch((thrown: unknown) => this.#lookLater(thrown));
      // A run that cannot be aborted now keeps those of other tokens from nothing.
      for (const token of revoked ?? []) await this.#end(token).catch((thrown: unknown) => this.#lookLater(thrown));
    }
    // In the same turn as the last look at it: a revocation in between would not be seen.
    this.#looking = undefined;
  }

  #lookLater(thrown: unknown): void {
    const { code, message } = asFault(thrown);
    this.#deps.log("runs.revoke_failed", { code, reason: message });
    clearTimeout(this.#recheck);
    if (this.#isClosed) return;
    this.#recheck = setTimeout(() => void this.#look(), TOKEN_LIMITS.recheckMs).unref();
  }

  /** Revoked tokens that may have open runs. */
  async #listRevoked(): Promise<readonly TokenRow[]> {
    const found: TokenRow[] = [];
    let after: string | undefined;
    for (;;) {
      const rows = await this.#deps.tokens.list({
        limit: PAGE_LIMITS.items,
        ...(after === undefined ? {} : { after }),
      });
      found.push(...rows.filter(({ revoked, tokenId }) => revoked && !this.#done.has(tokenId)));
      after = rows.at(-1)?.tokenId;
      if (rows.length < PAGE_LIMITS.items) return found;
    }
  }

  async #end({ tokenId, owner }: TokenRow): Promise<void> {
    const { runs, log } = this.#deps;
    for (const { id } of await runs.list({ open: true, owner, limit: RUN_LIMITS.recovered })) {
      const [first] = await runs.read(id, 0, 1).catch(noneUnlessTransient);
      if (first?.event.type !== "run.started" || first.event.startedWith !== tokenId) continue;
      await runs.abort(id, REVOKED_REASON).catch(unlessOver);
      log("run.revoked", { run_id: id, token_id: tokenId });
    }
    this.#done.add(tokenId);
  }
}

/** No entries of a run that is damaged; a store that fails now is read again. */
function noneUnlessTransient(thrown: unknown): readonly Entry[] {
  if (isTransient(thrown)) throw thrown;
  return [];
}

/** Ignores CONFLICT: the run ended by itself in the meantime. */
function unlessOver(thrown: unknown): void {
  if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
}
