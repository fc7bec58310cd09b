import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "node:tls";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import type { Line } from "../../packages/cli/src/stage.fixture.ts";
import { makeCertificate } from "../support/certificate.ts";
import { until } from "../support/daemon-process.ts";
import { listeningPorts } from "../support/listening-ports.ts";
import { ServingProcess } from "../support/serving-process.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

/* Signals that do not ask a process to end do not end it: real processes, and the ports that they listen on. */

const { hand: HAND } = bundledCommands();

const up = (stage: Stage, ...flags: readonly string[]): Promise<ServingProcess> =>
  ServingProcess.start(stage, [...stage.command.argv, "up", "--json", "--port", "0", ...flags]);

async function finished(stage: Stage, { url }: ServingProcess, task: string): Promise<Line> {
  const token = (await stage.run("tokens", "create", "--scopes", "*", "--json")).stdout;
  const authorization = `Bearer ${String(lines(token)[0]?.["token"])}`;
  const headers = { authorization, "content-type": "application/json" };
  const made = await fetch(`${url}/v1/runs`, { method: "POST", headers, body: JSON.stringify({ task }) });
  const { id } = (await made.json()) as { id: string };
  let head: Line = { body: {} };
  await until("the run ends or asks", async () => {
    head = (await (await fetch(`${url}/v1/runs/${id}`, { headers })).json()) as Line;
    return head["status"] !== "running";
  });
  return head;
}

test("a daemon outlives SIGHUP, SIGUSR1 and SIGUSR2, and opens no port for a debugger", async () => {
  await using stage = await Stage.set();
  await using daemon = await up(stage);
  const ports = listeningPorts(daemon.pid);
  await daemon.hears("SIGUSR1", '"signal":"SIGUSR1"');
  await daemon.hears("SIGUSR2", '"signal":"SIGUSR2"');
  await daemon.hears("SIGHUP", '"what":"agents"');
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) daemon.child.kill(signal);
  await daemon.hears("SIGHUP", '"what":"agents"', 2);
  assert.equal((await fetch(`${daemon.url}/healthz`)).status, 200);
  assert.deepEqual(listeningPorts(daemon.pid), ports);
  assert.equal(daemon.log.split('"signal":"SIGUSR').length - 1, 2, "each is told once");
  const gone = once(daemon.child, "exit");
  daemon.child.kill("SIGTERM");
  assert.deepEqual(await gone, [0, null]);
});

test("SIGHUP reads policy and agents anew, and a file that cannot be used leaves the one before in force", async () => {
  await using stage = await Stage.set();
  await using daemon = await up(stage);
  assert.equal((await finished(stage, daemon, "which files are here?"))["status"], "finished");
  const asksAlways = JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [] });
  await writeFile(join(stage.home, "policy.json"), asksAlways);
  await mkdir(join(stage.home, "agents"));
  await writeFile(join(stage.home, "agents", "mole.md"), "---\nname: mole\n---\nYou dig.\n");
  await daemon.hears("SIGHUP", '"what":"agents"');
  assert.equal((await finished(stage, daemon, "which files are here?"))["status"], "asking");
  assert.match((await stage.run("agents", "list", "--json")).stdout, /"mole"/);
  await writeFile(join(stage.home, "policy.json"), "{");
  await writeFile(join(stage.home, "agents", "mole.md"), "no head");
  await daemon.hears("SIGHUP", "settings.reload_failed", 2);
  const told = lines(daemon.log).filter(({ event }) => event === "settings.reload_failed");
  assert.deepEqual(
    told.map(({ what, level }) => [what, level]),
    [
      ["policy", "warn"],
      ["agents", "warn"],
    ],
  );
  assert.match(String(told[0]?.["reason"]), /policy\.json is no JSON/);
  assert.equal((await finished(stage, daemon, "which files are here?"))["status"], "asking");
});

