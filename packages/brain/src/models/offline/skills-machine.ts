import { OFFLINE_LIMITS } from "@vidro/core";
import {
  readFacts,
  readInodes,
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
import type { MemoryFigures, SystemName, Volume } from "./read-machine.ts";
import { outputLines, readOutput } from "./read-output.ts";
import { readSessions, readUser } from "./read-work.ts";
import { learn, runProgram, tell, use } from "./skill.ts";
import type { Desk, Skill, Way } from "./skill.ts";
import type { Want } from "./want.ts";
import { bytes, duration, number, percent, rows } from "./wording.ts";

const osInfo = (desk: Desk) => use(desk, "os_info", {});

/** A reserve below this share of a file system is not worth a word. */
const NOTABLE_SHARE = 0.005;

/** How full the disks are. */
export function disk(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const ways = [
    { call: runProgram(desk, "df", "-kP", ...asPaths(want.path)), read: readVolumes },
    ...(want.path === undefined ? [{ call: osInfo(desk), read: readVolumeFacts }] : []),
  ];
  return tell(desk, ways, (volumes) => {
    const lines = volumes.map((volume) => volumeWords(volume, desk));
    return lines.length === 1 ? (lines[0] ?? "") : rows(lines, say, OFFLINE_LIMITS.rows);
  });
}

/** Free, used and reserved add up to the whole. */
function volumeWords({ freeBytes, totalBytes, usedBytes, mount }: Volume, { say }: Desk): string {
  const reserved = totalBytes - freeBytes - usedBytes;
  const values = {
    free: bytes(freeBytes, say),
    total: bytes(totalBytes, say),
    freePercent: percent(Math.round((freeBytes / totalBytes) * 100), say),
    used: bytes(usedBytes, say),
    reserved: bytes(Math.max(0, reserved), say),
    mount,
  };
  return say(reserved > totalBytes * NOTABLE_SHARE ? "diskReserved" : "disk", values);
}

/** How many inodes are left. */
export function inodes(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const call = runProgram(desk, "df", "-iP", ...asPaths(want.path));
  return tell(desk, [{ call, read: readInodes }], (found) => {
    const lines = found.map(({ mount, total, free }) =>
      total === 0
        ? say("noInodes", { mount })
        : say("inodes", { mount, total, free, used: percent(((total - free) / total) * 100, say) }),
    );
    return lines.length === 1 ? (lines[0] ?? "") : rows(lines, say, OFFLINE_LIMITS.rows);
  });
}

/** Operands of a program; one that begins with a dash would be an option. */
export function asPaths(...paths: readonly (string | undefined)[]): readonly string[] {
  return paths.flatMap((path) => (path === undefined ? [] : [path.startsWith("-") ? `./${path}` : path]));
}

function memoryWays(desk: Desk): readonly Way<MemoryFigures>[] {
  return [
    { call: runProgram(desk, "free", "-b"), read: readMemory },
    { call: osInfo(desk), read: readMemoryFacts },
  ];
}

/** How much memory there is and how much of it is left. */
export function memory(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, memoryWays(desk), (facts) => {
    const { totalBytes, availableBytes } = facts;
    const used = percent(Math.round(((totalBytes - availableBytes) / totalBytes) * 100), say);
    const main = say("memory", { available: bytes(availableBytes, say), total: bytes(totalBytes, say), used });
    return facts.swapTotalBytes === undefined ? main : `${main} ${swapWords(facts, desk)}`;
  });
}

/** How much swap there is and how much of it is used. */
export function swap(_want: Want, desk: Desk): Skill {
  const ways = [{ call: runProgram(desk, "free", "-b"), read: readMemory }];
  return tell(desk, ways, (facts) => swapWords(facts, desk));
}

function swapWords({ swapTotalBytes = 0, swapUsedBytes = 0 }: MemoryFigures, { say }: Desk): string {
  if (swapTotalBytes === 0) return say("noSwap");
  return say("swap", { used: bytes(swapUsedBytes, say), total: bytes(swapTotalBytes, say) });
}

function processorWays(desk: Desk) {
  return [
    { call: runProgram(desk, "lscpu"), read: readProcessors },
    { call: runProgram(desk, "nproc"), read: readProcessorCount },
    { call: osInfo(desk), read: readProcessorFacts },
  ];
}

/** Which processors there are. */
export function cpu(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, processorWays(desk), ({ count, model }) =>
    model === undefined ? say("processors", { count }) : say("processorsOf", { count, model }),
  );
}

/** How busy the processors are. */
export function* load(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const learnt = yield* learn(desk, uptimeWays(desk));
  if ("trouble" in learnt) return learnt.trouble;
  const [one = 0, five = 0, fifteen = 0] = learnt.facts.load;
  const words = say("load", { one: number(one, say, 2), five: number(five, say, 2), fifteen: number(fifteen, say, 2) });
  const processors = yield* learn(desk, processorWays(desk).slice(1));
  if ("trouble" in processors) return words;
  const { count } = processors.facts;
  return `${words} ${say("loadOf", { count, percent: percent(Math.round((one / count) * 100), say) })}`;
}

function uptimeWays(desk: Desk) {
  return [
    { call: runProgram(desk, "uptime"), read: readUptime },
    { call: osInfo(desk), read: readUptimeFacts },
  ];
}

/** How long the machine is up, and since when. */
export function* uptime(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const learnt = yield* learn(desk, uptimeWays(desk));
  if ("trouble" in learnt) return learnt.trouble;
  const time = duration(learnt.facts.minutes, say);
  const since = yield* learn(desk, [{ call: runProgram(desk, "uptime", "-s"), read: readSince }]);
  return "facts" in since ? say("uptime", { time, since: since.facts }) : say("uptimeOnly", { time });
}

