// Starts a PostgreSQL and a Redis on free ports, runs a command whose environment names them, and ends them with it.
// Runs on the pinned Node.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startPostgres } from "../tests/support/postgres-server.ts";
import { startRedis } from "../tests/support/redis-server.ts";

const [program = "", ...args] = process.argv.slice(2);
const [postgres, redis] = await Promise.all([startPostgres(["fsync=off", "max_connections=500"]), startRedis()]);
const env = {
  ...process.env,
  VIDRO_TEST_POSTGRES: `postgres://postgres@127.0.0.1:${postgres.port}/postgres`,
  VIDRO_TEST_REDIS: redis.url,
};
const child = spawn(program, args, { stdio: "inherit", env });
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => child.kill(signal));
const [code] = await once(child, "close");
await Promise.all([postgres.close(), redis.close()]);
process.exitCode = code ?? 1;
