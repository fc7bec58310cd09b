import { readFile, rename, writeFile } from "node:fs/promises";
import { ACP_LIMITS, Fault, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";

/** A session of an editor: a conversation in a folder. */
export interface AcpSession {
  readonly cwd: string;
  /** The thread of its runs, once there is one. */
  readonly thread?: string;
  /** Its runs, oldest first. */
  readonly runs: readonly string[];
}

/** The sessions of editors, in a file of the home, so that an editor can load one again; other processes may add some. */
export class AcpSessions {
  readonly #file: string;
  /** One change at a time: each reads the file, and writes it as a whole. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  /** The session with that id; NOT_FOUND when there is none. */
  async find(id: string): Promise<AcpSession> {
    await this.#last;
    const session = (await this.#read()).get(id);
    if (session === undefined) throw new Fault("NOT_FOUND", `There is no session ${id}.`);
    return session;
  }

  /** Keeps a session; beyond the bound the oldest is forgotten. */
  keep(id: string, session: AcpSession): Promise<void> {
    const kept = this.#last.then(() => this.#write(id, session));
    this.#last = kept.catch(() => undefined);
    return kept;
  }

  async #write(id: string, session: AcpSession): Promise<void> {
    const known = await this.#read();
    known.delete(id);
    known.set(id, session);
    const [oldest] = known.size > ACP_LIMITS.sessions ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    const fresh = `${this.#file}.${process.pid}.new`;
    await writeFile(fresh, `${JSON.stringify(Object.fromEntries(known))}\n`, { mode: 0o600 });
    await rename(fresh, this.#file);
  }

  /** What the file holds; a damaged one holds nothing that could be loaded. */
  async #read(): Promise<Map<string, AcpSession>> {
    const text = await readFile(this.#file, "utf8").catch(() => "{}");
    const entries = Object.entries(parsedOr({}, text));
    return new Map(entries.flatMap(([id, value]) => (isSession(value) ? [[id, value] as const] : [])));
  }
}

function parsedOr(otherwise: JsonObject, text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function isSession(value: unknown): value is AcpSession {
  if (!isObject(value)) return false;
  const { cwd, thread, runs } = value;
  const areRuns = Array.isArray(runs) && runs.every((run) => typeof run === "string");
  return typeof cwd === "string" && areRuns && (thread === undefined || typeof thread === "string");
}
