import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The TCP ports that a process of this machine listens on. */
export function listeningPorts(pid: number): readonly number[] {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => inodeOf(`/proc/${pid}/fd/${fd}`)));
  const ports = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = ""]) => state === LISTENING && inodes.has(inode))
      .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16)),
  );
  return ports.sort((one, other) => one - other);
}

const LISTENING = "0A";

/** The number of a socket; nothing for what is closed by now or is no socket. */
function inodeOf(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1];
  } catch {
    return undefined;
  }
}
