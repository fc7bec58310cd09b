import type { Heuristic } from "./heuristic.ts";

/** How to get a new token. */
export interface TokenSource {
  /** The token in use, so that it can be hidden. */
  readonly current: () => string | undefined;
  /** Gets a new token from its issuer and stores it for later requests. */
  readonly refresh: (old: string | undefined, signal: AbortSignal) => Promise<string>;
  /** Name of the issuer, for the event. */
  readonly provider?: string;
}

const EXPIRED = /^(?:TOKEN_EXPIRED|JWT_EXPIRED|ERR_JWT_EXPIRED|UNAUTHORIZED)$/;

/** Gets a new token when the old one is refused; concurrent requests share one refresh. */
export function refreshToken({ current, refresh, provider }: TokenSource): Heuristic {
  let pending: Promise<string> | undefined;
  return {
    action: "refresh_token",
    severity: "high",
    description: "The token is refused: getting a new one.",
    attempts: 1,
    issue: "token_refused",
    fits: ({ status, code, name }) => status === 401 || EXPIRED.test(code) || name === "TokenExpiredError",
    secrets: () => [current()].filter((token) => token !== undefined),
    async mend({ hide, signal }) {
      pending ??= refresh(current(), signal).finally(() => (pending = undefined));
      const token = await pending;
      hide(token);
      return { token, ...(provider === undefined ? {} : { metadata: { provider } }) };
    },
  };
}
