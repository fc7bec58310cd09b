import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { closeDelimited, fakeOpenAi, text } from "../support/fake-openai.ts";

/* G12: no request, model or hand ends the daemon; an error outside a guard ends only what it belongs to. */

async function statusOf(daemon: DaemonProcess, run: string): Promise<string> {
  return ((await (await daemon.ask(`/v1/runs/${run}`)).json()) as { status: string }).status;
}

test("G12 F35 a run is aborted while its model streams a body that only the end of the connection ends", async () => {
  const fake = await fakeOpenAi(closeDelimited("half an answer"), text("whole"));
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
  await using daemon = await DaemonProcess.up(stage);
  const asked = fake.next();
  const run = await daemon.run("say something");
  const { over } = await asked;
  const aborted = await daemon.ask(`/v1/runs/${run}/abort`, { method: "POST", body: "{}" });
  assert.ok(aborted.ok, await aborted.text());
  assert.equal(await over, "cut");
  assert.equal(await statusOf(daemon, run), "aborted");
  const next = await daemon.run("say something else");
  await until("the next run finishes", async () => (await statusOf(daemon, next)) === "finished");
  assert.match(await (await daemon.ask("/metrics")).text(), /^vidro_uncaught_errors_total 0$/m);
  await fake.close();
});

test("G12 invariant 10: an error that escapes from a run's code ends that run by a trace id, is logged whole, and is counted", async () => {
  const fake = await fakeOpenAi(text("whole"));
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
  // The preload makes the client of the model's server throw in a timer, where no guard of the run can catch it.
  const saboteur = new URL("../support/throwing-request.ts", import.meta.url).pathname;
  await using daemon = await DaemonProcess.up(stage, { node: ["--import", saboteur] });
  const hurt = await daemon.run("sabotage this one");
  await until("the run has failed", async () => (await statusOf(daemon, hurt)) === "failed");
  const entries = await (
    await daemon.ask(`/v1/runs/${hurt}/events`, { headers: { accept: "application/x-ndjson" } })
  ).text();
  const [, trace = ""] = /an error outside every guard \(trace ([\w-]+)\)/.exec(entries) ?? [];
  assert.ok(trace !== "", entries);
  await until("the log has the stack", () => daemon.log.includes(trace));
  const line = daemon.log.split("\n").find((one) => one.includes(trace) && one.includes("error.contained")) ?? "";
  assert.match((JSON.parse(line) as { stack: string }).stack, /an error outside every guard\n\s+at /);
  assert.match(await (await daemon.ask("/metrics")).text(), /^vidro_uncaught_errors_total 1$/m);
  const next = await daemon.run("leave this one alone");
  await until("the next run finishes", async () => (await statusOf(daemon, next)) === "finished");
  await fake.close();
});

test("G12 an error that reaches the process of a hand is told whole and does not end the hand", async () => {
  await using stage = await Stage.set();
  const { argv, env } = stage.command;
  const [program = "", ...rest] = argv;
  const saboteur = new URL("../support/throwing-when-ready.ts", import.meta.url).pathname;
  const words = ["hands", "serve", "--tcp", "127.0.0.1:0", "--json"];
  const hand = spawn(program, ["--import", saboteur, ...rest, ...words], { cwd: stage.workspace, env });
  const [ready] = (await once(createInterface({ input: hand.stdout }), "line")) as [string];
  const [said] = (await once(hand.stderr, "data")) as [Buffer];
  assert.match(
    said.toString("utf8"),
    /an error reached the process, which goes on: Error: an error outside every guard/,
  );
  const [, port = ""] = /:(\d+)$/.exec((JSON.parse(ready) as { tcp: string }).tcp) ?? [];
  const caller = connect(Number(port), "127.0.0.1");
  const [hello] = (await once(caller, "data")) as [Buffer];
  assert.match(hello.toString("utf8"), /"t":"hello"/);
  caller.destroy();
  const ended = once(hand, "exit");
  hand.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});
