import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { MOUNT_LIMITS } from "@vidro/core";
import { askForToken } from "./oauth-sign-in.ts";
import type { OAuthGrant } from "./oauth-sign-in.ts";

/** The place of a server: a token counts only for the address that it was given for. */
interface TokenPlace {
  readonly name: string;
  readonly url: string;
}

type KeptGrant = OAuthGrant & { readonly url: string };

/** Tokens of servers that a person has signed in at, in a file of the hand's state. */
export class OAuthTokens {
  readonly #file: string;
  /** Renewals under way, by the token that is renewed: a server may take it once, and the second time revoke all. */
  readonly #renewals = new Map<string, Promise<string>>();

  constructor(file: string) {
    this.#file = file;
  }

  /** The token of a server, renewed when its time is nearly over; undefined when there is none. */
  async find({ name, url }: TokenPlace): Promise<string | undefined> {
    const kept = this.#read()[name];
    if (kept?.url !== url) return undefined;
    const isOld = kept.expiresAt !== undefined && kept.expiresAt - Date.now() < MOUNT_LIMITS.renewMs;
    const { refreshToken } = kept;
    if (!isOld || refreshToken === undefined) return kept.accessToken;
    const key = JSON.stringify([name, refreshToken]);
    let renewal = this.#renewals.get(key);
    if (renewal === undefined) {
      renewal = this.#renew({ name, url }, kept, refreshToken).finally(() => this.#renewals.delete(key));
      this.#renewals.set(key, renewal);
    }
    return renewal;
  }

  async #renew(place: TokenPlace, kept: KeptGrant, refreshToken: string): Promise<string> {
    const renewed = await askForToken(kept, { grant_type: "refresh_token", refresh_token: refreshToken });
    this.keep(place, renewed);
    return renewed.accessToken;
  }

  /** Keeps the grant of a server, in place of the one before. */
  keep({ name, url }: TokenPlace, grant: OAuthGrant): void {
    const fresh = `${this.#file}.${process.pid}.new`;
    writeFileSync(fresh, `${JSON.stringify({ ...this.#read(), [name]: { ...grant, url } })}\n`, { mode: 0o600 });
    renameSync(fresh, this.#file);
  }

  #read(): { readonly [name: string]: KeptGrant | undefined } {
    return existsSync(this.#file)
      ? (JSON.parse(readFileSync(this.#file, "utf8")) as { readonly [name: string]: KeptGrant })
      : {};
  }
}
