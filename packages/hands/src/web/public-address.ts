import { BlockList, isIP } from "node:net";

/*
 * Addresses that a page is never fetched from unless the policy names its host: those of this machine, of private and
 * shared networks, of link-local services such as the metadata of a cloud, of groups and of documentation, and those
 * that carry another address inside, by which a gateway would reach one of the former.
 */

const NOT_PUBLIC_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** Of IPv6 only global unicast addresses are public, and of those not the ones for tunnels and documentation. */
const GLOBAL_V6 = "2000::/3";
const NOT_PUBLIC_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const privateV4 = blockList("ipv4", NOT_PUBLIC_V4);
const globalV6 = blockList("ipv6", [GLOBAL_V6]);
const privateV6 = blockList("ipv6", NOT_PUBLIC_V6);

function blockList(family: "ipv4" | "ipv6", networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Whether an address of the internet protocol belongs to the public internet; false for any other text. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !privateV4.check(address, "ipv4");
  return family === 6 && globalV6.check(address, "ipv6") && !privateV6.check(address, "ipv6");
}
