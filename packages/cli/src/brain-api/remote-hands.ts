import { Vidro } from "@vidro/client";
import type { Address } from "./address.ts";
import type { HandApi } from "./hand-api.ts";
import { told } from "./remote.ts";

/** The hands of a brain behind its wire. */
export function remoteHands({ url, token, retries }: Address): HandApi {
  const { hands } = new Vidro({
    url,
    ...(token === undefined ? {} : { token }),
    ...(retries === undefined ? {} : { retries }),
  });
  const because = (why: string | undefined): { readonly why?: string } => (why === undefined ? {} : { why });
  return {
    list: (select) => told(hands.list(select === undefined ? {} : { select })),
    find: (named) => told(hands.find(named)),
    revoke: (named, why) => told(hands.revoke(named, because(why))),
    quarantine: (named, why) => told(hands.quarantine(named, because(why))),
    release: (named) => told(hands.release(named)),
  };
}
