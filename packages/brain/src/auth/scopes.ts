import { Fault, TOKEN_LIMITS } from "@vidro/core";

/** The actions of the TCP protocol that only look; running a program (`oscmd`) is given by its name. */
const LOOKING = ["getosinfo", "ps", "watch", "getwatches"] as const;

/** Roles choose the scopes of a new token and mean nothing afterwards [002-24]. */
export const ROLES = { user: ["runs", ...LOOKING], admin: ["*"] } as const satisfies Record<string, readonly string[]>;

/** What a token may be made as. */
export type Role = keyof typeof ROLES;

/** The scope that grants everything. */
const EVERYTHING = "*";

const SCOPE = /^[a-z][a-z0-9]*(?:[:._-][a-z0-9]+)*$/;

/** Scopes as they are kept: checked, each once. Surfaces name their own, so any well-formed one may be given. */
export function checkScopes(scopes: readonly string[]): readonly string[] {
  const different = [...new Set(scopes)];
  if (different.length === 0) throw new Fault("BAD_REQUEST", "A token needs a scope, or it can do nothing.");
  if (different.length > TOKEN_LIMITS.scopes)
    throw new Fault(
      "BAD_REQUEST",
      `A token has at most ${TOKEN_LIMITS.scopes} scopes; ${EVERYTHING} grants everything.`,
    );
  for (const scope of different) {
    if (scope === EVERYTHING || (scope.length <= TOKEN_LIMITS.scopeChars && SCOPE.test(scope))) continue;
    throw new Fault("BAD_REQUEST", `${JSON.stringify(scope)} is no scope; scopes look like runs, agents:write or *.`);
  }
  return different;
}

/** Whether the scopes grant that one. */
export function grants(scopes: ReadonlySet<string>, scope: string): boolean {
  return scopes.has(scope) || scopes.has(EVERYTHING);
}

/** Whether the scopes make an administrator. */
export function isAdmin(scopes: ReadonlySet<string>): boolean {
  return grants(scopes, "admin");
}
