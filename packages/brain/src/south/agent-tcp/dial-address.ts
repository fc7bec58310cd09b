import { Fault, TCP_LIMITS } from "@vidro/core";
import { bareHost, isForbiddenAddress, isThisMachine } from "../allowed-addresses.ts";

/** Where a hand listens that the brain dials. */
export interface DialAddress {
  /** The address in full, however it was written. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/**
 * Reads `tls://host:port` or `tcp://host:port`, port 4000 without one. BAD_REQUEST when it is neither, when no hand can
 * be there, or when it is plain and leads to another machine that is in no laboratory.
 */
export function dialAddress(text: string, isLab: boolean): DialAddress {
  const found = URL.canParse(text) ? new URL(text) : undefined;
  const { protocol, hostname, port: digits, username, password, pathname, search, hash } = found ?? new URL("none:");
  const isTls = protocol === "tls:";
  const host = bareHost(hostname);
  const isBare = username + password + pathname + search + hash === "" && /^[\w.-]+$|^[\da-f:]+$/.test(host);
  if (!(isTls || protocol === "tcp:") || !isBare)
    throw new Fault(
      "BAD_REQUEST",
      "A hand is dialled at an address like tls://host.example:4000, and nothing behind it.",
    );
  if (isForbiddenAddress(host)) throw new Fault("BAD_REQUEST", `${host} is no address of a hand.`);
  if (!isTls && !isLab && !isThisMachine(host))
    throw new Fault(
      "BAD_REQUEST",
      "Beyond this machine a hand is dialled with tls://; --lab says that it is a laboratory.",
    );
  const port = digits === "" ? TCP_LIMITS.port : Number(digits);
  return { url: `${protocol}//${hostname.toLowerCase()}:${port}`, host, port, isTls };
}
