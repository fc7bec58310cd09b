import { readPem } from "./pem.ts";
import type { JwtVerifier } from "./jwt.ts";

/** The names that say whose signed tokens are meant, and for whom; each that is missing lets tokens of others in. */
const MEANT = ["ISSUER", "AUDIENCE"];

/** What a brain with signed tokens should be told at its start; nothing when all is said. */
export function tokensWarning(env: { readonly [name: string]: string | undefined }): string | undefined {
  const names = MEANT.map((name) => `VIDRO_JWT_${name}`).filter((name) => (env[name] ?? "") === "");
  if (names.length === 0) return undefined;
  return `${names.join(" and ")} not set: every token that the same key has signed is good here, for whomever it was made`;
}

/**
 * The verifier of signed tokens that the environment asks for, by one of `VIDRO_JWT_SECRET`, `VIDRO_JWT_PUBLIC_KEY` (a
 * file in PEM) and `VIDRO_JWT_KEY_SET` (an address or a file); none when it names none of them.
 */
export async function signedTokens(env: {
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
