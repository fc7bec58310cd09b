import { BUS_LIMITS } from "@vidro/core";
import type { RedisAddress } from "./address.ts";

/** What the bus uses of a client, which is the same for one server, for sentinels and for a cluster. */
export interface RedisClient {
  connect(): Promise<unknown>;
  destroy(): unknown;
  on(event: "error", hear: (thrown: unknown) => void): unknown;
  publish(channel: string, text: string): Promise<unknown>;
  subscribe(channels: string | string[], hear: (text: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  set(key: string, text: string, options: object): Promise<unknown>;
  xAdd(key: string, id: string, fields: Record<string, string>, options: object): Promise<unknown>;
  pExpire(key: string, ms: number): Promise<unknown>;
}

/** Makes a client that is not connected yet and sends nothing twice by itself. */
export async function redisClient(address: RedisAddress): Promise<RedisClient> {
  const { createClient, createCluster } = await import("@redis/client");
  const { username, password, tls, nodes } = address;
  const socket = {
    connectTimeout: BUS_LIMITS.connectMs,
    ...(tls === undefined ? {} : { ...tls, tls: true as const }),
  };
  const common = {
    disableOfflineQueue: true,
    commandsQueueMaxLength: BUS_LIMITS.queued,
    maintNotifications: "disabled" as const,
    name: "vidro",
    socket,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
  if (address.kind === "cluster")
    return createCluster({
      rootNodes: nodes.map((node) => ({ socket: { ...node } })),
      defaults: common,
    });
  const place = address.kind === "sentinel" ? await masterOf(address) : nodes[0];
  return createClient({
    ...common,
    database: address.database,
    // The bus makes a new client when this one is lost.
    socket: { ...socket, ...place, reconnectStrategy: false },
  });
}

/** Where the master is, as the first sentinel says that answers. */
async function masterOf({ nodes, master, tls }: RedisAddress): Promise<RedisAddress["nodes"][number]> {
  const { createClient } = await import("@redis/client");
  const socket = { connectTimeout: BUS_LIMITS.connectMs, reconnectStrategy: false as const };
  const secure = tls === undefined ? {} : { ...tls, tls: true as const };
  for (const node of nodes) {
    const sentinel = createClient({ maintNotifications: "disabled", socket: { ...socket, ...secure, ...node } });
    sentinel.on("error", () => undefined);
    try {
      await sentinel.connect();
      const words: unknown = await sentinel.sendCommand(["SENTINEL", "get-master-addr-by-name", master]);
      if (Array.isArray(words) && words.length === 2) return { host: String(words[0]), port: Number(words[1]) };
    } catch {
      // The next one may know it.
    } finally {
      if (sentinel.isOpen) sentinel.destroy();
    }
  }
  throw new Error(`no sentinel knows the master ${JSON.stringify(master)}`);
}
