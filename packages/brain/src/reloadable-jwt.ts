import { openJwtVerifier, unsetRestrictions } from "./auth/jwt-settings.ts";
import type { JwtVerifier } from "./auth/jwt.ts";
import type { Config } from "./config.ts";
import type { Log } from "./observe/log.ts";
import type { Reloadable } from "./south/local.ts";

/** The verifier of signed tokens; its keys can be read again. */
export async function openReloadableJwt(
  config: Config,
  reloadables: Reloadable[],
  log: Log,
): Promise<JwtVerifier | undefined> {
  const settings = {
    secret: config.get("jwt_secret"),
    publicKeyFile: config.get("jwt_public_key"),
    keySet: config.get("jwt_key_set"),
    issuer: config.get("jwt_issuer"),
    audience: config.get("jwt_audience"),
    rolesClaim: config.get("jwt_roles_claim"),
  };
  let verify = await openJwtVerifier(settings);
  if (verify === undefined) return undefined;
  const unset = unsetRestrictions(settings);
  if (unset.length > 0) log("jwt.unrestricted", { unset: unset.join(", ") });
  const reload = async (): Promise<void> => void (verify = await openJwtVerifier(settings));
  reloadables.push({ what: "keys of signed tokens", reload });
  return async (token) => verify!(token);
}
