import { PAGE_LIMITS, RUN_LIMITS } from "@vidro/core";
import { findUnreviewed } from "./auth/revocation-review.ts";
import type { Brain } from "./brain.ts";
import type { Log } from "./observe/log.ts";

/**
 * A store restored from a backup lacks what happened after it. So a person is asked about each run that was open, and
 * the log names at each start the hands and tokens that may have been revoked later, until they are reviewed.
 */
export async function tellRestored(
  { incarnation: { restored, generation }, runs, records }: Brain,
  log: Log,
): Promise<void> {
  if (restored !== undefined) {
    const held = await runs.list({ open: true, limit: RUN_LIMITS.recovered });
    log("store.restored", {
      reason: restored,
      generation,
      runs: held.length,
    });
  }
  const unseen = await findUnreviewed(generation, (kind) => records.list(kind, { limit: PAGE_LIMITS.items }));
  if (unseen === undefined) return;
  log("store.unreviewed", {
    hands: unseen.hands.join(", "),
    tokens: unseen.tokens,
    next: "vidro hands revoke, vidro tokens revoke; then vidro hands reviewed",
  });
}