test("SIGHUP has new connections see a new certificate, and never half of one", async () => {
  await using stage = await Stage.set();
  const { cert, key } = makeCertificate(stage.workspace, "127.0.0.1");
  await using daemon = await up(stage, "--tls-cert", cert, "--tls-key", key);
  const shown = async (): Promise<string> => {
    const socket = connect({ port: Number(new URL(daemon.url).port), host: "127.0.0.1", rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const first = await shown();
  makeCertificate(stage.workspace, "127.0.0.1");
  assert.equal(await shown(), first);
  await daemon.hears("SIGHUP", '"what":"TLS certificate"');
  const second = await shown();
  assert.notEqual(second, first);
  await writeFile(cert, "rubbish");
  await daemon.hears("SIGHUP", "settings.reload_failed");
  assert.equal(await shown(), second);
});

test("a hand that listens outlives the same signals, and reads its policy anew", async () => {
  await using stage = await Stage.set();
  await mkdir(stage.home, { mode: 0o700, recursive: true });
  await writeFile(join(stage.home, "tokens.json"), JSON.stringify({ tokens: [] }), { mode: 0o600 });
  const [node = "", ...flags] = stage.command.argv.slice(0, -1);
  const tcp = ["serve", "--tcp", "127.0.0.1:0", "--json"];
  for (const argv of [
    [node, ...flags, HAND, ...tcp, "--state", stage.home],
    [...stage.command.argv, "hands", ...tcp],
  ]) {
    await writeFile(join(stage.home, "policy.json"), JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [] }));
    await using hand = await ServingProcess.start(stage, argv);
    const ports = listeningPorts(hand.pid);
    await hand.hears("SIGUSR1", "SIGUSR1: a signal does nothing here");
    await hand.hears("SIGUSR2", "SIGUSR2: a signal does nothing here");
    await hand.hears("SIGHUP", "policy: read anew");
    await writeFile(join(stage.home, "policy.json"), "{");
    await hand.hears("SIGHUP", "policy: cannot be read anew; the one before stays in force");
    assert.deepEqual(listeningPorts(hand.pid), ports);
  }
});

test("a hand that joins outlives the same signals, while the brain has yet to answer and when it has joined", async () => {
  await using stage = await Stage.set();
  await using daemon = await up(stage, "--southbound-port", "0");
  const [letter] = lines((await stage.run("hands", "invite", "--installed", "--name", "host", "--json")).stdout);
  const [node = "", ...flags] = stage.command.argv.slice(0, -1);
  const joining = (url: string): readonly string[] => {
    const how = ["--token", String(letter?.["token"]), "--state", join(stage.home, "joining"), "--json"];
    return [...flags, HAND, "join", url, ...how];
  };
  await using silent = createServer((socket) => socket.on("error", () => undefined).resume()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const asked = once(silent, "connection");
  const child = spawn(node, joining(`wss://127.0.0.1:${port}/southbound`), { env: stage.command.env });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  const gone = once(child, "exit");
  await Promise.race([asked, gone]);
  child.kill("SIGHUP");
  child.kill("SIGUSR1");
  await until("it has heard both", () => {
    assert.equal(child.exitCode ?? child.signalCode, null, log);
    return log.includes("SIGUSR1: a signal does nothing here");
  });
  child.kill("SIGKILL");
  await gone;
  await using hand = await ServingProcess.start(stage, [node, ...joining(String(daemon.ready["southbound"]))]);
  await hand.hears("SIGHUP", "policy: read anew");
});

test("a run whose terminal is gone is left open and goes on later", async () => {
  await using stage = await Stage.set();
  const child = stage.start("run", "--json", "run `sleep 60`", "--yes");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
    await until("the command runs", () => said.includes("action.started"));
    child.kill(signal);
  }
  assert.deepEqual(listeningPorts(child.pid ?? 0), []);
  const gone = once(child, "exit");
  child.kill("SIGHUP");
  assert.deepEqual(await gone, [129, null]);
  const [run] = lines((await stage.run("runs", "list", "--json", "--open")).stdout);
  assert.equal(run?.["status"], "running");
});
