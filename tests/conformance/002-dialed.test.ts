import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";

/** Starts a hand that listens, in a home of its own; gives its port when it is ready. */
async function serve(stage: Stage, port = 0): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = stage.start("hands", "serve", "--tcp", `127.0.0.1:${port}`, "--name", "web-2", "--json");
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  const { tcp } = JSON.parse(bytes.toString("utf8")) as { tcp: string };
  return { child, port: Number(tcp.split(":")[1]) };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function tokenOf(stage: Stage): Promise<string> {
  const [made] = lines((await stage.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
  return String(made?.["token"]);
}

async function shown(brain: Stage): Promise<{ readonly [field: string]: unknown } | undefined> {
  return lines((await brain.run("hands", "show", "web-2", "--json")).stdout)[0];
}

const NO_HAND = { flags: ["--port", "0", "--no-local-hand"] };

test("a hand that was dialled once works on after it, or the brain, was killed", async () => {
  await using host = await Stage.set();
  await using brain = await Stage.set();
  const token = await tokenOf(host);
  const first = await serve(host);
  await using daemon = await DaemonProcess.up(brain, NO_HAND);
  const address = `tcp://127.0.0.1:${first.port}`;
  const dialled = await brain.run("hands", "dial", address, "--token", token, "--tags", "web,eu", "--json");
  const [row] = lines(dialled.stdout);
  assert.deepEqual(
    [dialled.code, row?.["name"], row?.["state"], row?.["gateway"], row?.["tags"]],
    [0, "web-2", "ok", "agent-tcp", ["web", "eu"]],
    dialled.stderr,
  );
  assert.match(await (await daemon.ask("/metrics")).text(), /^vidro_hands\{state="ok"\} 1$/m);
  const tools = (await (await daemon.ask("/v1/tools")).json()) as { name: string }[];
  assert.ok(tools.some(({ name }) => name === "command"));
  const uname = async (): Promise<void> => {
    const { code, stdout, stderr } = await brain.run("hands", "exec", "web-2", "--", "uname", "-s");
    assert.deepEqual([code, stdout], [0, "Linux\n"], stderr);
  };
  await uname();
  const run = await brain.run("run", "--on", "tag:web", "--quiet", "where am I?");
  assert.match(run.stdout, new RegExp(host.workspace));

  await kill(first.child);
  await until("the hand is down", async () => (await shown(brain))?.["state"] === "down");
  const second = await serve(host, first.port);
  await uname();

  await daemon.end("SIGKILL");
  await using next = await DaemonProcess.up(brain, NO_HAND);
  await uname();

  assert.equal((await brain.run("hands", "revoke", "web-2")).code, 0);
  assert.equal((await brain.run("hands", "exec", "web-2", "--", "true")).code, 5);
  assert.match(await (await next.ask("/metrics")).text(), /^vidro_hands\{state="ok"\} 0$/m);
  const again = await brain.run("hands", "dial", address, "--token", token, "--json");
  assert.equal(lines(again.stdout)[0]?.["state"], "ok");
  assert.notEqual(lines(again.stdout)[0]?.["id"], row?.["id"]);
  await uname();
  await kill(second.child);
});

test("a token that the hand does not know is the reason that is shown, until it is dialled with another", async () => {
  await using host = await Stage.set();
  await using brain = await Stage.set();
  const token = await tokenOf(host);
  const { port } = await serve(host);
  const address = `tcp://127.0.0.1:${port}`;
  const alone = await brain.run("hands", "dial", address, "--token", token);
  assert.equal(alone.code, 7, alone.stderr);
  assert.match(alone.stderr, /No daemon is up/);
  await using daemon = await DaemonProcess.up(brain, { flags: ["--port", "0"] });
  const wrong = await brain.run("hands", "dial", address, "--token", "no.body", "--name", "web-2");
  assert.equal(wrong.code, 0);
  assert.match(wrong.stderr, /^web-2 is down: It refuses us: INVALID_TOKEN: /);
  assert.match((await brain.run("hands", "show", "web-2")).stdout, /state: {3}down: It refuses us: INVALID_TOKEN/);
  const child = brain.start("hands", "dial", address, "--token", "-", "--name", "web-2");
  child.stdin.end(`${token}\n`);
  const [code] = (await once(child, "close")) as [number];
  assert.deepEqual([code, (await shown(brain))?.["state"]], [0, "ok"]);

  const elsewhere = await brain.run("hands", "dial", "tcp://192.0.2.1:4000", "--token", token);
  assert.equal(elsewhere.code, 2);
  assert.match(elsewhere.stderr, /with tls:\/\/; --lab/);
  const { url } = daemon;
  const made = await brain.run("tokens", "create", "--owner", "ana", "--json");
  const authorization = `Bearer ${String(lines(made.stdout)[0]?.["token"])}`;
  const refused = await fetch(`${url}/v1/hands/dialed`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ url: address, token }),
  });
  assert.equal(refused.status, 403);
});
