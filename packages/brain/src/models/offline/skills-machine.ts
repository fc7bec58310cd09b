import { OFFLINE_LIMITS } from "@vidro/core";
import { bytes, duration, number, percent, rows } from "./phrases.ts";
import {
  readFacts,
  readMemory,
  readMemoryFacts,
  readProcessorCount,
  readProcessorFacts,
  readProcessors,
  readSystemFacts,
  readUname,
  readUptime,
  readUptimeFacts,
  readVolumeFacts,
  readVolumes,
} from "./read-machine.ts";
import type { MemoryFigures, SystemName } from "./read-machine.ts";
import { outputLines, readOutput } from "./read-output.ts";
import { readSessions, readUser } from "./read-work.ts";
import { runProgram, tell, use } from "./skill.ts";
import type { Desk, Skill, Way } from "./skill.ts";
import type { WantOf } from "./want.ts";

const osInfo = (desk: Desk) => use(desk, "os_info", {});

/** How full the disks are. */
export function disk(want: WantOf<"disk">, desk: Desk): Skill {
  const { say } = desk;
  const df = runProgram(desk, "df", "-kP", ...(want.path === undefined ? [] : [want.path]));
  const ways = [
    { call: df, read: readVolumes },
    ...(want.path === undefined ? [{ call: osInfo(desk), read: readVolumeFacts }] : []),
  ];
  return tell(desk, ways, (volumes) => {
    const lines = volumes.map(({ freeBytes, totalBytes, mount, usedPercent }) =>
      say.disk(bytes(freeBytes, say), bytes(totalBytes, say), mount, percent(usedPercent, say)),
    );
    return lines.length === 1 ? (lines[0] ?? "") : rows(lines, say, OFFLINE_LIMITS.rows);
  });
}

/** How much memory there is and how much of it is left. */
export function memory(_want: WantOf<"memory">, desk: Desk): Skill {
  const ways = [
    { call: runProgram(desk, "free", "-b"), read: readMemory },
    { call: osInfo(desk), read: readMemoryFacts },
  ];
  return tell(desk, ways, (facts) => memoryWords(facts, desk));
}

function memoryWords(
  { totalBytes, availableBytes, swapTotalBytes, swapUsedBytes }: MemoryFigures,
  { say }: Desk,
): string {
  const used = percent(Math.round(((totalBytes - availableBytes) / totalBytes) * 100), say);
  const main = say.memory(bytes(availableBytes, say), bytes(totalBytes, say), used);
  if (swapTotalBytes === undefined) return main;
  return `${main} ${swapTotalBytes === 0 ? say.noSwap : say.swap(bytes(swapUsedBytes ?? 0, say), bytes(swapTotalBytes, say))}`;
}

/** Which processors there are, and how busy they are. */
export function* cpu(_want: WantOf<"cpu">, desk: Desk): Skill {
  const { say } = desk;
  const ways = [
    { call: runProgram(desk, "lscpu"), read: readProcessors },
    { call: runProgram(desk, "nproc"), read: readProcessorCount },
    { call: osInfo(desk), read: readProcessorFacts },
  ];
  const processors = yield* tell(desk, ways, ({ count, model }) => say.processors(count, model));
  const load = yield* tell(desk, uptimeWays(desk), (facts) => {
    const [one = "", five = "", fifteen = ""] = facts.load.map((each) => number(each, say, 2));
    return say.load(one, five, fifteen);
  });
  return `${processors}\n${load}`;
}

/** How long the machine is up. */
export function uptime(_want: WantOf<"uptime">, desk: Desk): Skill {
  return tell(desk, uptimeWays(desk), ({ minutes }) => desk.say.uptime(duration(minutes, desk.say)));
}

function uptimeWays(desk: Desk) {
  return [
    { call: runProgram(desk, "uptime"), read: readUptime },
    { call: osInfo(desk), read: readUptimeFacts },
  ];
}

/** Which machine and system this is. */
export function system(_want: WantOf<"system">, desk: Desk): Skill {
  const ways: Way<SystemName>[] = [
    { call: osInfo(desk), read: readSystemFacts },
    { call: runProgram(desk, "uname", "-a"), read: readUname },
  ];
  return tell(desk, ways, ({ host, name, kernel, architecture }) =>
    desk.say.system(host, name ?? "", kernel, architecture),
  );
}

/** What the machine's clock says. */
export function date(_want: WantOf<"date">, desk: Desk): Skill {
  const { say } = desk;
  return tell(
    desk,
    [{ call: runProgram(desk, "date", "+%Y-%m-%d %H:%M:%S %Z"), read: readClock }],
    ([day = "", time = "", zone = ""]) => {
      const weekday = say.weekdays[new Date(`${day}T00:00:00Z`).getUTCDay()] ?? "";
      return say.date(weekday, day, time, zone);
    },
  );
}

/** As whom the hand works. */
export function user(_want: WantOf<"user">, desk: Desk): Skill {
  const { say } = desk;
  const ways: Way<{ name: string; uid?: number; groups?: readonly string[] }>[] = [
    { call: runProgram(desk, "id"), read: readUser },
    { call: osInfo(desk), read: userFact },
  ];
  return tell(desk, ways, ({ name, uid, groups }) => say.user(name, String(uid ?? ""), (groups ?? []).join(", ")));
}

function userFact(text: string): { name: string } | undefined {
  const name = readFacts(text)?.get("user");
  return name === undefined ? undefined : { name };
}

/** Who is logged in. */
export function sessions(_want: WantOf<"sessions">, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, [{ call: runProgram(desk, "who"), read: readSessions }], (found) => {
    const names = [...found].map(([name, count]) => (count === 1 ? name : `${name} (${count})`));
    return names.length === 0 ? say.noSessions : say.sessions(names.slice(0, OFFLINE_LIMITS.rows).join(", "));
  });
}

/** In which folder the hand works. */
export function folder(_want: WantOf<"folder">, desk: Desk): Skill {
  const ways = [
    { call: use(desk, "working_directory", {}), read: firstLine },
    { call: runProgram(desk, "pwd"), read: firstLine },
  ];
  return tell(desk, ways, (path) => desk.say.folder(path));
}

function firstLine(text: string): string | undefined {
  return outputLines(readOutput(text).stdout)[0];
}

function readClock(text: string): readonly string[] | undefined {
  return /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (\S+)/.exec(readOutput(text).stdout)?.slice(1);
}
