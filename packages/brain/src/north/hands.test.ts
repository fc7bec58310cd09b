import assert from "node:assert/strict";
import { test } from "node:test";
import { directTask } from "@vidro/core/run";
import type { Json, JsonObject } from "@vidro/core";
import { startFleet } from "../../../../tests/support/fleet.ts";
import type { Fleet } from "../../../../tests/support/fleet.ts";

interface Answer {
  readonly status: number;
  readonly json: JsonObject;
}

type Ask = (method: "GET" | "POST", path: string, body?: Json) => Promise<Answer>;

async function asking(brain: Fleet, owner: string, ...scopes: string[]): Promise<Ask> {
  const token = await brain.token(owner, ...scopes);
  return async (method, path, body) => {
    const response = await fetch(brain.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as JsonObject };
  };
}

const names = ({ json }: Answer): unknown => (json["hands"] as JsonObject[]).map((hand) => hand["name"]);

test("everybody lists this machine and the hands that are theirs; what is another's is not there", async (t) => {
  const brain = await startFleet(t);
  await brain.host("web1", { tags: ["web"] });
  await brain.host("web2", { owner: "ben" });
  const [ana, ben, root] = [await asking(brain, "ana"), await asking(brain, "ben"), await asking(brain, "root", "*")];
  assert.deepEqual(names(await ana("GET", "/v1/hands")), ["local", "web1"]);
  assert.deepEqual(names(await ben("GET", "/v1/hands")), ["local", "web2"]);
  assert.deepEqual(names(await root("GET", "/v1/hands")), ["local", "web1", "web2"]);
  assert.deepEqual(names(await ana("GET", "/v1/hands?select=tag:web")), ["web1"]);
  const own = await ana("GET", "/v1/hands/web1");
  assert.equal(own.status, 200);
  const { id, state, barred, gateway, tags, telemetry } = own.json;
  assert.deepEqual(
    { id, state, barred, gateway, tags, telemetry },
    { id: "hand-web1", state: "ok", barred: null, gateway: "agent-ws", tags: ["web"], telemetry: null },
  );
  for (const path of ["/v1/hands/web1", "/v1/hands/hand-web1", "/v1/hands/hand-web1/telemetry"])
    assert.deepEqual((await ben("GET", path)).status, 404, path);
});

test("only an administrator bars a hand, and it counts at once", async (t) => {
  const brain = await startFleet(t);
  const { link, attached } = await brain.host("web1");
  const [ana, root] = [await asking(brain, "ana"), await asking(brain, "root", "admin")];
  assert.equal((await ana("POST", "/v1/hands/web1/revoke", {})).status, 403);
  const quarantined = await root("POST", "/v1/hands/web1/quarantine", { why: "Odd." });
  assert.deepEqual([quarantined.json["state"], quarantined.json["barred"]], ["degraded", "quarantined"]);
  assert.equal((await ana("GET", "/v1/hands/web1")).json["why"], "Odd.");
  assert.deepEqual((await ana("POST", "/v1/runs", { task: "x", hand: "web1" })).json["code"], "HAND_QUARANTINED");
  assert.equal((await root("POST", "/v1/hands/web1/release", {})).json["state"], "ok");
  assert.equal((await root("POST", "/v1/hands/web1/revoke", {})).json["barred"], "revoked");
  attached.detach();
  assert.equal(link.closes[0]?.code, "HAND_REVOKED");
  assert.deepEqual((await root("POST", "/v1/hands/web1/release", {})).json["code"], "HAND_REVOKED");
  assert.equal((await root("POST", "/v1/hands/nobody/revoke", {})).status, 404);
  assert.equal((await root("POST", "/v1/hands/local/revoke", {})).status, 400);
});

test("what a hand tells of its host is shown and counted", async (t) => {
  const brain = await startFleet(t);
  const { description } = await brain.host("web1");
  const ana = await asking(brain, "ana");
  brain.telemetry.take(description.id, { id: "1", payload: { cpu: 0.25, mem: 512 }, at: Date.UTC(2026, 0, 1) });
  const sample = { at: "2026-01-01T00:00:00.000Z", payload: { cpu: 0.25, mem: 512 } };
  assert.deepEqual((await ana("GET", "/v1/hands/web1")).json["telemetry"], sample);
  assert.deepEqual((await ana("GET", "/v1/hands/web1/telemetry?seconds=10")).json, {
    id: description.id,
    samples: [sample],
  });
  assert.equal((await ana("GET", "/v1/hands/web1/telemetry?seconds=0")).status, 422);
  const text = brain.metrics.text();
  assert.match(text, /^vidro_ingest_total\{kind="telemetry"\} 1$/m);
  assert.match(text, /^vidro_hands\{state="ok"\} 2$/m);
});

test("a run, a session and a conversation work on the hands that they name", async (t) => {
  const brain = await startFleet(t);
  const [web1, web2] = [await brain.host("web1", { tags: ["web"] }), await brain.host("web2", { owner: "ben" })];
  const ana = await asking(brain, "ana");
  const handOf = async (run: unknown): Promise<unknown> => {
    const [started] = await brain.brain.journal.read(String(run), 0, 1);
    return started?.event.type === "run.started" && started.event.hand;
  };
  const task = directTask(["pwd"]);
  const run = await ana("POST", "/v1/runs", { task, agent: "direct", hand: "tag:web" });
  assert.deepEqual([run.status, await handOf(run.json["id"])], [201, web1.description.id]);
  const session = await ana("POST", "/agent/sessions", { hand: "web1" });
  const told = await ana("POST", "/v1/runs", { task: "pwd", thread: session.json["session_id"] as string });
  assert.equal(await handOf(told.json["id"]), web1.description.id);
  const talk = await ana("POST", "/v1/conversations", { metadata: { hand: "web1,local" } });
  const thread = talk.json["id"] as string;
  const said = await ana("POST", `/v1/conversations/${thread}/messages`, {
    messages: [{ role: "user", content: "hello" }],
  });
  assert.equal(said.status, 200);
  const [newest] = await brain.brain.runs.list({ thread, limit: 1 });
  assert.equal(await handOf(newest?.id), `local,${web1.description.id}`);
  for (const [path, body] of [
    ["/v1/runs", { task, hand: web2.description.id }],
    ["/agent/sessions", { hand: "web2" }],
    ["/v1/conversations", { metadata: { hand: "web2" } }],
  ] as const)
    assert.equal((await ana("POST", path, body)).status, 404, path);
  assert.equal((await ana("GET", "/agent/status")).json["hands"], 2);
});

test("the direct agent carries out its command on each hand of a run, and answers with what it said", async (t) => {
  const brain = await startFleet(t);
  await brain.host("web1");
  await brain.host("web2");
  const ana = await asking(brain, "ana");
  const session = await ana("POST", "/agent/sessions", { hand: "web1,web2", agent_uuid: "direct" });
  const token = await brain.token("ana");
  const done = await fetch(`${brain.url}/agent/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ session_id: session.json["session_id"], prompt: directTask(["echo", "a  b", "$HOME"]) }),
  });
  const { result } = (await done.json()) as JsonObject;
  assert.equal(result, "web1:\na  b $HOME\n\n\nweb2:\na  b $HOME\n");
});
