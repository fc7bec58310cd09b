import { readPem } from "./pem.ts";
import type { JwtVerifier } from "./jwt.ts";

/** Settings that restrict signed tokens to one issuer and one audience. */
const RESTRICTIONS = ["VIDRO_JWT_ISSUER", "VIDRO_JWT_AUDIENCE"];

/** Restrictions that are not set: without them a token signed with the same key for another service is accepted. */
export function unsetRestrictions(env: { readonly [name: string]: string | undefined }): readonly string[] {
  return RESTRICTIONS.filter((name) => (env[name] ?? "") === "");
}

/**
 * The verifier of signed tokens that the environment asks for, by one of `VIDRO_JWT_SECRET`, `VIDRO_JWT_PUBLIC_KEY` (a
 * file in PEM) and `VIDRO_JWT_KEY_SET` (an address or a file); none when it names none of them.
 */
export async function openJwtVerifier(env: {
  readonly [name: string]: string | undefined;
}): Promise<JwtVerifier | undefined> {
  const said = (name: string): string | undefined => env[`VIDRO_JWT_${name}`] || undefined;
  const [secret, publicKeyFile, keySet] = [said("SECRET"), said("PUBLIC_KEY"), said("KEY_SET")];
  if (secret === undefined && publicKeyFile === undefined && keySet === undefined) return undefined;
  // Loaded only here: it is a tenth of all modules, and most daemons know no signed tokens.
  const { jwtVerifier } = await import("./jwt.ts");
  const publicKey = publicKeyFile === undefined ? undefined : await readPem(publicKeyFile);
  const options = {
    secret,
    publicKey,
    keySet,
    issuer: said("ISSUER"),
    audience: said("AUDIENCE"),
    rolesClaim: said("ROLES_CLAIM"),
  };
  return jwtVerifier(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)));
}
