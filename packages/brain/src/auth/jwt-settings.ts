import { readPem } from "./pem.ts";
import type { JwtVerifier } from "./jwt.ts";

/** Settings of signed tokens; at most one of the first three is set and gives the key. */
interface JwtSettings {
  readonly secret: string | undefined;
  /** A file in PEM. */
  readonly publicKeyFile: string | undefined;
  /** An address or a file. */
  readonly keySet: string | undefined;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly rolesClaim: string;
}

/** Restrictions that are not set: without them a token signed with the same key for another service is accepted. */
export function unsetRestrictions({ issuer, audience }: JwtSettings): readonly string[] {
  return [
    ...(issuer === undefined ? ["VIDRO_JWT_ISSUER"] : []),
    ...(audience === undefined ? ["VIDRO_JWT_AUDIENCE"] : []),
  ];
}

/** The verifier of signed tokens; undefined when no key is set. */
export async function openJwtVerifier(settings: JwtSettings): Promise<JwtVerifier | undefined> {
  const { secret, publicKeyFile, keySet, issuer, audience, rolesClaim } = settings;
  if (secret === undefined && publicKeyFile === undefined && keySet === undefined) return undefined;
  // Loaded only here: it is a tenth of all modules, and most daemons take no signed tokens.
  const { jwtVerifier } = await import("./jwt.ts");
  const publicKey = publicKeyFile === undefined ? undefined : await readPem(publicKeyFile);
  return jwtVerifier({
    ...(secret === undefined ? {} : { secret }),
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(keySet === undefined ? {} : { keySet }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
    rolesClaim,
  });
}
