import { readFile } from "node:fs/promises";
import { asFault, Fault } from "@vidro/core";
import type { ListenOptions } from "../links/agent-http/signed-listener.ts";

/** What a host that listens may be told. */
export interface ListenFlags {
  /** The address that the brain is to call, which this host then listens at: https://web-1.lan:8443. */
  readonly listen?: string;
  /** Files in PEM: a certificate for that name, which the brain's machine trusts, and its key. */
  readonly listenCert?: string;
  readonly listenKey?: string;
}

/** Where this host takes messages itself, and how the brain is to call it. */
export type ListenAddress = ListenOptions & { readonly url: string };

/** Where to listen, if at all; BAD_REQUEST when the flags do not go together. */
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
