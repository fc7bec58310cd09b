import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { findDaemon } from "@vidro/brain/daemon-file";
import { BACKGROUND_LIMITS, Fault, isObject, KIB } from "@vidro/core";
import type { Json } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { readLastLines } from "@vidro/hands/background";
import { EXIT } from "../program/exit-codes.ts";
import { print, printText, waitForReader } from "../program/output.ts";
import { homeFolder } from "../program/settings.ts";
import { paint } from "../view/symbols.ts";
import { daemonLogFile } from "./background-daemon.ts";

/** Flags of `vidro logs`. */
interface LogFlags {
  readonly follow?: boolean;
  readonly lines: number;
  readonly json?: boolean;
}

/** Shows the last lines of the daemon's log, and goes on with the next ones when asked to. */
export async function showLogs({ follow = false, lines: count, json = false }: LogFlags): Promise<number> {
  const path = await logFile();
  // What is written from here on is for the follower.
  const to = statSync(path).size;
  const newest = readLastLines(path, count, { to });
  const older = newest.length < count ? readLastLines(`${path}.1`, count - newest.length) : [];
  const take = (line: string): void => (json ? printText(line) : print(logWords(line)));
  [...older, ...newest].forEach(take);
  if (!follow) return EXIT.ok;
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort()).once("SIGTERM", () => stop.abort());
  const follower = new FileFollower(path, to);
  while (!stop.signal.aborted) {
    follower.read(take);
    await waitForReader(stop.signal);
    await new Promise((resolve) => setTimeout(resolve, BACKGROUND_LIMITS.lookMs));
  }
  return EXIT.ok;
}

/** The log file of the running daemon, else that of the last one in the background; NOT_FOUND when there is none. */
async function logFile(): Promise<string> {
  const home = homeFolder();
  const daemon = await findDaemon(home);
  if (daemon !== undefined && daemon.log === undefined) {
    const where = daemon.args.includes("--supervised")
      ? "its service: journalctl -u vidro"
      : "the terminal that it is on";
    throw new Fault("NOT_FOUND", `The daemon, process ${daemon.pid}, logs to ${where}.`);
  }
  const path = daemon?.log ?? daemonLogFile(home);
  if (!existsSync(path)) throw new Fault("NOT_FOUND", "No daemon has run in the background here yet: vidro up -d");
  return path;
}

/** A line of the log for people: its time here, level, sentence, name and fields; another line as it is. */
function logWords(line: string): string {
  const said = parseLine(line);
  if (!isObject(said)) return line;
  const { timestamp, level, event, message, ...fields } = said;
  const at = typeof timestamp === "string" ? new Date(timestamp).toLocaleTimeString("sv") : "";
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${words(value)}`);
  const colour = level === "error" ? "red" : level === "warn" ? "yellow" : "dim";
  return [
    at,
    paint(colour, words(level).padEnd(5)),
    words(message),
    paint("dim", [words(event), ...rest].join(" ")),
  ].join(" ");
}

function parseLine(line: string): Json {
  try {
    return parseJson(line);
  } catch {
    return null;
  }
}

function words(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** Reads the lines that are written to a file, also when a new file takes its place. */
class FileFollower {
  readonly #path: string;
  readonly #chunk = Buffer.alloc(CHUNK_KIB * KIB);
  #file: number;
  #at: number;
  #decoder = new StringDecoder("utf8");
  #rest = "";

  /** Begins at a position. */
  constructor(path: string, at: number) {
    this.#path = path;
    this.#file = openSync(path, "r");
    this.#at = at;
  }

  /** Gives each whole line that was written since the last call. */
  read(take: (line: string) => void): void {
    this.#drain(take);
    const now = statSync(this.#path, { throwIfNoEntry: false });
    if (now === undefined || (now.ino === fstatSync(this.#file).ino && now.size >= this.#at)) return;
    // The last lines of the file that was replaced.
    this.#drain(take);
    closeSync(this.#file);
    this.#file = openSync(this.#path, "r");
    [this.#at, this.#rest, this.#decoder] = [0, "", new StringDecoder("utf8")];
    this.#drain(take);
  }

  #drain(take: (line: string) => void): void {
    for (let read; (read = readSync(this.#file, this.#chunk, 0, this.#chunk.length, this.#at)) > 0; this.#at += read) {
      const lines = (this.#rest + this.#decoder.write(this.#chunk.subarray(0, read))).split("\n");
      this.#rest = lines.pop() ?? "";
      lines.forEach(take);
    }
  }
}

const CHUNK_KIB = 64;
