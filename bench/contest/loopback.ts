import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A port of 127.0.0.1 without a listener at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** In /proc/net/tcp and tcp6 an address is words of hexadecimal, each in the machine's order of bytes. */
const LOOPBACK = /^0100007F:|^00000000000000000000000001000000:|^0000000000000000FFFF00000100007F:/;
const LISTENING = "0A";

/** Throws when a process listens for TCP on anything but this machine's own addresses; says nothing outside Linux. */
export function assertLoopback(pid: number): void {
  if (process.platform !== "linux") return;
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // Closed since the folder was listed.
      }
    }),
  );
  for (const table of ["tcp", "tcp6"]) {
    for (const line of readFileSync(`/proc/${pid}/net/${table}`, "utf8").split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      if (state === LISTENING && sockets.has(inode) && !LOOPBACK.test(local)) {
        throw new Error(`Process ${pid} listens on ${local}, which is not this machine alone.`);
      }
    }
  }
}
