import { SocketAddress } from "node:net";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import { HTTP_LIMITS } from "@vidro/core";

/*
 * A stream only sends, so a client that vanished without closing its connection shows only in missing acknowledgements.
 * TCP keep-alive does not help: its probes stop while sent data is unacknowledged, and the system then retransmits for
 * a quarter of an hour. Linux counts these retransmissions in /proc/net/tcp.
 */

/**
 * A connection with unacknowledged data: its two ends, and its retransmissions and probes since the last
 * acknowledgement.
 */
interface SilentConnection {
  readonly ends: string;
  readonly attempts: number;
}

/** Closes connections whose peer has acknowledged nothing between two looks at the tables [F10]. */
export class DeadPeers {
  readonly #sockets = new Map<string, Socket>();
  readonly #looking: NodeJS.Timeout;
  #before = new Map<string, number>();
  /** Reads the tables of TCP connections, `/proc/net/tcp` and `tcp6`. */
  readonly #tables: () => Promise<readonly string[]>;

  constructor(tables: () => Promise<readonly string[]>) {
    this.#tables = tables;
    this.#looking = setInterval(() => void this.#look(), HTTP_LIMITS.unansweredMs).unref();
  }

  /** Watches one more connection until it is closed. */
  readonly add = (socket: Socket): void => {
    const ends = endsOf(socket);
    this.#sockets.set(ends, socket);
    this.#before.delete(ends);
    socket.once("close", () => {
      if (this.#sockets.get(ends) === socket) this.#sockets.delete(ends);
    });
  };

  close(): void {
    clearInterval(this.#looking);
  }

  async #look(): Promise<void> {
    if (this.#sockets.size === 0) return;
    // If the tables cannot be read, for example without free descriptors, the next look tries again.
    const tables = await this.#tables().catch(() => []);
    const now = new Map<string, number>();
    for (const { ends, attempts } of tables.flatMap(findSilent)) {
      if (!this.#sockets.has(ends)) continue;
      now.set(ends, attempts);
      // An acknowledgement would have reset the count.
      if (attempts > (this.#before.get(ends) ?? Infinity)) this.#sockets.get(ends)?.destroy();
    }
    this.#before = now;
  }
}

function endsOf({ localPort, remotePort, remoteAddress }: Socket): string {
  return `${localPort} ${remoteAddress} ${remotePort}`;
}

/** The connections of a table with retransmissions or unanswered probes. */
export function findSilent(table: string): readonly SilentConnection[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", , , , again = "", , probes = ""] = line.trim().split(/\s+/);
    const attempts = Number.parseInt(again, 16) + Number(probes);
    if (!(attempts > 0)) return [];
    const [address = "", port = ""] = remote.split(":");
    return { ends: `${portOf(local.split(":")[1])} ${addressOf(address)} ${portOf(port)}`, attempts };
  });
}

function portOf(hex = ""): number {
  return Number.parseInt(hex, 16);
}

/** An address as Node writes it; the table has words of four bytes, each in the machine's byte order. */
function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) =>
    endianness() === "LE" ? [...Buffer.from(word, "hex")].reverse() : [...Buffer.from(word, "hex")],
  );
  if (bytes.length === 4) return bytes.join(".");
  const groups = Buffer.from(bytes).toString("hex").match(/.{4}/g) ?? [];
  return new SocketAddress({ family: "ipv6", address: groups.join(":") }).address;
}
