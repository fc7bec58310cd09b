import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { doneLine, scriptedModel } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

const line = (tool: string, args: object): string => JSON.stringify({ action: "use_tool", name: tool, args });

/** A port of this machine that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A server that says what it is asked for. */
const serving = (port: number): string =>
  `require("http").createServer((q, s) => { console.log("asked " + q.url); s.end("hello"); }).listen(${port}, "127.0.0.1", () => console.log("up"))`;

test("a model starts a server in the background, asks it with a second action, reads its log and stops it", async () => {
  const port = await freePort();
  const node = process.execPath;
  const asking = `fetch("http://127.0.0.1:${port}/page").then((r) => r.text()).then(console.log)`;
  await using model = await scriptedModel(
    line("start_process", { command: node, args: ["-e", serving(port)], name: "web" }),
    line("read_output", { process: "web", cursor: 0, wait_ms: 20_000 }),
    line("command", { command: node, args: ["-e", asking] }),
    line("read_output", { process: "web", cursor: 3, wait_ms: 20_000 }),
    line("stop_process", { process: "web" }),
    doneLine("served"),
  );
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout } = await stage.run("run", "--json", "--yes", "serve the page");
  assert.equal(code, 0);
  const outcomes = lines(stdout).flatMap((one) => (one["event"] === "action.finished" ? [JSON.stringify(one)] : []));
  assert.equal(outcomes.length, 5);
  for (const [at, pattern] of [/Started web/, /up/, /hello/, /asked \/page/, /web ended with SIGTERM/].entries())
    assert.match(outcomes[at] ?? "", pattern);
  const shown = await stage.run("runs", "show", "--last");
  assert.match(shown.stdout, /background ends with the run[^]*✓ stop_process web/);
});

test("a process that a person lets go on after its run is listed, shown and stopped by a command", async () => {
  await using model = await scriptedModel(
    line("start_process", { line: "echo kept and well; sleep 1000", name: "kept", keep: true }),
    doneLine("started"),
  );
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  assert.equal((await stage.run("run", "--yes", "start it")).code, 0);
  const listed = await stage.run("processes", "list");
  assert.match(listed.stdout, /^NAME +HAND +STATE +COMMAND\nkept +local +runs +.*sleep 1000'\n$/);
  assert.match((await stage.run("processes", "show", "kept")).stdout, /^kept and well\n\[kept runs; cursor 14\]\n$/);
  assert.match((await stage.run("processes", "stop", "kept")).stderr, /kept ended with SIGTERM because it was stopped/);
  assert.match((await stage.run("processes", "list")).stdout, /kept +local +ended/);
  const absent = await stage.run("processes", "show", "absent");
  assert.notEqual(absent.code, 0);
  assert.match(absent.stderr, /No hand has a process "absent"/);
});

test("nothing is left of a process in the background when its brain and hand are killed", async () => {
  const running = (mark: string): readonly string[] =>
    readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
      } catch {
        return false;
      }
    });
  const mark = `10${process.pid}`;
  await using model = await scriptedModel(
    line("start_process", { line: `(setsid sleep ${mark} &); trap '' TERM; sleep ${mark}` }),
    new Promise<string>(() => undefined),
  );
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "serve");
  const told = await new Promise<string>((resolve) => {
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('"action.finished"')) resolve(output);
    });
  });
  assert.match(told, /Started p1/);
  while (running(`sleep\0${mark}`).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGKILL");
  await once(child, "close");
  while (running(`sleep\0${mark}`).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
});
