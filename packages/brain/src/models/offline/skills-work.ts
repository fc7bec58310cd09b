import { OFFLINE_LIMITS } from "@vidro/core";
import { bytes, percent, rows } from "./phrases.ts";
import { readInterfaces, readListeners, readProcessList, readPs } from "./read-work.ts";
import type { ListeningPort, ListedProcess } from "./read-work.ts";
import { shortLine, runProgram, tell, use } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import type { WantOf } from "./want.ts";

/** Which processes there are: those with the highest load, or those of one name. */
export function processesSkill(want: WantOf<"processes">, desk: Desk): Skill {
  const { say } = desk;
  const { by, name } = want;
  const limit = OFFLINE_LIMITS.rows;
  const input = name === undefined ? { limit, sort_by: by } : { limit, sort_by: by, name_pattern: name };
  const ways = [
    { call: use(desk, "processes", input), read: readProcessList },
    { call: runProgram(desk, "ps", "-eo", "pid,user,pcpu,rss,args"), read: readPs },
  ];
  return tell(desk, ways, (list) => {
    const matching = name === undefined ? list.rows : list.rows.filter((row) => includes(row.command, name));
    // The tool gives a page of the matches and their number; ps gives everything, of which only these match.
    const total = name === undefined || matching.length === list.rows.length ? list.total : matching.length;
    if (matching.length === 0) return name === undefined ? say.processes(by, 0) : say.noneNamed(shortLine(name));
    const ordered = matching.toSorted((a, b) =>
      by === "cpu" ? b.cpuPercent - a.cpuPercent : b.memoryBytes - a.memoryBytes,
    );
    const head = name === undefined ? say.processes(by, total) : say.named(shortLine(name), total);
    return `${head}\n${rows(
      ordered.slice(0, limit).map((row) => processWords(row, desk)),
      say,
      limit,
    )}`;
  });
}

function includes(command: string, name: string): boolean {
  return command.toLowerCase().includes(name.toLowerCase());
}

function processWords({ pid, user, cpuPercent, memoryBytes, command }: ListedProcess, { say }: Desk): string {
  const { commandChars } = OFFLINE_LIMITS;
  const shown = command.length > commandChars ? `${command.slice(0, commandChars)}…` : command;
  return `${percent(cpuPercent, say)} CPU, ${bytes(memoryBytes, say)}: ${shown} (pid ${pid}, ${user})`;
}

/** Which addresses the machine has. */
export function network(_want: WantOf<"network">, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, [{ call: runProgram(desk, "ip", "-br", "addr"), read: readInterfaces }], (interfaces) => {
    if (interfaces.length === 0) return say.noAddresses;
    const lines = interfaces.map(
      ({ name, isUp, addresses }) => `${name}: ${addresses.join(", ")}${isUp ? "" : ` (${say.down})`}`,
    );
    return `${say.addresses}\n${rows(lines, say, OFFLINE_LIMITS.rows)}`;
  });
}

/** Who listens on which port, or on the one that is asked about. */
export function ports(want: WantOf<"ports">, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, [{ call: runProgram(desk, "ss", "-tlnp"), read: readListeners }], (listeners) => {
    if (want.port !== undefined) {
      const found = listeners.find(({ port }) => port === want.port);
      return found === undefined ? say.nobodyOn(want.port) : `${listenerWords(found, desk)}.`;
    }
    if (listeners.length === 0) return say.nobodyListens;
    const lines = listeners.map((listener) => listenerWords(listener, desk));
    return `${say.listening(listeners.length)}\n${rows(lines, say, OFFLINE_LIMITS.quotedLines)}`;
  });
}

function listenerWords({ port, addresses, owners }: ListeningPort, { say }: Desk): string {
  const names = owners.map(({ name, pid }) => `${name} (pid ${pid})`).join(", ");
  return say.port(port, addresses.join(", "), names === "" ? say.ownerUnknown : names);
}
