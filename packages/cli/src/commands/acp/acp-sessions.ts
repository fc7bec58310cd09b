import { readFile, rename, writeFile } from "node:fs/promises";
import { ACP_LIMITS, Fault, isObject } from "@vidro/core";
import type { Json } from "@vidro/core";

/** A session of an editor: a conversation in a folder. */
export interface AcpSession {
  readonly cwd: string;
  /** The thread of its runs, once there is one. */
  readonly thread?: string;
  /** Its runs, oldest first. */
  readonly runs: readonly string[];
}

/** The sessions of editors, in a file of the home, so that an editor can load one again. */
export class AcpSessions {
  readonly #file: string;
  #known: Map<string, AcpSession> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** The session with that id; NOT_FOUND when there is none. */
  async find(id: string): Promise<AcpSession> {
    const session = (await this.#read()).get(id);
    if (session === undefined) throw new Fault("NOT_FOUND", `There is no session ${id}.`);
    return session;
  }

  /** Keeps a session; beyond the bound the oldest is forgotten. */
  async keep(id: string, session: AcpSession): Promise<void> {
    const known = await this.#read();
    known.delete(id);
    known.set(id, session);
    const [oldest] = known.size > ACP_LIMITS.sessions ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    const fresh = `${this.#file}.${process.pid}.new`;
    await writeFile(fresh, `${JSON.stringify(Object.fromEntries(known))}\n`, { mode: 0o600 });
    await rename(fresh, this.#file);
  }

  async #read(): Promise<Map<string, AcpSession>> {
    if (this.#known !== undefined) return this.#known;
    const text = await readFile(this.#file, "utf8").catch(() => "{}");
    const value = JSON.parse(text) as Json;
    this.#known = new Map(isObject(value) ? (Object.entries(value) as unknown as [string, AcpSession][]) : []);
    return this.#known;
  }
}
