import { Fault } from "@vidro/core";
import type { Bus } from "@vidro/core";
import { memoryBus } from "./memory-bus.ts";

/** All buses, by how their addresses begin; a new one is a file and a line here. */
const BUSES = {
  memory: async (address) => memoryBus(address),
  redis: async (address) => (await import("./redis-bus.ts")).redisBus(address),
} as const satisfies Record<string, (address: string) => Promise<Bus>>;

/** Opens the bus of an address: BAD_REQUEST when it is none. A server that is away is tried until it is there. */
export async function openBus(address: string): Promise<Bus> {
  if (/^rediss?(?:\+sentinel|\+cluster)?:\/\//u.test(address)) return BUSES.redis(address);
  if (address.startsWith("memory:")) return BUSES.memory(address);
  throw new Fault("BAD_REQUEST", "The address of the bus does not begin with redis://; see vidro config explain bus.");
}
