// @ts-nocheck
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { assertLoopback, freePort } from "../contest/loopback.ts";
import { ANSWER, callAt, inputAt, OUTPUT, TASK, TOOL, wordsAt } from "../contest/script.ts";
import { server } from "./child.js";

/** DBOS on PostgreSQL with its own defaults: each model call and each tool call is a step, whose outcome is committed. */
export async function durable(folder) {
  const { url, end } = await postgres(folder);
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error", systemDatabasePoolSize: 64 });
  const scripts = new Map();
  let runs = 0;
  const agent = DBOS.registerWorkflow(
    async (run) => {
      const { steps, called } = scripts.get(run);
      const messages = [{ role: "user", text: TASK }];
      for (let step = 1; ; step += 1) {
        const reply = await DBOS.runStep(async () => model(step, steps, called), { name: "model" });
        messages.push(reply);
        if (reply.call === undefined) return reply.text;
        messages.push(await DBOS.runStep(async () => ({ role: "tool", text: OUTPUT }), { name: "tool" }));
      }
    },
    { name: "agent" },
  );
  await DBOS.launch();
  assertLoopback(process.pid);
  return {
    async run(steps, called) {
      runs += 1;
      const run = `run-${runs}`;
      scripts.set(run, { steps, called });
      if ((await agent(run)) !== ANSWER) throw new Error("The run did not come to its end.");
      scripts.delete(run);
    },
    async close() {
      await DBOS.shutdown();
      await end();
    },
  };
}

function model(step, steps, called) {
  called?.(step);
  if (step > steps) return { role: "assistant", text: ANSWER };
  const call = { id: callAt(step), tool: TOOL.name, input: inputAt(step) };
  return { role: "assistant", text: wordsAt(step), call };
}

/** PostgreSQL as Debian ships it, in the folder; it refuses to run as root and then runs as its own user. */
async function postgres(folder) {
  const bin = programs();
  const data = join(folder, "postgres");
  mkdirSync(data, { mode: 0o700 });
  const who = process.getuid() === 0 ? owner("postgres") : {};
  if (who.uid !== undefined) {
    chownSync(folder, who.uid, who.gid);
    chownSync(data, who.uid, who.gid);
  }
  const made = spawnSync(join(bin, "initdb"), ["-D", data, "-U", "bench", "-A", "trust"], { ...who, cwd: data });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories="];
  const { pid, end } = await server(join(bin, "postgres"), ["-D", data, ...settings.flatMap((it) => ["-c", it])], {
    ...who,
    cwd: data,
    probe: () => answers(port),
  });
  assertLoopback(pid);
  return { url: `postgresql://bench@127.0.0.1:${port}/bench`, end };
}

function programs() {
  const root = "/usr/lib/postgresql";
  const newest = existsSync(root) ? readdirSync(root).sort().at(-1) : undefined;
  if (newest === undefined) throw new Error("PostgreSQL is not installed.");
  return join(root, newest, "bin");
}

function owner(name) {
  const id = (flag) => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

function answers(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket.destroy())).on("error", reject);
  });
}
