import { readFile } from "node:fs/promises";
import { asFault, Fault } from "@vidro/core";
import type { ListenOptions } from "../links/agent-http/signed-listener.ts";

/** Flags of a host that listens for its brain. */
export interface ListenFlags {
  /** The address at which this host listens and the brain calls it: https://web-1.lan:8443. */
  readonly listen?: string;
  /** PEM files: a certificate for that name that the brain's machine trusts, and its key. */
  readonly listenCert?: string;
  readonly listenKey?: string;
}

/** Where this host listens, and the address at which the brain calls it. */
export type ListenAddress = ListenOptions & { readonly url: string };

/** Where to listen; undefined without --listen. Throws BAD_REQUEST if the flags do not fit together. */
export async function readListenFlags({
  listen,
  listenCert,
  listenKey,
}: ListenFlags): Promise<ListenAddress | undefined> {
  if (listen === undefined) return undefined;
  const url = URL.canParse(listen) ? new URL(listen) : undefined;
  if (url === undefined || url.pathname !== "/" || !/^https?:$/.test(url.protocol))
    throw new Fault("BAD_REQUEST", "A host listens at an address like https://web-1.lan:8443.");
  const isTls = url.protocol === "https:";
  const port = Number(url.port === "" ? (isTls ? 443 : 80) : url.port);
  if (!isTls) return { host: url.hostname.replace(/^\[|\]$/g, ""), port, url: url.origin };
  if (listenCert === undefined || listenKey === undefined)
    throw new Fault("BAD_REQUEST", "To listen with TLS takes a certificate and its key: --listen-cert, --listen-key");
  const tls = { cert: await readPem(listenCert), key: await readPem(listenKey) };
  return { host: EVERYWHERE, port, url: url.origin, tls };
}

const EVERYWHERE = "::";

async function readPem(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    throw new Fault("BAD_REQUEST", `${file} cannot be read: ${asFault(cause).message}`, { cause });
  });
}
