import { Fault, TOKEN_LIMITS } from "@vidro/core";

/** Actions of the TCP protocol that only read; running a program (`oscmd`) needs its own scope. */
const LOOKING = ["getosinfo", "ps", "watch", "getwatches"] as const;

/** Scopes that each role gives to a new token; a role means nothing afterwards [002-24]. */
export const ROLES = { user: ["runs", ...LOOKING], admin: ["*"] } as const satisfies Record<string, readonly string[]>;

/** A role that a token may be made with. */
export type Role = keyof typeof ROLES;

/** The scope that grants everything. */
const EVERYTHING = "*";

const SCOPE = /^[a-z][a-z0-9]*(?:[:._-][a-z0-9]+)*$/;

/** Checks scopes and drops repetitions. Surfaces name their own scopes, so any well-formed one is accepted. */
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

/** Whether a set of scopes grants a scope. */
export function grants(scopes: ReadonlySet<string>, scope: string): boolean {
  return scopes.has(scope) || scopes.has(EVERYTHING);
}

/** Whether the scopes make an administrator. */
export function isAdmin(scopes: ReadonlySet<string>): boolean {
  return grants(scopes, "admin");
}
