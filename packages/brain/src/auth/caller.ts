/** The caller of a request, as its token names it. */
export interface Caller {
  /** Owner of everything the caller makes; things of other owners are NOT_FOUND for it. */
  readonly owner: string;
  readonly tokenId: string;
  readonly scopes: ReadonlySet<string>;
  /** Whether the token has the scope `admin` or `*`. */
  readonly admin: boolean;
}

/** Owner of everything that the person at this machine does. */
export const LOCAL_OWNER = "local";

/** A caller whose token was verified, and how long the token is valid. */
export interface VerifiedCaller extends Caller {
  readonly expiresAt: number | null;
  /** Aborted when the token is revoked, also by another process. */
  readonly revoked: AbortSignal;
}
