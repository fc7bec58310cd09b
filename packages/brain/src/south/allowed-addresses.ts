import { lookup as resolve } from "node:dns";
import { BlockList, isIP } from "node:net";
import type { LookupFunction } from "node:net";

/* The addresses at which a brain may call a hand, whichever way the address was given. */

/** Addresses that are never called: link-local (cloud metadata services), multicast, broadcast, unspecified. */
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

/** Whether it is an address that is never called. */
export function isForbiddenAddress(host: string): boolean {
  return isIn(FORBIDDEN, host);
}

/** Whether it is a loopback address or name. */
export function isThisMachine(host: string): boolean {
  return host === "localhost" || isIn(LOOPBACK, host);
}

/**
 * A DNS lookup for sockets. The connection goes to the very address that was checked. A remote name that resolves to
 * this machine is refused, and so is a local name that resolves elsewhere (DNS rebinding).
 */
export const lookupAllowed: LookupFunction = (host, options, done) => {
  resolve(host, { ...options, all: true }, (error, found) => {
    const good = (found ?? []).filter(
      ({ address }) => !isForbiddenAddress(address) && isThisMachine(host) === isThisMachine(address),
    );
    const [first] = good;
    if (error !== null || first === undefined)
      return done(error ?? Object.assign(new Error(`${host} is not an address of a hand`), { code: "EACCES" }), []);
    if (options.all === true) return done(null, good);
    done(null, first.address, first.family);
  });
};

/** The host of a URL in the form that sockets take: no brackets, lower case. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function isIn(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? "ipv4" : "ipv6");
}
