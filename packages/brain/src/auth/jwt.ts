import { Fault, RECORD_LIMITS, TOKEN_LIMITS } from "@vidro/core";
import { errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { LOCAL_OWNER } from "./caller.ts";
import { loadVerificationKeys } from "./jwks.ts";
import type { KeyOptions } from "./jwks.ts";
import { checkScopes, isAdmin, ROLES } from "./scopes.ts";
import type { VerifiedCaller } from "./caller.ts";

/** Which signed tokens are accepted, and what they grant. */
interface JwtOptions extends KeyOptions {
  readonly issuer?: string;
  readonly audience?: string;
  /** The claim that names a person's roles; `roles` when it is left out. */
  readonly rolesClaim?: string;
  /** The scopes of each role; a role that is not here grants nothing. */
  readonly roles?: { readonly [role: string]: readonly string[] };
  readonly now?: () => number;
}

/** Verifies a signed token; throws INVALID_TOKEN, TOKEN_EXPIRED or KEYS_UNAVAILABLE. */
export type JwtVerifier = (token: string) => Promise<VerifiedCaller>;

/** A verifier of JSON Web Tokens: `sub` is the owner, roles map to scopes. */
export function jwtVerifier(options: JwtOptions): JwtVerifier {
  const { issuer, audience, now = Date.now, rolesClaim = "roles" } = options;
  const { algorithm, find } = loadVerificationKeys(options);
  const roles = new Map(Object.entries(options.roles ?? ROLES));
  for (const scopes of roles.values()) checkScopes(scopes);
  return async (token) => {
    const { payload } = await jwtVerify(token, find, {
      algorithms: [algorithm],
      requiredClaims: ["sub", "exp"],
      currentDate: new Date(now()),
      clockTolerance: TOKEN_LIMITS.skewMs / 1000,
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    }).catch((thrown: unknown) => {
      throw refusal(thrown);
    });
    const scopes = new Set(rolesIn(payload[rolesClaim]).flatMap((role) => roles.get(role) ?? []));
    return { ...personOf(payload), scopes, admin: isAdmin(scopes), revoked: new AbortController().signal };
  };
}

function personOf(payload: JWTPayload): Pick<VerifiedCaller, "owner" | "tokenId" | "expiresAt"> {
  const { jti, exp = 0 } = payload;
  // A valid signature does not make the types of claims valid.
  const sub: unknown = payload.sub;
  // An issuer must not be able to name the person at this machine.
  if (typeof sub !== "string" || sub.trim() === "" || sub === LOCAL_OWNER || sub.length > RECORD_LIMITS.nameChars)
    throw new Fault("INVALID_TOKEN", "The subject of the token cannot be an owner here.");
  return { owner: sub, tokenId: `jwt:${jti ?? sub}`, expiresAt: exp * 1000 };
}

function rolesIn(claim: unknown): readonly string[] {
  const roles: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return roles.filter((role) => typeof role === "string");
}

function refusal(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  if (thrown instanceof errors.JWTExpired) return new Fault("TOKEN_EXPIRED", undefined, { cause: thrown });
  return new Fault("INVALID_TOKEN", undefined, { cause: thrown });
}
