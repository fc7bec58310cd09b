import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { OUTPUT_LIMITS } from "@vidro/core";
import type { Event } from "@vidro/core";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { until } from "../support/daemon-process.ts";
import { seedStore } from "../support/seed-store.ts";

/* Pipes that are left unread: what our processes write to them must not pile up in their memory. */

const LONG = { timeout: 120_000 };
const REQUESTS = 5000;
const CONNECTIONS = 4;
/** What lies in the pipe itself and in the first read of it. */
const PIPE_BYTES = 1024 * 1024;

/** What a process reads that has nothing to do: its threads wake each other. */
const NEARLY_NOTHING = 1000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(stage: Stage, ...words: readonly string[]): Child {
  const { argv, env } = stage.command;
  const [program = "", ...rest] = argv;
  return spawn(program, [...rest, ...words], { cwd: stage.workspace, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** Asks for the same thing again and again on one connection, and has all the answers. */
async function ask(port: number, times: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  let answers = 0;
  socket.on("data", (chunk: Buffer) => (answers += chunk.toString("latin1").split("HTTP/1.1 ").length - 1));
  socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: ${"r".repeat(60)}\r\n\r\n`.repeat(times));
  const isWaiting = (): boolean => answers < times;
  while (isWaiting()) await once(socket, "data");
  socket.destroy();
}

test(
  "G7 a daemon whose log is not read drops lines beyond a bound, and says how many when it is read again",
  LONG,
  async (t) => {
    await using stage = await Stage.set();
    const daemon = start(stage, "up", "--json", "--port", "0");
    t.after(() => daemon.kill("SIGKILL"));
    const [ready] = (await once(createInterface({ input: daemon.stdout }), "line")) as [string];
    const port = Number(new URL((JSON.parse(ready) as { url: string }).url).port);
    await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(port, REQUESTS)));
    let log = "";
    daemon.stderr.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
    await until("the log says what was dropped", () => /"dropped":\d+\}\n/.test(log));
    assert.ok(log.length < OUTPUT_LIMITS.unreadBytes + PIPE_BYTES, `${log.length} bytes of the log were kept`);
    await ask(port, 1);
    await until("the log goes on", () => lines(log).at(-1)?.["event"] === "http.answered");
    const dropped = lines(log).reduce((sum, line) => sum + Number(line["dropped"] ?? 0), 0);
    const kept = lines(log).filter(({ event }) => event === "http.answered").length;
    assert.equal(kept + dropped, REQUESTS * CONNECTIONS + 1);
  },
);

test(
  "G7 a command whose output is not read waits, and gives all of it to a reader that comes late",
  LONG,
  async (t) => {
    await using stage = await Stage.set();
    const note: Event = { type: "note.observed", note: "word ".repeat(800) };
    const entries = 10_000;
    await seedStore(stage.home, [
      { id: "run_long", thread: "t", task: "x", events: Array.from({ length: entries }, () => note) },
    ]);
    for (const words of [
      ["runs", "export", "run_long"],
      ["runs", "show", "run_long", "--json"],
    ]) {
      const child = start(stage, ...words);
      t.after(() => child.kill("SIGKILL"));
      const closed = once(child, "close");
      let before = -1;
      const read = (): number => Number(/^rchar: (\d+)/.exec(readFileSync(`/proc/${child.pid}/io`, "utf8"))?.[1]);
      await until("the command has come to rest", async () => {
        const last = before;
        before = read();
        await new Promise((resolve) => setTimeout(resolve, 200));
        return child.stdout.readableLength > 0 && before - last < NEARLY_NOTHING && read() - before < NEARLY_NOTHING;
      });
      assert.ok(before < (entries * 4000) / 2, `${before} bytes were read from the store before anything was taken`);
      let got = 0;
      for await (const _ of createInterface({ input: child.stdout })) got += 1;
      await closed;
      assert.equal(got, entries + 2, words.join(" "));
    }
  },
);
