/** Who is calling, as their token says. */
export interface Caller {
  /** Everything that the caller makes belongs to this name; what belongs to another is not there. */
  readonly owner: string;
  readonly tokenId: string;
  readonly scopes: ReadonlySet<string>;
  /** Whether the token has the scope `admin` or `*`. */
  readonly admin: boolean;
}

/** The owner of what is done by the person at this machine. */
export const LOCAL_OWNER = "local";

/** Whose token it is, for as long as it is good. */
export interface VerifiedCaller extends Caller {
  readonly expiresAt: number | null;
  /** Aborted when the token is revoked, also by another process. */
  readonly revoked: AbortSignal;
}
