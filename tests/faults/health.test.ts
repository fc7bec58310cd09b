import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fillStore, garble, leavesOf } from "../../packages/brain/src/stores/damage.fixture.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import type { Line } from "../../packages/cli/src/stage.fixture.ts";
import { ServingProcess } from "../support/serving-process.ts";
import { until } from "../support/daemon-process.ts";

/* A daemon knows how it is: a disk that fills, descriptors that run out, a file that is damaged. */

interface Readiness {
  readonly status: string;
  readonly checks: { readonly [thing: string]: string };
  readonly details?: { readonly [thing: string]: string };
}

const UP = ["up", "--json", "--port", "0"];
const MOUNT = 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"';
const UNSHARE = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--mount"];

/** Asks as the administrator does; the token lies where the daemon sees it. */
function ask({ url, pid, ready }: ServingProcess, path: string, body?: object): Promise<Response> {
  const token = readFileSync(`/proc/${pid}/root${String(ready["token_file"])}`, "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(url + path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
}

async function readiness(daemon: ServingProcess): Promise<Readiness & { readonly code: number }> {
  const response = await fetch(`${daemon.url}/readyz`);
  return { ...((await response.json()) as Readiness), code: response.status };
}

async function metric(daemon: ServingProcess, series: string): Promise<number> {
  const text = await (await ask(daemon, "/metrics")).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.split(" ")
      .at(-1),
  );
}

const canMount = spawnSync(UNSHARE[0] ?? "", [...UNSHARE.slice(1), "sh", "-c", MOUNT, "/mnt", "true"]).status === 0;

test("a disk that is full is down and 503, in the log and in numbers, and room makes it well again", async (t) => {
  if (!canMount) return t.skip("no disk can be mounted here");
  await using stage = await Stage.set();
  mkdirSync(stage.home, { mode: 0o700 });
  const argv = [...UNSHARE, "sh", "-c", MOUNT, stage.home, ...stage.command.argv, ...UP];
  await using daemon = await ServingProcess.start(stage, argv);
  // 8 MiB are few from the start.
  const before = await readiness(daemon);
  assert.deepEqual([before.code, before.status, before.checks["disk"]], [200, "degraded", "degraded"]);
  const ballast = join(`/proc/${daemon.pid}/root${stage.home}`, "ballast");
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(16 * 1024 * 1024)), { code: "ENOSPC" });
  const refused = await ask(daemon, "/v1/runs", { task: "which files are here?" });
  assert.equal(refused.status, 507, await refused.text());
  const full = await readiness(daemon);
  assert.deepEqual([full.code, full.status], [503, "down"]);
  assert.deepEqual([full.checks["disk"], full.checks["store"]], ["down", "down"]);
  assert.match(full.details?.["disk"] ?? "", /free for the state/);
  assert.equal((await fetch(`${daemon.url}/healthz`)).status, 200);
  assert.ok((await metric(daemon, 'vidro_disk_bytes{use="free"}')) < 1024 * 1024);
  assert.equal(await metric(daemon, "vidro_store_writable"), 0);
  assert.ok((await metric(daemon, "vidro_store_failures_total")) > 0);
  assert.ok(
    lines(daemon.log).some(({ level, thing, health }) => level === "error" && thing === "disk" && health === "down"),
  );
  rmSync(ballast);
  // Nothing is written: the daemon finds out by itself.
  await until("the store is well again", async () => (await readiness(daemon)).checks["store"] === "ok");
  assert.equal((await readiness(daemon)).code, 200);
  assert.equal((await ask(daemon, "/v1/runs", { task: "which files are here?" })).status, 201);
});

test("descriptors that run out are counted, logged and seen, and the daemon goes on", async () => {
  await using stage = await Stage.set();
  const argv = ["sh", "-c", 'ulimit -n 80 && exec "$@"', "sh", ...stage.command.argv, ...UP];
  await using daemon = await ServingProcess.start(stage, argv);
  assert.equal(await metric(daemon, "vidro_max_descriptors"), 80);
  const sockets: Socket[] = [];
  const port = Number(new URL(daemon.url).port);
  for (let count = 0; count < 120; count += 1) sockets.push(connect(port, "127.0.0.1").on("error", () => undefined));
  const isTold = (line: Line): boolean => line["thing"] === "descriptors" && line["health"] === "down";
  await until("it is logged", () => lines(daemon.log).some(isTold));
  for (const socket of sockets) socket.destroy();
  await until("it is well again", async () => {
    const found = await readiness(daemon).catch(() => undefined);
    return found?.checks["descriptors"] === "ok";
  });
  assert.ok((await metric(daemon, "vidro_descriptors_exhausted_total")) > 0);
  assert.equal((await ask(daemon, "/v1/runs", { task: "which files are here?" })).status, 201);
});

