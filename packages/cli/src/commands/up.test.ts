import assert from "node:assert/strict";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { lines, Stage } from "../stage.fixture.ts";
import type { Line } from "../stage.fixture.ts";

/** A daemon in its own process. */
interface Up {
  readonly child: ChildProcessWithoutNullStreams;
  readonly url: string;
  readonly ready: Line;
  readonly log: () => readonly Line[];
  readonly ended: Promise<number | null>;
}

async function start(stage: Stage, ...flags: readonly string[]): Promise<Up> {
  const child = stage.start("up", "--json", "--port", "0", ...flags);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  const ended = once(child, "close").then(([code]) => code as number | null);
  const first = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  assert.ok(Array.isArray(first), log);
  const ready = JSON.parse(String(first[0])) as Line;
  return { child, url: String(ready["url"]), ready, log: () => lines(log), ended };
}

async function call(stage: Stage, { url }: Up, path: string, body?: object): Promise<Line> {
  const token = (await readFile(join(stage.home, "token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(
    url + path,
    body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers },
  );
  return (await response.json()) as Line;
}

/** Gives a task whose command a person has to approve, and waits until they are asked. */
async function ask(stage: Stage, up: Up): Promise<void> {
  await call(stage, up, "/v1/runs", { task: "run `touch made`" });
  while (!up.log().some(({ event }) => event === "question.asked")) await once(up.child.stderr, "data");
}

test("up on a port that is taken says so and what to do, and does nothing", async (t) => {
  const other = createServer();
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  await using stage = await Stage.set();
  const { code, stdout, stderr } = await stage.run("up", "--port", String(port));
  assert.deepEqual([code, stdout], [6, ""]);
  assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${port} is taken: another program listens there`));
  assert.match(stderr, /next: Stop that program, or choose another port.*vidro up --port 0/);
});

test("VIDRO_ORIGINS lets the pages that it names call the daemon", async () => {
  await using stage = await Stage.set({ VIDRO_ORIGINS: "https://app.example" });
  const { url } = await start(stage);
  const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
  const before = await fetch(`${url}/v1/runs`, { method: "OPTIONS", headers });
  assert.deepEqual([before.status, before.headers.get("access-control-allow-origin")], [204, headers.origin]);
});

test("up says in one line when it is ready, answers, and status finds it", async () => {
  await using stage = await Stage.set();
  const up = await start(stage);
  const { ready, token_file: tokenFile, pid } = up.ready;
  assert.deepEqual({ ready, tokenFile, pid }, { ready: true, tokenFile: join(stage.home, "token"), pid: up.child.pid });
  assert.match(up.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const said = await stage.run("status", "--json");
  assert.equal(said.code, 0, said.stderr);
  const [line] = lines(said.stdout);
  assert.deepEqual({ url: line?.["url"], status: line?.["status"] }, { url: up.url, status: "ready" });
  const { stdout: link } = await stage.run("console");
  assert.ok(link.startsWith(`${up.url}/#code=`) && /=[\w-]{43}\n$/.test(link), link);
  const second = await stage.run("up", "--json", "--port", "0");
  assert.equal(second.code, 6);
  const [refused] = lines(second.stdout);
  assert.equal(refused?.["code"], "HOME_BUSY");
  assert.match(
    String(refused?.["message"]),
    new RegExp(`^Process ${up.child.pid} on .*, at ${up.url}\\. Use that one, or end it`),
  );
});

test("SIGTERM ends it in order, and nothing says that it is up", async () => {
  await using stage = await Stage.set();
  const up = await start(stage);
  up.child.kill("SIGTERM");
  assert.equal(await up.ended, 0);
  assert.equal(up.log().at(-1)?.["event"], "daemon.stopped");
  await assert.rejects(stat(join(stage.home, "daemon.json")));
  const said = await stage.run("status", "--json");
  assert.equal(said.code, 7);
  assert.match(said.stdout, /"code":"BRAIN_UNREACHABLE"/);
});

test("a second signal ends it at once", async () => {
  await using stage = await Stage.set();
  const up = await start(stage);
  await ask(stage, up);
  // A run that is waited for keeps the first signal waiting, too.
  const stuck = call(stage, up, "/v1/chat/completions", {
    model: "bunny",
    messages: [{ role: "user", content: "run `sleep 60`" }],
  });
  stuck.catch(() => undefined);
  while (up.log().filter(({ event }) => event === "run.started").length < 2) await once(up.child.stderr, "data");
  up.child.kill("SIGTERM");
  await assert.rejects(async () => {
    for (;;) await fetch(`${up.url}/healthz`);
  });
  const startedAt = performance.now();
  up.child.kill("SIGTERM");
  assert.equal(await up.ended, 143);
  assert.ok(performance.now() - startedAt < 30_000, "the run that it would wait for takes a minute");
});

test("runs that were open when it was killed are taken up again, or held", async () => {
  await using stage = await Stage.set();
  const first = await start(stage);
  await ask(stage, first);
  first.child.kill("SIGKILL");
  await first.ended;
  const held = await start(stage, "--on-restart", "hold");
  held.child.kill("SIGTERM");
  await held.ended;
  const isTakenUp = ({ event }: Line): boolean => event === "runs.resumed";
  assert.ok(!held.log().some(isTakenUp));
  const resumed = await start(stage);
  assert.equal(resumed.log().find(isTakenUp)?.["runs"], 1);
});

test("without a certificate it refuses to be reached from elsewhere, with a sentence", async () => {
  await using stage = await Stage.set();
  const open = await stage.run("up", "--json", "--port", "0", "--host", "0.0.0.0");
  assert.equal(open.code, 2);
  assert.match(open.stdout, /without TLS the tokens would cross the network in clear text/);
  assert.equal((await stage.run("up", "--tls-cert", "x")).code, 2);
  assert.equal((await stage.run("up", "--port", "65536")).code, 2);
  assert.equal((await stage.run("up", "--on-restart", "guess")).code, 2);
});

test("for people it says where it is and how to end it", async () => {
  await using stage = await Stage.set();
  const terminal = stage.terminal("up", "--port", "0");
  await terminal.sees("Vidro is up at http://127.0.0.1:");
  await terminal.sees("Ctrl-C ends it");
  terminal.type("\x03");
  assert.equal(await terminal.ends(), 130);
});
