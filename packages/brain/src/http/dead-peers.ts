import { SocketAddress } from "node:net";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import { HTTP_LIMITS } from "@vidro/core";

/*
 * A stream only sends, so a client that vanished without a word is noticed by nothing but the acknowledgements that no
 * longer come. TCP's own probes do not help: they stop while anything sent is unacknowledged, and then the system
 * repeats itself for a quarter of an hour. Linux says how often it has.
 */

/** A connection whose other end is silent: its two ends, and how often in a row it was called in vain. */
interface Silent {
  readonly ends: string;
  readonly calls: number;
}

/** Looks after connections, and cuts those off whose other end acknowledges nothing from one look to the next [F10]. */
export class DeadPeers {
  readonly #sockets = new Map<string, Socket>();
  readonly #looking: NodeJS.Timeout;
  #before = new Map<string, number>();
  /** Reads the tables in which Linux lists TCP connections, as `/proc/net/tcp` and `tcp6` have them. */
  readonly #tables: () => Promise<readonly string[]>;

  constructor(tables: () => Promise<readonly string[]>) {
    this.#tables = tables;
    this.#looking = setInterval(() => void this.#look(), HTTP_LIMITS.unansweredMs).unref();
  }

  /** Looks after one more connection until it is closed. */
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
    // Where nothing can be read, as without descriptors, there is another look soon.
    const tables = await this.#tables().catch(() => []);
    const now = new Map<string, number>();
    for (const { ends, calls } of tables.flatMap(findSilent)) {
      if (!this.#sockets.has(ends)) continue;
      now.set(ends, calls);
      // An acknowledgement would have set the count back.
      if (calls > (this.#before.get(ends) ?? Infinity)) this.#sockets.get(ends)?.destroy();
    }
    this.#before = now;
  }
}

function endsOf({ localPort, remotePort, remoteAddress }: Socket): string {
  return `${localPort} ${remoteAddress} ${remotePort}`;
}

/** The connections of a table of Linux whose other end was called in vain: data sent again, or probes. */
export function findSilent(table: string): readonly Silent[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", , , , again = "", , probes = ""] = line.trim().split(/\s+/);
    const calls = Number.parseInt(again, 16) + Number(probes);
    if (!(calls > 0)) return [];
    const [address = "", port = ""] = remote.split(":");
    return { ends: `${portOf(local.split(":")[1])} ${addressOf(address)} ${portOf(port)}`, calls };
  });
}

function portOf(hex = ""): number {
  return Number.parseInt(hex, 16);
}

/** An address as Node writes it; in the table it is words of four bytes, each in the machine's order. */
function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) =>
    endianness() === "LE" ? [...Buffer.from(word, "hex")].reverse() : [...Buffer.from(word, "hex")],
  );
  if (bytes.length === 4) return bytes.join(".");
  const groups = Buffer.from(bytes).toString("hex").match(/.{4}/g) ?? [];
  return new SocketAddress({ family: "ipv6", address: groups.join(":") }).address;
}
