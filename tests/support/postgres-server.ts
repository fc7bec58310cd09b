import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

/** A PostgreSQL server that lives for one test file. */
export interface PostgresServer {
  readonly port: number;
  /** The address of a store in a schema of its own; the same name gives the same store. */
  storeUrl(schema: string): string;
  /** Does SQL as its administrator. */
  query(sql: string): Promise<readonly { readonly [column: string]: unknown }[]>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port after it was killed. */
  start(): Promise<void>;
  /** Ends it and deletes its files. */
  close(): Promise<void>;
}

const READY_MS = 30_000;

/** Starts a server on a free port as the user `postgres`, or as the own user where that is not root. */
export async function startPostgres(settings: readonly string[] = ["fsync=off"]): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-postgres-"));
  const user = runAs();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const options = { ...user, cwd: folder };
  const made = spawnSync(program("initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"], options);
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr.toString()}`);
  const port = await freePort();
  const flags = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, ...settings];
  const args = ["-D", data, "-p", String(port), ...flags.flatMap((flag) => ["-c", flag])];
  let child: ReturnType<typeof spawn> | undefined;
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const query = async (sql: string): Promise<readonly { [column: string]: unknown }[]> => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async (): Promise<void> => {
    child = spawn(program("postgres"), args, { ...options, stdio: "ignore" });
    await untilReady(() => query("SELECT 1"));
  };
  const kill = async (): Promise<void> => {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    // An immediate shutdown: no checkpoint, connections cut, its processes gone.
    child.kill("SIGQUIT");
    await gone;
  };
  process.once("exit", () => child?.kill("SIGQUIT"));
  await start();
  return {
    port,
    storeUrl: (schema) => `${url}?schema=${schema}`,
    query,
    kill,
    start,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function untilReady(look: () => Promise<unknown>): Promise<void> {
  for (const until = performance.now() + READY_MS; ;) {
    try {
      await look();
      return;
    } catch (thrown) {
      if (performance.now() > until) throw thrown;
      await delay(20);
    }
  }
}

/** The newest version of a program of the server; Debian keeps them out of the path. */
function program(name: string): string {
  const root = "/usr/lib/postgresql";
  const versions = readdirSync(root).sort((one, other) => Number(other) - Number(one));
  return join(root, versions[0] ?? "", "bin", name);
}

/** The server refuses to run as root. */
function runAs(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(spawnSync("id", [flag, "postgres"]).stdout.toString());
  return { uid: id("-u"), gid: id("-g") };
}
