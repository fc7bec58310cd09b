import type { RunLoop } from "./engine.ts";

/** Why a run ends whose token was revoked. */
export const REVOKED_REASON = "The token that this run was asked for with was revoked.";

/**
 * Aborts a run before its loop begins if its token was revoked between the check of the request and the first commit of
 * the run. A revocation after that commit finds the run by itself. A token that cannot be looked up aborts it, too.
 */
export async function abortIfRevoked(
  loop: Pick<RunLoop, "abort">,
  token: string | undefined,
  isRevoked: ((token: string) => Promise<boolean>) | undefined,
): Promise<void> {
  if (token === undefined || isRevoked === undefined) return;
  try {
    if (await isRevoked(token)) loop.abort(REVOKED_REASON);
  } catch {
    loop.abort("The store did not tell whether the token that this run was asked for with is revoked; start it again.");
  }
}