function readSince(text: string): string | undefined {
  return /^(\d{4}-\d{2}-\d{2} \d{2}:\d{2})/.exec(readOutput(text).stdout)?.[1];
}

/** Which machine and system this is: its name, its kernel, or all of it. */
export function system(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const ways: Way<SystemName>[] = [
    { call: osInfo(desk), read: readSystemFacts },
    { call: runProgram(desk, "uname", "-a"), read: readUname },
  ];
  return tell(desk, ways, ({ host, name = "", kernel, architecture }) => {
    if (want.kind === "hostname") return say("hostname", { host });
    if (want.kind === "kernel") return say("kernel", { kernel, architecture });
    return say(name === "" ? "osUnnamed" : "os", { host, name, kernel, architecture });
  });
}

/** The time by the machine's clock. */
export function clock(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const call = runProgram(desk, "date", "+%Y-%m-%d %H:%M:%S %Z");
  return tell(desk, [{ call, read: readClock }], ([date = "", time = "", zone = ""]) => {
    const weekday = say("weekdays").split(" ")[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "";
    return say("date", { weekday, date, time, zone });
  });
}

function readClock(text: string): readonly string[] | undefined {
  return /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (\S+)/.exec(readOutput(text).stdout)?.slice(1);
}

/** As whom the hand works. */
export function user(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const ways: Way<{ name: string; uid?: number; groups?: readonly string[] }>[] = [
    { call: runProgram(desk, "id"), read: readUser },
    { call: osInfo(desk), read: userFact },
  ];
  return tell(desk, ways, ({ name, uid, groups = [] }) =>
    uid === undefined ? say("user", { name }) : say("userWith", { name, uid, groups: groups.join(", ") }),
  );
}

function userFact(text: string): { name: string } | undefined {
  const name = readFacts(text)?.get("user");
  return name === undefined ? undefined : { name };
}

/** Who is logged in. */
export function sessions(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, [{ call: runProgram(desk, "who"), read: readSessions }], (found) => {
    const names = [...found].map(([name, count]) => (count === 1 ? name : `${name} (${count})`));
    if (names.length === 0) return say("noSessions");
    return say("sessions", { names: names.slice(0, OFFLINE_LIMITS.rows).join(", ") });
  });
}

/** Which accounts there are, or whether there is one of a name. */
export function accounts(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { name } = want;
  return tell(desk, [{ call: runProgram(desk, "getent", "passwd"), read: readAccounts }], (found) => {
    if (name !== undefined) {
      return say(found.some((account) => account.name === name) ? "accountThere" : "noAccount", { name });
    }
    const people = found.filter(({ canLogIn }) => canLogIn).map((account) => account.name);
    return say("accounts", { count: found.length, names: people.join(", ") });
  });
}

function readAccounts(text: string): readonly { name: string; canLogIn: boolean }[] | undefined {
  const found = outputLines(readOutput(text).stdout).flatMap((line) => {
    const fields = line.split(":");
    const [name = "", shell = ""] = [fields[0], fields[6]];
    return fields.length === 7 ? [{ name, canLogIn: !/(nologin|false|sync|shutdown|halt)$/.test(shell) }] : [];
  });
  return found.length === 0 ? undefined : found;
}

/** In which folder the hand works. */
export function folder(_want: Want, desk: Desk): Skill {
  const ways = [
    { call: use(desk, "working_directory", {}), read: firstLine },
    { call: runProgram(desk, "pwd"), read: firstLine },
  ];
  return tell(desk, ways, (path) => desk.say("folder", { path }));
}

function firstLine(text: string): string | undefined {
  return outputLines(readOutput(text).stdout)[0];
}

/** The variables that commands of the hand see, or one of them. */
export function environment(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { name } = want;
  const call = use(desk, "shell", { command: "env", access: "read" });
  return tell(desk, [{ call, read: readVariables }], (found) => {
    if (name === undefined) {
      const lines = [...found].map(([key, value]) => `${key}=${value}`);
      return `${say("variables", { count: found.size })}\n${rows(lines, say, OFFLINE_LIMITS.quotedLines)}`;
    }
    const value = found.get(name);
    return value === undefined ? say("noVariable", { name }) : say("variable", { name, value });
  });
}

function readVariables(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = outputLines(readOutput(text).stdout).flatMap((line): [string, string][] => {
    const [, name, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    return name === undefined || name === "_" || name === "SHLVL" ? [] : [[name, value]];
  });
  return pairs.length === 0 ? undefined : new Map(pairs.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Which graphics cards there are. */
export function* gpu(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const cards = yield* learn(desk, [{ call: runProgram(desk, "lspci"), read: readCards }]);
  if ("facts" in cards) return cards.facts.length === 0 ? say("noGpu") : say("gpu", { names: cards.facts.join("; ") });
  if (cards.isPersonsNo) return cards.trouble;
  const devices = yield* learn(desk, [{ call: runProgram(desk, "ls", "/dev"), read: readDevices }]);
  if ("trouble" in devices) return devices.trouble;
  return devices.facts.length === 0 ? say("noGpu") : say("gpuDevice", { names: devices.facts.join(", ") });
}

function readCards(text: string): readonly string[] | undefined {
  const { stdout, exitCode } = readOutput(text);
  if (exitCode !== 0) return undefined;
  return outputLines(stdout).flatMap((line) => /(?:VGA|3D|Display)[^:]*: (.*)$/.exec(line)?.[1] ?? []);
}

function readDevices(text: string): readonly string[] | undefined {
  const { stdout, exitCode } = readOutput(text);
  return exitCode === 0 ? outputLines(stdout).filter((name) => /^(dri|nvidia\d+|kfd)$/.test(name)) : undefined;
}
