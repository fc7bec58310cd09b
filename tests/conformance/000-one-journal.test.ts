import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { EventSource } from "eventsource";
import type { JsonObject, ModelReply } from "@vidro/core";
import { startAgentServer, readFrameData, linesOf } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { scriptedModel } from "../support/scenario.ts";

/* One run, many wires: each of them is the same journal, and a cursor of one is a cursor of all. */

const NDJSON = { accept: "application/x-ndjson" };
const SSE = { accept: "text/event-stream" };
const said = (text: string): ModelReply => ({
  model: "scripted",
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const SCRIPT = [
  said(
    `${JSON.stringify({ type: "plan", steps: ["one", "two"] })}\n${JSON.stringify({ type: "shell", command: "echo x" })}`,
  ),
  said(JSON.stringify({ type: "ask", question: "Go on?", options: ["yes", "no"] })),
  said("All is well."),
];

interface Started {
  readonly end: AgentServer;
  readonly run: string;
}

async function started(t: Parameters<typeof startAgentServer>[0]): Promise<Started> {
  const end = await startAgentServer(t, scriptedModel(SCRIPT));
  const made = await end.ask("POST", "/v1/runs", { body: { task: "do it" } });
  assert.equal(made.status, 201);
  return { end, run: ((await made.json()) as { id: string }).id };
}

/** Answers yes until the run is over. */
async function answered({ end, run }: Started): Promise<void> {
  const watched = await end.ask("GET", `/v1/runs/${run}/events?live=false`, { headers: SSE });
  await readFrameData(watched, (entry) => {
    const event = entry["event"] as JsonObject;
    if (event["type"] !== "question.asked") return undefined;
    return end.ask("POST", `/v1/runs/${run}/answers`, { body: { answer: "yes", question: event["id"] ?? "" } });
  });
}

/** The entries of the journal in lines that say more besides. */
const entriesIn = (all: readonly JsonObject[]): JsonObject[] =>
  kept(all).map(({ seq = 0, at = 0, event = {} }) => ({ seq, at, event }));

const kept = (all: readonly JsonObject[]): JsonObject[] => all.filter(({ seq }) => seq !== undefined);

test("000-26 a run that is watched over four wires at once has the same content on all of them", async (t) => {
  const it = await started(t);
  const { end, run } = it;
  const [agent, glass, sse, ndjson] = await Promise.all([
    end.ask("GET", `/agent/runs/${run}/events`, { headers: SSE }),
    end.ask("GET", `/agent/runs/${run}/events`, { headers: NDJSON }),
    end.ask("GET", `/v1/runs/${run}/events`, { headers: SSE }),
    end.ask("GET", `/v1/runs/${run}/events`, { headers: NDJSON }),
  ]);
  const all = Promise.all([readFrameData(agent), linesOf(glass), readFrameData(sse), linesOf(ndjson)]);
  await answered(it);
  const [agentAll, glassAll, sseAll, ndjsonAll] = await all;
  const entries = kept(sseAll);
  assert.deepEqual(entriesIn(ndjsonAll), entries);
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, index) => index + 1),
  );
  const inGlass = kept(glassAll).map(({ seq, event, timestamp, body }) => ({
    seq,
    at: timestamp,
    event: { type: event, ...(body as JsonObject) },
  }));
  assert.deepEqual(inGlass, entries);
  assert.ok(kept(agentAll).every(({ seq }) => entries.some((entry) => entry["seq"] === seq)));
  const last = entries.at(-1)?.["event"] as JsonObject;
  assert.deepEqual(
    [last["result"], agentAll.at(-1)?.["result"], glassAll.at(-1)?.["data"]],
    ["All is well.", "All is well.", "All is well."],
  );
});

test("G5 a client that is cut off after entry n on one wire goes on with n+1 on another", async (t) => {
  const it = await started(t);
  await answered(it);
  const { end, run } = it;
  const path = `/v1/runs/${run}/events`;
  const whole = entriesIn(await linesOf(await end.ask("GET", path, { headers: NDJSON })));
  for (let n = 1; n < whole.length; n += 1) {
    const cut = new AbortController();
    const seen: JsonObject[] = [];
    const response = await end.ask("GET", `${path}?live=false`, { headers: SSE, signal: cut.signal });
    await readFrameData(response, (entry) => {
      if (seen.length < n) seen.push(entry);
      if (seen.length === n) cut.abort();
      return undefined;
    }).catch(() => undefined);
    const rest = await linesOf(await end.ask("GET", `${path}?after=${n}`, { headers: NDJSON }));
    assert.deepEqual([...seen, ...entriesIn(rest)], whole);
    const glass = await end.ask("GET", `/agent/runs/${run}/events`, {
      headers: { ...NDJSON, "last-event-id": String(n) },
    });
    assert.deepEqual(
      kept(await linesOf(glass)).map(({ seq }) => seq),
      whole.slice(n).map(({ seq }) => seq),
    );
  }
});

