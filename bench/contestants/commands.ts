import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serveMember } from "../contest/member.ts";
import { medianMs } from "../contest/spread.ts";
import { run } from "./run.ts";
import { openSsh } from "./ssh.ts";

/* Those who run `true` otherwise than we do: on this machine, or over SSH. */

/** Who it is, how many hosts there are, and where their files may lie. */
export interface CommandSettings {
  readonly kind: "spawn" | "kept" | "ssh-held" | "ssh2" | "ssh";
  readonly hosts: number;
  readonly folder: string;
}

/** Runs `true` on the host of that number. */
export type Runs = (host: number) => Promise<void>;

await serveMember(async ({ kind, hosts, folder }: CommandSettings) => {
  const runs = await openRuns(kind, hosts, folder);
  const all = Array.from({ length: hosts }, (_, host) => host);
  return {
    ready: null,
    orders: {
      one: (times: number) => medianMs(times, () => runs(0)),
      all: (times: number) => medianMs(times, () => Promise.all(all.map((host) => runs(host)))),
    },
  };
});

async function openRuns(kind: CommandSettings["kind"], hosts: number, folder: string): Promise<Runs> {
  const here: Runs = () => run("/usr/bin/true", []);
  if (kind === "spawn") return here;
  if (kind !== "kept") return openSsh(kind, hosts, folder);
  const ledgers = Array.from({ length: hosts }, (_, host) => ledger(join(folder, `${host}.db`)));
  return async (host) => {
    const id = ledgers[host]?.begin();
    await here(host);
    ledgers[host]?.end(id);
  };
}

/** The least that keeps a command on record through a loss of power. */
function ledger(path: string): { begin(): number | bigint; end(id: number | bigint | undefined): void } {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE command (text, ended)");
  const begin = database.prepare("INSERT INTO command (text) VALUES (?)");
  const end = database.prepare("UPDATE command SET ended = ? WHERE rowid = ?");
  const outcome = JSON.stringify({ exitCode: 0, stdout: "", stderr: "" });
  return { begin: () => begin.run("true").lastInsertRowid, end: (id = 0) => void end.run(outcome, id) };
}
