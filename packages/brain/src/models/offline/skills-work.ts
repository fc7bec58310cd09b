import { OFFLINE_LIMITS } from "@vidro/core";
import { outputLines, readOutput } from "./read-output.ts";
import { readInterfaces, readListeners, readProcessList, readPs } from "./read-work.ts";
import type { ListedProcess, ListeningPort, ProcessList } from "./read-work.ts";
import { learn, runProgram, shortLine, tell, troubleWith, use } from "./skill.ts";
import type { Desk, Skill, Way } from "./skill.ts";
import type { Want } from "./want.ts";
import { bytes, percent, rows } from "./wording.ts";

/** Processes that the tool lists at most when they are searched by name. */
const SEARCHED_ROWS = 200;

function processWays(
  desk: Desk,
  input: { sort_by: "cpu" | "mem"; limit: number; name_pattern?: string },
): readonly Way<ProcessList>[] {
  return [
    { call: use(desk, "processes", input), read: readProcessList },
    { call: runProgram(desk, "ps", "-eo", "pid,user,pcpu,rss,args"), read: readPs },
  ];
}

/** Which processes use most CPU or memory. */
export function busiest(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const by = want.kind === "top-memory" ? "mem" : "cpu";
  const limit = Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
  return tell(desk, processWays(desk, { limit, sort_by: by }), (list) => {
    const lines = sortByUse(list.rows, by).map((row) => processWords(row, desk));
    const head = say(by === "cpu" ? "topCpu" : "topMemory", { total: list.total });
    return [head, ...lines.slice(0, limit).map((line) => `- ${line}`)].join("\n");
  });
}

function sortByUse(list: readonly ListedProcess[], by: "cpu" | "mem"): readonly ListedProcess[] {
  return list.toSorted((one, other) =>
    by === "cpu" ? other.cpuPercent - one.cpuPercent : other.memoryBytes - one.memoryBytes,
  );
}

/** How many processes there are. */
export function processCount(_want: Want, desk: Desk): Skill {
  return tell(desk, processWays(desk, { limit: 1, sort_by: "cpu" }), ({ total }) =>
    desk.say("processCount", { count: total }),
  );
}

/** Whether a process of a name is running; what looks for it does not count. */
export function tellRunning(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const name = want.name ?? "";
  return tell(desk, processWays(desk, { limit: SEARCHED_ROWS, sort_by: "cpu", name_pattern: name }), (list) => {
    const found = list.rows.filter((row) => isNamed(row, name) && !isOwn(row, name));
    if (found.length === 0) return say("noneNamed", { name: shortLine(name) });
    const lines = sortByUse(found, "cpu").map((row) => processWords(row, desk));
    return `${say("named", { name: shortLine(name), count: found.length })}\n${rows(lines, say, OFFLINE_LIMITS.rows)}`;
  });
}

/** The name is that of the program or of the script which it runs, and not any word of its arguments. */
function isNamed({ command }: ListedProcess, name: string): boolean {
  const wanted = name.toLowerCase();
  const parts = command
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => !word.startsWith("-"));
  const isNamedSo = (word: string) => (word.split("/").at(-1) ?? "").replace(/[:[\]()]/g, "").includes(wanted);
  return parts.slice(0, 2).some(isNamedSo) || (wanted === "vidro" && IS_VIDRO.test(command));
}

const IS_VIDRO = /(^|\/)vidro(\s|$)|packages\/cli\/(src|dist|bin)\/|\/lib\/vidro\//;

/** The command that asks, the daemon that answers unless it is asked for, and the `ps` that lists. */
function isOwn({ command }: ListedProcess, name: string): boolean {
  const isLooking = /(^|\/)(ps|pgrep|grep)\s/.test(command);
  const isAsked = /vidro/i.test(name) && !/\s(run|code)\s/.test(command);
  return isLooking || (IS_VIDRO.test(command) && !isAsked);
}

function processWords({ pid, user, cpuPercent, memoryBytes, command }: ListedProcess, { say }: Desk): string {
  const { commandChars } = OFFLINE_LIMITS;
  const shown = command.length > commandChars ? `${command.slice(0, commandChars)}…` : command;
  return `${percent(cpuPercent, say)} CPU, ${bytes(memoryBytes, say)}: ${shown} (pid ${pid}, ${user})`;
}

/** Which addresses the machine has. */
export function network(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, [{ call: runProgram(desk, "ip", "-br", "addr"), read: readInterfaces }], (interfaces) => {
    if (interfaces.length === 0) return say("noAddresses");
    const lines = interfaces.map(
      ({ name, isUp, addresses }) => `${name}: ${addresses.join(", ")}${isUp ? "" : ` (${say("down")})`}`,
    );
    return `${say("addresses")}\n${rows(lines, say, OFFLINE_LIMITS.rows)}`;
  });
}