/** A cable to a server that can be pulled. */
async function cable(
  t: Parameters<typeof startAgentServer>[0],
  url: string,
): Promise<{ url: string; pull: () => void }> {
  const plugged = new Set<Socket>();
  const { hostname, port } = new URL(url);
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const end of [near, far]) {
      plugged.add(end);
      end.on("error", () => undefined).on("close", () => plugged.delete(end));
    }
    near.pipe(far).pipe(near);
  });
  const pull = (): void => {
    for (const end of plugged) end.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    pull();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pull };
}

test("000-24 a browser's EventSource resumes by Last-Event-ID after a cut and stops when the run is over", async (t) => {
  const it = await started(t);
  const { end, run } = it;
  const { url, pull } = await cable(t, end.url);
  const asked: (string | null)[] = [];
  const statuses: number[] = [];
  const seen: number[] = [];
  const cut = Promise.withResolvers<void>();
  const source = new EventSource(`${url}/v1/runs/${run}/events?live=false`, {
    fetch: async (address, init) => {
      const headers = new Headers(init.headers);
      asked.push(headers.get("last-event-id"));
      headers.set("authorization", `Bearer ${end.own}`);
      const response = await fetch(address, { ...init, headers });
      statuses.push(response.status);
      return response;
    },
  });
  t.after(() => source.close());
  const over = new Promise<void>((resolve) => {
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) resolve();
    });
  });
  source.addEventListener("message", ({ data }: { data: string }) => {
    seen.push((JSON.parse(data) as { seq: number }).seq);
    if (seen.length !== 3) return;
    pull();
    cut.resolve();
  });
  await cut.promise;
  await answered(it);
  await over;
  const { seq } = await end.runs.find(run);
  assert.deepEqual(
    seen,
    Array.from({ length: seq }, (_, index) => index + 1),
  );
  assert.equal(asked[0], null);
  assert.ok(Number(asked[1]) >= 3 && Number(asked[1]) < seq);
  assert.deepEqual([asked.at(-1), statuses.at(-1)], [String(seq), 204]);
});

test("G6 a brain that stops ends its streams without a last event", async (t) => {
  const { end, run } = await started(t);
  const watched = await end.ask("GET", `/agent/runs/${run}/events`, { headers: NDJSON });
  const lines: JsonObject[] = [];
  let text = "";
  for await (const chunk of watched.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('"question.asked"')) void end.close();
  }
  for (const line of text.trim().split("\n")) lines.push(JSON.parse(line) as JsonObject);
  assert.ok(lines.length > 1);
  assert.ok(lines.every(({ type }) => type !== "result" && type !== "error"));
});

test("another owner's run is not found on any wire", async (t) => {
  const { end, run } = await started(t);
  const token = await end.token("bo");
  const requests = [
    ["GET", `/v1/runs/${run}`],
    ["GET", `/v1/runs/${run}/events`],
    ["GET", `/agent/runs/${run}/events`],
    ["POST", `/v1/runs/${run}/answers`],
    ["POST", `/v1/runs/${run}/abort`],
    ["POST", `/v1/runs/${run}/resume`],
  ] as const;
  for (const [method, path] of requests) {
    const body = method === "GET" ? {} : { body: path.endsWith("answers") ? { answer: "yes" } : {} };
    assert.equal((await end.ask(method, path, { token, ...body })).status, 404, path);
  }
  const theirs = (await (await end.ask("GET", "/v1/runs", { token })).json()) as JsonObject;
  assert.deepEqual(theirs, { runs: [] });
  const thread = (await end.runs.find(run)).thread;
  assert.equal((await end.ask("POST", "/v1/runs", { token, body: { task: "x", thread } })).status, 404);
});

test("000-24 raw bytes: the head comes at once, before there is anything to tell", async (t) => {
  const { end, run } = await started(t);
  const { hostname, port } = new URL(end.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /agent/runs/${run}/events HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${end.own}\r\n\r\n`,
  );
  let text = "";
  while (!text.includes("\r\n\r\n")) text += String((await once(socket, "data"))[0]);
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /\r\ncontent-type: text\/event-stream\r\n/i);
  assert.match(text, new RegExp(`\r\nx-run-id: ${run}\r\n`, "i"));
  socket.destroy();
});
