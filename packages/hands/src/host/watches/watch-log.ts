import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { asFault, Fault, WATCH_LIMITS, HAND_LIMITS } from "@vidro/core";
import { closeFileToOthers } from "../../files/own-files.ts";

/*
 * Watches and their events in a database of the hand's state, so that a watch continues after a restart. Events are not
 * effects: a power cut may lose the last of them, a crash of the hand does not.
 */

const VERSION = 1;
const TOKEN_BYTES = 18;

const SCHEMA = `
  CREATE TABLE watch (
    token TEXT PRIMARY KEY, path TEXT NOT NULL, started_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    events INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE event (
    token TEXT NOT NULL REFERENCES watch (token) ON DELETE CASCADE,
    seq INTEGER NOT NULL, type TEXT NOT NULL, file TEXT NOT NULL, at INTEGER NOT NULL, why TEXT,
    PRIMARY KEY (token, seq)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${VERSION};`;

/** Kinds of events of a watch. */
export type WatchEventType = "add" | "addDir" | "modify" | "unlink" | "unlinkDir" | "error";

/** An event of a watch. */
export interface WatchEvent {
  readonly seq: number;
  readonly type: WatchEventType;
  /** Absolute. */
  readonly file: string;
  readonly at: number;
  /** The reason of an error. */
  readonly why?: string;
}

/** A path that is watched until it expires. */
export interface Watch {
  /** Bearer token for reading this watch's events. */
  readonly token: string;
  readonly path: string;
  readonly startedAt: number;
  readonly expiresAt: number;
}

/** Selects and orders events. */
export interface EventQuery {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly order: "asc" | "desc";
  /** Only events after this seq, in that order. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/** Watches and events on disk; throws STORE_NEWER, or LEDGER_UNWRITABLE when the disk fails. */
export class WatchLog {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;

  constructor(path: string) {
    closeFileToOthers(path);
    this.#database = new DatabaseSync(path, { timeout: HAND_LIMITS.databaseBusyMs });
    try {
      this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
      migrate(this.#database);
      this.#add = this.#database.prepare(
        "INSERT INTO event (token, seq, type, file, at, why) VALUES (?, ?, ?, ?, ?, ?)",
      );
    } catch (cause) {
      this.#database.close();
      if (cause instanceof Fault) throw cause;
      throw new Fault("LEDGER_UNWRITABLE", `${path} cannot be used: ${asFault(cause).message}.`, { cause });
    }
  }

  /** Creates a watch with a new token. */
  create(path: string, startedAt: number, expiresAt: number): Watch {
    const watch = { token: `W-${randomBytes(TOKEN_BYTES).toString("base64url")}`, path, startedAt, expiresAt };
    this.#database
      .prepare("INSERT INTO watch (token, path, started_at, expires_at) VALUES (?, ?, ?, ?)")
      .run(watch.token, path, startedAt, expiresAt);
    return watch;
  }

  /** Deletes a watch and its events. */
  drop(token: string): void {
    this.#database.prepare("DELETE FROM watch WHERE token = ?").run(token);
  }

  /** A watch by its token. */
  find(token: string): Watch | undefined {
    const row = this.#database.prepare("SELECT * FROM watch WHERE token = ?").get(token);
    return row === undefined ? undefined : watchOf(row);
  }

  /** The watches that have not expired. */
  open(now: number): readonly Watch[] {
    return this.#database.prepare("SELECT * FROM watch WHERE expires_at > ?").all(now).map(watchOf);
  }

  /** Appends events; beyond the bound, one error event says that there were more. */
  keep(token: string, events: readonly Omit<WatchEvent, "seq">[]): void {
    this.#transaction(() => {
      let kept = Number(
        this.#database.prepare("SELECT events FROM watch WHERE token = ?").get(token)?.["events"] ?? -1,
      );
      if (kept < 0 || kept > WATCH_LIMITS.events) return;
      for (const { type, file, at, why } of events) {
        kept += 1;
        if (kept > WATCH_LIMITS.events) {
          this.#add.run(
            token,
            kept,
            "error",
            file,
            at,
            `More than ${WATCH_LIMITS.events} events; the others are not kept.`,
          );
          break;
        }
        this.#add.run(token, kept, type, file, at, why ?? null);
      }
      this.#database.prepare("UPDATE watch SET events = ? WHERE token = ?").run(kept, token);
    });
  }

  /** The events of a watch. */
  events(token: string, { since, until, order, after, limit }: EventQuery): readonly WatchEvent[] {
    const where: string[] = ["token = ?"];
    const values: SQLInputValue[] = [token];
    const only = (clause: string, value: number | undefined): void => {
      if (value === undefined) return;
      where.push(clause);
      values.push(value);
    };
    only("at >= ?", since);
    only("at <= ?", until);
    only(order === "asc" ? "seq > ?" : "seq < ?", after);
    const sql = `SELECT * FROM event WHERE ${where.join(" AND ")} ORDER BY seq ${order} LIMIT ?`;
    return this.#database
      .prepare(sql)
      .all(...values, limit)
      .map(eventOf);
  }

  /** Deletes watches that expired long ago, and the oldest beyond the bound. */
  prune(now: number): void {
    this.#database.prepare("DELETE FROM watch WHERE expires_at < ?").run(now - WATCH_LIMITS.keptMs);
    this.#database
      .prepare("DELETE FROM watch WHERE token IN (SELECT token FROM watch ORDER BY expires_at DESC LIMIT -1 OFFSET ?)")
      .run(WATCH_LIMITS.kept);
  }

  close(): void {
    this.#database.close();
  }

  #transaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (thrown) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw thrown;
    }
  }
}

type Row = { readonly [column: string]: unknown };

function watchOf(row: Row): Watch {
  return {
    token: String(row["token"]),
    path: String(row["path"]),
    startedAt: Number(row["started_at"]),
    expiresAt: Number(row["expires_at"]),
  };
}

function eventOf(row: Row): WatchEvent {
  const { type, file, why } = row;
  const event = { seq: Number(row["seq"]), type: type as WatchEventType, file: String(file), at: Number(row["at"]) };
  return typeof why === "string" ? { ...event, why } : event;
}

function migrate(database: DatabaseSync): void {
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > VERSION)
    throw new Fault("STORE_NEWER", `The watches are of version ${version}; this Vidro knows version ${VERSION}.`);
  if (version === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
}