/** Where packets for other networks go. */
export function gateway(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const read = (text: string) => (readOutput(text).exitCode === 0 ? readOutput(text).stdout : undefined);
  return tell(desk, [{ call: runProgram(desk, "ip", "route"), read }], (routes) => {
    const [, address, device = ""] = /^default via (\S+) dev (\S+)/m.exec(routes) ?? [];
    return address === undefined ? say("noGateway") : say("gateway", { gateway: address, device });
  });
}

/** Which servers resolve names. */
export function dns(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const path = "/etc/resolv.conf";
  const read = (text: string) => (readOutput(text).exitCode === 0 ? readOutput(text).stdout : undefined);
  const ways = [
    { call: use(desk, "read_file", { file_path: path }), read },
    { call: runProgram(desk, "cat", path), read },
  ];
  return tell(desk, ways, (text) => {
    const servers = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, server = ""]) => server);
    return servers.length === 0 ? say("noDns") : say("dns", { servers: servers.join(", ") });
  });
}

/** A host that answers everywhere, asked when no other is named. */
const ANY_HOST = "1.1.1.1";
const PING_SECONDS = "3";

const OWN_HOST = /^(localhost|127(\.\d+){3})$/i;

/** Whether another host answers; the policy of the hand asks before anything is sent. */
export function* reach(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const host = want.name ?? ANY_HOST;
  if (!/^[A-Za-z0-9][\w.:-]*$/.test(host)) return say("unreached", { host: shortLine(host) });
  // What this machine is to itself is told by its own addresses, without an approval.
  if (OWN_HOST.test(host)) {
    const own = yield* learn(desk, [{ call: runProgram(desk, "ip", "-br", "addr"), read: readInterfaces }]);
    const hasLoopback =
      "facts" in own && own.facts.some(({ addresses }) => addresses.some((each) => each.startsWith("127.")));
    if (hasLoopback) return say("reachedPlain", { host });
  }
  const ping = runProgram(desk, "ping", "-c", "1", "-W", PING_SECONDS, host);
  const learnt = yield* learn(desk, [{ call: ping, read: readPing }]);
  if ("facts" in learnt) return pingWords(host, learnt.facts, desk);
  if (learnt.isPersonsNo) return learnt.trouble;
  const call = runProgram(desk, "curl", "-sS", "-o", "/dev/null", "-m", "5", `http://${host}/`);
  if (call === undefined) return learnt.trouble;
  const result = yield call;
  // Both ways are named: a host that lacks `ping` is the reason for the question that was not answered.
  if (result.failed || result.forgotten) return `${learnt.trouble} ${troubleWith(call, result, say)}`;
  return say(readOutput(result.text).exitCode === 0 ? "reachedPlain" : "unreached", { host });
}

function pingWords(host: string, time: string, { say }: Desk): string {
  return time === "" ? say("unreached", { host }) : say("reached", { host, time: time.replace(".", say("decimal")) });
}

/** The milliseconds of the answer, empty when none came. */
function readPing(text: string): string | undefined {
  const { stdout, stderr } = readOutput(text);
  if (/1 (packets )?received/.test(stdout)) return /time=([\d.]+)/.exec(stdout)?.[1] ?? "0";
  return /0 (packets )?received|unreachable|unknown host|not known|Temporary failure/.test(stdout + stderr)
    ? ""
    : undefined;
}

/** Which process listens on which port, or on the one that is asked about. */
export function ports(want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tell(desk, listenerWays(desk), (listeners) => {
    if (want.number !== undefined) {
      const found = listeners.find(({ port }) => port === want.number);
      return found === undefined ? say("portFree", { port: want.number }) : `${listenerWords(found, desk)}.`;
    }
    if (listeners.length === 0) return say("nothingListens");
    const lines = listeners.map((listener) => listenerWords(listener, desk));
    return `${say("listening", { count: listeners.length })}\n${rows(lines, say, OFFLINE_LIMITS.quotedLines)}`;
  });
}

/** How listening ports are learnt. */
export function listenerWays(desk: Desk): readonly Way<readonly ListeningPort[]>[] {
  return [{ call: runProgram(desk, "ss", "-tlnp"), read: readListeners }];
}

function listenerWords({ port, addresses, owners }: ListeningPort, { say }: Desk): string {
  const names = owners.map(({ name, pid }) => `${name} (pid ${pid})`).join(", ");
  return say("port", { port, addresses: addresses.join(", "), owners: names === "" ? say("ownerUnknown") : names });
}

/** The lines of an output that ended well. */
export function goodLines(text: string): readonly string[] | undefined {
  const { stdout, exitCode } = readOutput(text);
  return exitCode === 0 ? outputLines(stdout) : undefined;
}
