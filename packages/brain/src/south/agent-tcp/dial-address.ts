import { Fault, TCP_LIMITS } from "@vidro/core";
import { bareHost, isForbiddenAddress, isThisMachine } from "../allowed-addresses.ts";

/** The address of a hand that the brain dials. */
export interface DialAddress {
  /** The normalised address, with its port. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/**
 * Parses `tls://host:port` or `tcp://host:port`; the default port is 4000. BAD_REQUEST when it is neither, when the
 * address is never called, or when it is plain TCP to another machine outside a lab.
 */
export function dialAddress(text: string, isLab: boolean): DialAddress {
  const found = URL.canParse(text) ? new URL(text) : undefined;
  const { protocol, hostname, port: digits, username, password, pathname, search, hash } = found ?? new URL("none:");
  const isTls = protocol === "tls:";
  const host = bareHost(hostname);
  const isBare = username + password + pathname + search + hash === "" && /^[\w.-]+$|^[\da-f:]+$/.test(host);
  if (!(isTls || protocol === "tcp:") || !isBare)
    throw new Fault("BAD_REQUEST", "The address of a hand is like tls://host.example:4000, without a path or a user.");
  if (isForbiddenAddress(host)) throw new Fault("BAD_REQUEST", `${host} is not an address of a hand.`);
  if (!isTls && !isLab && !isThisMachine(host))
    throw new Fault(
      "BAD_REQUEST",
      "A hand on another machine is dialled with tls://; --lab allows tcp:// in a laboratory.",
    );
  const port = digits === "" ? TCP_LIMITS.port : Number(digits);
  return { url: `${protocol}//${hostname.toLowerCase()}:${port}`, host, port, isTls };
}
