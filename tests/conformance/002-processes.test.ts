import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { TcpClient } from "@vidro/client/tcp";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

const { hand: HAND } = bundledCommands();
const EFFECT = ["-c", "echo x >> mark; sleep 30"];
/** A policy that lets one line of bash run, and the workspace be read. */
const POLICY = {
  trusted: ["/bin/*", "/usr/bin/*"],
  secrets: [],
  env: { "*": "any" },
  rules: [
    {
      kind: "process",
      id: "effect",
      program: ["bash"],
      arguments: { exact: [EFFECT] },
      class: "code-exec",
      decision: "allow",
      examples: { match: [["bash", ...EFFECT]], not_match: [["bash"]] },
    },
    {
      kind: "file",
      id: "look",
      operations: ["read"],
      inWorkspace: true,
      class: "read",
      decision: "allow",
      examples: { match: ["{workspace}/a"], not_match: ["/etc/passwd"] },
    },
  ],
};

/** The one line that says that a hand is ready. */
async function ready(child: ChildProcess): Promise<{ readonly tcp: string; readonly port: number }> {
  const died = once(child, "exit").then(([code]) => assert.fail(`It ended with ${code}.`));
  const [bytes] = (await Promise.race([once(child.stdout ?? assert.fail(), "data"), died])) as [Buffer];
  died.catch(() => undefined);
  const {
    ready: isReady,
    tcp,
    pid,
  } = JSON.parse(bytes.toString("utf8")) as { ready: boolean; tcp: string; pid: number };
  assert.ok(isReady && pid > 0, bytes.toString("utf8"));
  assert.match(tcp, /^127\.0\.0\.1:\d+$/);
  return { tcp, port: Number(tcp.split(":")[1]) };
}

async function tokenOf(stage: Stage, scopes: string): Promise<{ readonly token: string; readonly token_id: string }> {
  const [made] = lines((await stage.run("tokens", "create", "--scopes", scopes, "--json")).stdout);
  return { token: String(made?.["token"]), token_id: String(made?.["token_id"]) };
}

function clientOf(t: TestContext, port: number, token: string): TcpClient {
  const client = new TcpClient({ host: "127.0.0.1", port, token, reconnect: false });
  t.after(() => client.close());
  return client;
}

test("002-52 vidro hands serve says where it listens, and vidro tcp asks it", async () => {
  await using stage = await Stage.set();
  const { token } = await tokenOf(stage, "getosinfo,oscmd");
  const hand = stage.start("hands", "serve", "--tcp", "127.0.0.1:0", "--json");
  const { tcp } = await ready(hand);
  const info = await stage.run("tcp", tcp, "GET_OS_INFO", "seconds=1", "--token", token, "--json");
  const [told] = lines(info.stdout);
  assert.ok(Array.isArray(told?.["samples"]) && told["samples"].length === 1);
  const run = await stage.run("tcp", tcp, "OS_CMD", '{"cmd":"uname","args":["-s"]}', "--token", token, "--json");
  assert.equal(lines(run.stdout)[0]?.["stdout"], "Linux\n");
  const refused = await stage.run("tcp", tcp, "PS", "--token", token, "--json");
  assert.deepEqual([refused.code, lines(refused.stdout)[0]?.["code"]], [5, "FORBIDDEN"]);
  const unknown = await stage.run("tcp", tcp, "PS", "--token", "x.y", "--json");
  assert.deepEqual([unknown.code, lines(unknown.stdout)[0]?.["code"]], [4, "INVALID_TOKEN"]);
  const wrong = await stage.run("tcp", "not an address", "PING");
  assert.equal(wrong.code, 2);
  hand.kill("SIGTERM");
  assert.deepEqual(await once(hand, "close"), [0, null]);
});

test("002-47 002-50 vidro hands serve refuses to be reached from elsewhere without TLS", async () => {
  await using stage = await Stage.set();
  const { code, stderr } = await stage.run("hands", "serve", "--tcp", "0.0.0.0:0");
  assert.equal(code, 2);
  assert.match(stderr, /--tls-cert.*--lab/);
});

test("002-48 a token that another process revokes ends its live session within a second", async (t) => {
  await using stage = await Stage.set();
  const { token, token_id: id } = await tokenOf(stage, "ps");
  const { port } = await ready(stage.start("hands", "serve", "--tcp", "127.0.0.1:0", "--json"));
  const gone = Promise.withResolvers<string>();
  const client = new TcpClient({
    host: "127.0.0.1",
    port,
    token,
    reconnect: false,
    onDown: (why) => gone.resolve(why.code),
  });
  t.after(() => client.close());
  await client.connect();
  const revoked = stage.run("tokens", "revoke", id).then(() => performance.now());
  assert.equal(await gone.promise, "INVALID_TOKEN");
  assert.ok(performance.now() - (await revoked) < 1000);
});

test("002-34 002-36 a killed hand comes back with its watches, and does not repeat what it had begun", async (t) => {
  await using stage = await Stage.set();
  const { token } = await tokenOf(stage, "*");
  await stage.run("doctor");
  writeFileSync(join(stage.home, "policy.json"), JSON.stringify(POLICY));
  const first = stage.start("hands", "serve", "--tcp", "127.0.0.1:0", "--json");
  const client = clientOf(t, (await ready(first)).port, token);
  const watch = await client.request("WATCH", { path: ".", time: 600 });
  const mark = join(stage.workspace, "mark");
  const data = { cmd: "bash", args: EFFECT, timeoutMs: 60_000, actionId: "once" };
  const cut = client.request("OS_CMD", data);
  cut.catch(() => undefined);
  while (!existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 20));
  first.kill("SIGKILL");
  await assert.rejects(cut, { code: "CONNECTION" });
  const second = stage.start("hands", "serve", "--tcp", "127.0.0.1:0", "--json");
  const again = clientOf(t, (await ready(second)).port, token);
  await assert.rejects(again.request("OS_CMD", data), { code: "INTERNAL_ERROR", message: /may have had its effect/ });
  assert.equal(statSync(mark).size, 2);
  const events = async (): Promise<readonly string[]> => {
    const { events: seen } = await again.request("GET_WATCHES", { token: watch["token"] ?? "" });
    return (seen as readonly { tipoEvento: string }[]).map(({ tipoEvento }) => tipoEvento);
  };
  writeFileSync(join(stage.workspace, "later"), "");
  while ((await events()).at(-1) !== "add") await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok((await events()).includes("error"));
});

test("002-21 002-22 a hand on a host without a brain takes its tokens from a file of hashes", async (t) => {
  await using stage = await Stage.set();
  const { token, token_id: id } = await tokenOf(stage, "ps");
  const state = join(stage.workspace, "..", "hand");
  const file = join(stage.workspace, "..", "tokens.json");
  assert.equal((await stage.run("tokens", "export", id, "--out", file)).code, 0);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const flags = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning", HAND];
  const words = ["serve", "--tcp", "127.0.0.1:0", "--tokens", file, "--state", state, "--json"];
  const hand = spawn(process.execPath, [...flags, ...words], {
    cwd: stage.workspace,
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.after(() => void hand.kill("SIGKILL"));
  const client = clientOf(t, (await ready(hand)).port, token);
  const { processes } = await client.request("PS", { limit: 1 });
  assert.equal((processes as readonly unknown[]).length, 1);
  hand.kill("SIGTERM");
  assert.deepEqual(await once(hand, "close"), [0, null]);
});