test("latencies are told by route, outcome and kind, and open runs by state", async () => {
  await using stage = await Stage.set();
  await using daemon = await ServingProcess.start(stage, [...stage.command.argv, ...UP]);
  await ask(daemon, "/v1/runs", { task: "which files are here?" });
  await ask(daemon, "/v1/runs", { task: "run `touch made`" });
  await until("one asks", async () => (await metric(daemon, 'vidro_runs_open{state="asking"}')) === 1);
  await until("one is over", async () => (await metric(daemon, 'vidro_runs_total{state="finished"}')) === 1);
  const route = 'method="POST",path="/v1/runs",status="201"';
  assert.equal(await metric(daemon, `vidro_http_request_seconds_count{${route}}`), 2);
  assert.ok((await metric(daemon, 'vidro_model_call_seconds_count{outcome="replied"}')) >= 2);
  assert.ok((await metric(daemon, 'vidro_action_seconds_count{outcome="ok"}')) >= 1);
  assert.equal(await metric(daemon, "vidro_runs_undriven"), 0);
  assert.ok((await metric(daemon, 'vidro_heap_bytes{use="used"}')) > 0);
  assert.ok((await metric(daemon, "vidro_open_descriptors")) > 0);
});

test("a damaged page takes only its own runs: list, audit, recovery and surfaces go on, and say which", async () => {
  await using stage = await Stage.set();
  const path = join(stage.home, "journal.db");
  const ids = await fillStore(path, 120);
  const leaves = leavesOf(path, "entry");
  for (const share of [0.3, 0.6]) garble(path, leaves[Math.floor(leaves.length * share)] ?? 0);

  const listed = await stage.run("runs", "list", "--json", "--limit", "500");
  assert.equal(listed.code, 0, listed.stderr);
  assert.equal(lines(listed.stdout).length, ids.length);
  assert.match(listed.stderr, /runs? of these cannot be read\. See where: vidro audit verify/);
  const marked = lines(listed.stdout).filter(({ damaged }) => damaged !== undefined);
  assert.ok(marked.length > 0);

  const audit = await stage.run("audit", "verify", "--json");
  assert.equal(audit.code, 1, audit.stderr);
  const broken = lines(audit.stdout).filter(({ ok, run_id: run }) => ok === false && run !== undefined);
  assert.ok(broken.length >= marked.length && broken.length < 30, `${broken.length} are broken`);
  assert.ok(marked.every((one) => broken.some(({ run_id: run }) => run === one["run_id"])));

  const exported = await stage.run("audit", "export");
  assert.equal(exported.code, 1);
  assert.ok(
    marked.every((one) => exported.stderr.includes(String(one["run_id"]))),
    exported.stderr,
  );

  const before = await stage.run("doctor", "--json");
  const store = lines(before.stdout).find(({ id }) => id === "store");
  assert.equal(store?.["status"], "fail", before.stdout);
  assert.match(String(store["fix"]), /vidro audit verify/);

  await using daemon = await ServingProcess.start(stage, [...stage.command.argv, ...UP]);
  await until(
    "every damaged run is known",
    async () => (await metric(daemon, "vidro_runs_damaged")) === broken.length,
    120_000,
  );
  const { code, checks, details } = await readiness(daemon);
  assert.deepEqual([code, checks["store"]], [200, "degraded"]);
  assert.match(details?.["store"] ?? "", new RegExp(`^${broken.length} runs cannot be read`));
  for (const { run_id: run } of broken) assert.ok(daemon.log.includes(String(run)), `the log names ${String(run)}`);
  const { runs } = (await (await ask(daemon, "/v1/runs?limit=500")).json()) as { runs: { damaged?: string }[] };
  assert.equal(runs.length, ids.length);
  assert.equal(runs.filter(({ damaged }) => damaged !== undefined).length, marked.length);
  const [first] = broken;
  const refused = await ask(daemon, `/v1/runs/${String(first?.["run_id"])}/events`);
  assert.match(await refused.text(), /JOURNAL_CORRUPT/);
  const after = lines((await stage.run("doctor", "--json")).stdout).find(({ id }) => id === "daemon");
  assert.equal(after?.["status"], "warn", JSON.stringify(after));
});
