import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Metrics } from "../observe/metrics.ts";
import { DOCS_PAGE } from "./ops/docs.ts";
import { openApi } from "./ops/openapi.ts";
import { opsSurface } from "./ops.ts";
import type { Health } from "../observe/health.ts";
import { Served, Trial, trialSurface } from "../http/served.fixture.ts";

async function withOps(health: { [thing: string]: Health } = { store: "ok" }): Promise<Served & { numbers: Metrics }> {
  const metrics = new Metrics();
  metrics.hands = () => ({ ok: 2, degraded: 1, down: 0 });
  const trial = trialSurface(new Trial());
  const surface = opsSurface({
    metrics,
    health: async () => health,
    openApi: () => openApi({ version: "1.2.3", surfaces }),
  });
  const surfaces = [surface, trial];
  const served = await Served.up({ surfaces, metrics });
  return Object.assign(served, { numbers: metrics });
}

async function metricsOf(served: Served): Promise<string> {
  const { token } = await served.tokens.create({ owner: "prometheus", scopes: ["metrics"] });
  const answer = await served.call("GET", "/metrics", { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  return answer.text;
}

test("healthz says that the process lives, without a token", async () => {
  await using served = await withOps();
  const { status, json } = await served.call("GET", "/healthz", { headers: { authorization: "" } });
  assert.equal(status, 200);
  assert.deepEqual(json, { status: "ok" });
});

test("readyz is 503 only when something that cannot be done without is down", async () => {
  const cases = [
    [{ store: "ok", hands: "ok" }, 200, "ready"],
    [{ store: "ok", hands: "degraded" }, 200, "degraded"],
    [{ store: "down", hands: "ok" }, 503, "down"],
  ] as const;
  for (const [health, status, word] of cases) {
    await using served = await withOps(health);
    const answer = await served.call("GET", "/readyz");
    assert.equal(answer.status, status);
    assert.deepEqual(answer.json, { status: word, checks: health });
    const glass = await served.call("GET", "/readyz", { headers: { accept: "application/x-ndjson" } });
    assert.equal(glass.status, status);
  }
});

test("000-60, 000-61: metrics are clean for promtool, count what comes in, and tell the state of the hands", async () => {
  await using served = await withOps();
  served.numbers.ingest.inc({ kind: "task" }, 3);
  served.numbers.commit.observe(0.002);
  await served.call("GET", "/healthz");
  const text = await metricsOf(served);
  const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  assert.equal(checked.status, 0, `${checked.error?.message ?? ""}${checked.stdout}${checked.stderr}\n${text}`);
  assert.equal(checked.stderr, "");
  for (const line of [
    'vidro_ingest_total{kind="task"} 3',
    'vidro_hands{state="ok"} 2',
    'vidro_hands{state="degraded"} 1',
    'vidro_hands{state="down"} 0',
    'vidro_runs_total{state="started"} 0',
    'vidro_actions_total{outcome="unknown"} 0',
    "vidro_steps_total 0",
    "vidro_journal_commit_seconds_count 1",
    "vidro_streams_open 0",
    'vidro_http_requests_total{method="GET",path="/healthz",status="200"} 1',
  ])
    assert.ok(text.includes(`\n${line}\n`), `${line} is missing in\n${text}`);
  for (const name of ["vidro_event_loop_lag_seconds", "vidro_model_tokens_total", "vidro_model_calls_total"])
    assert.match(text, new RegExp(`^# HELP ${name} `, "m"));
});

test("what a stranger asks for makes no new series", async () => {
  await using served = await withOps();
  for (const path of ["/a", "/b?x", "/things/1", "/things/2"]) await served.call("GET", path);
  await served.call("PROPFIND", "/healthz");
  const series = [...(await metricsOf(served)).matchAll(/vidro_http_requests_total\{(.*)\}/g)].map(
    ([, labels]) => labels,
  );
  const expected = [
    'method="other",path="none",status="404"',
    'method="GET",path="/things/{name}",status="200"',
    'method="other",path="none",status="405"',
  ];
  assert.deepEqual(series, expected);
});

test("metrics need the scope metrics", async () => {
  await using served = await withOps();
  assert.equal((await served.call("GET", "/metrics")).status, 403);
  assert.equal((await served.call("GET", "/metrics", { headers: { authorization: "" } })).status, 401);
});

test("a stream that is open is counted as long as it is", async () => {
  await using served = await withOps();
  const response = await fetch(`${served.server.url}/stream`, { headers: { authorization: `Bearer ${served.token}` } });
  assert.match(await metricsOf(served), /^vidro_streams_open 1$/m);
  await response.body?.cancel();
  while (!/^vidro_streams_open 0$/m.test(await metricsOf(served)));
});

test("the document of the API is valid OpenAPI 3.1 and has every route", async () => {
  await using served = await withOps();
  const { status, json } = await served.call("GET", "/openapi.json", { headers: { authorization: "" } });
  assert.equal(status, 200);
  const checked = await new Validator().validate(structuredClone(json));
  assert.deepEqual(checked.errors ?? [], []);
  assert.equal(checked.valid, true);
  assert.equal(json["openapi"], "3.1.0");
  const paths = json["paths"] as { [path: string]: { [method: string]: JsonObject } };
  assert.deepEqual(Object.keys(paths["/things/{name}"] ?? {}), ["get", "delete"]);
  const made = paths["/things"]?.["post"];
  assert.deepEqual(made?.["security"], [{ token: [] }, { password: [] }]);
  assert.ok(isObject(made?.["requestBody"]));
  assert.deepEqual(paths["/open"]?.["get"]?.["security"], []);
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.equal(new Set(ids).size, ids.length);
});

test("the page of the API loads nothing but the description, and only what it brings along runs", async () => {
  await using served = await withOps();
  const { status, headers, text } = await served.call("GET", "/docs/api", {
    headers: { accept: "text/html", authorization: "" },
  });
  assert.equal(status, 200);
  assert.equal(text, DOCS_PAGE);
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; /);
  assert.ok(!/unsafe|\*|https?:/.test(policy));
  assert.doesNotMatch(text, /(?:src|href)="(?!\/openapi\.json")|https?:|url\(|@import/);
  for (const tag of ["script", "style"]) {
    const inside: string = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(text)?.[1] ?? "";
    assert.ok(policy.includes(`${tag}-src 'sha256-${createHash("sha256").update(inside).digest("base64")}'`), tag);
  }
});
