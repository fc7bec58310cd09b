import { lookup as resolve } from "node:dns";
import { BlockList, isIP } from "node:net";
import type { LookupFunction } from "node:net";

/* Where a brain may call a hand, whoever says that there is one. */

/** Addresses that no hand has: of this network link, where clouds keep their secrets, of everybody, of nobody. */
const FORBIDDEN = new BlockList();
for (const [net, bits] of [
  ["169.254.0.0", 16],
  ["0.0.0.0", 8],
  ["224.0.0.0", 3],
] as const)
  FORBIDDEN.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["fe80::", 10],
  ["ff00::", 8],
  ["::", 128],
  ["fd00:ec2::", 32],
] as const)
  FORBIDDEN.addSubnet(net, bits, "ipv6");

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whether it is an address that no hand has. */
export function isForbiddenAddress(host: string): boolean {
  return isIn(FORBIDDEN, host);
}

/** Whether it is this machine and can be no other. */
export function isThisMachine(host: string): boolean {
  return host === "localhost" || isIn(LOOPBACK, host);
}

/**
 * Looks a name up for whoever connects: once, so that the connection goes to the address that was looked at. A name of
 * elsewhere that leads to this machine leads nowhere, and so does the other way round.
 */
export const lookupAllowed: LookupFunction = (host, options, done) => {
  resolve(host, { ...options, all: true }, (error, found) => {
    const good = (found ?? []).filter(
      ({ address }) => !isForbiddenAddress(address) && isThisMachine(host) === isThisMachine(address),
    );
    const [first] = good;
    if (error !== null || first === undefined)
      return done(error ?? Object.assign(new Error(`${host} is no address of a hand`), { code: "EACCES" }), []);
    if (options.all === true) return done(null, good);
    done(null, first.address, first.family);
  });
};

/** The host of a URL as sockets take it. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function isIn(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? "ipv4" : "ipv6");
}
