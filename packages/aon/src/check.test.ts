import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkServer } from "./check.ts";
import type { ClauseFinding } from "./check.ts";
import { listen, stage } from "./stage.fixture.ts";

const BIN = fileURLToPath(new URL("../bin/aon", import.meta.url));

/** Runs the command and gives what it printed. */
function command(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(BIN, args, (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }));
  });
}

const states = (findings: readonly ClauseFinding[]): string[] => findings.map(({ state }) => state);

/** What people write first: a substring test, a stream without an end, nothing healed. */
const NAIVE: RequestListener = (request, response) => {
  const isStreaming = request.headers.accept?.includes("application/x-ndjson") ?? false;
  response.setHeader("Content-Type", isStreaming ? "application/x-ndjson" : "application/json");
  if (!isStreaming) return void response.end("{}");
  response.end(request.url === "/failing" ? '{"type":"error","code":"X"}\n' : '{"type":"status"}\nnot json\n');
};

function ours() {
  return stage(async (aon, request, response) => {
    const user = await aon.heal({
      name: "read_user",
      run({ attempt }) {
        const isBroken = request.url === "/failing" || (request.url === "/healed" && attempt === 1);
        if (isBroken) throw Object.assign(new Error("Slow down."), { status: 429, retryAfterMs: 1 });
        return { id: 1 };
      },
    });
    response.json?.(user);
  });
}

test("001-26, 001-27, 001-28, 001-29: a server with this library passes all clauses", async () => {
  await using server = await ours();
  assert.deepEqual(states(await checkServer({ url: `${server.url}healed` })), ["ok", "ok", "ok", "ok"]);
  assert.deepEqual(states(await checkServer({ url: server.url, failingUrl: `${server.url}failing` })), [
    "ok",
    "ok",
    "ok",
    "ok",
  ]);
  assert.deepEqual(states(await checkServer({ url: server.url })), ["ok", "ok", "ok", "unknown"]);
});

test("001-26, 001-28, 001-29: a naive server fails the clauses that it breaks, with what is wrong", async () => {
  await using server = await listen(createServer(NAIVE));
  const findings = await checkServer({ url: server.url, failingUrl: `${server.url}failing` });
  assert.deepEqual(states(findings), ["fail", "ok", "fail", "fail"]);
  const notes = findings.flatMap((finding) => finding.notes).join("\n");
  assert.match(notes, /q=0, application\/json got application\/x-ndjson/);
  assert.match(notes, /Advice: answer 406/);
  assert.match(notes, /Advice: send Vary/);
  assert.match(notes, /1 lines are no JSON objects/);
  assert.match(notes, /0 terminal events/);
  assert.match(notes, /nothing was tried before/);
});

test("001-27: a server that streams at everybody fails those who never asked for it", async () => {
  await using server = await listen(
    createServer((_request, response) => {
      response.setHeader("Content-Type", "application/x-ndjson").end('{"type":"result","data":1}\n');
    }),
  );
  assert.deepEqual(states(await checkServer({ url: server.url })), ["fail", "fail", "ok", "unknown"]);
});

test("aon check prints the list, exits 1 when a clause fails and 7 when no server answers", async () => {
  await using good = await ours();
  await using bad = await listen(createServer(NAIVE));
  const passed = await command("check", `${good.url}healed`);
  assert.equal(passed.code, 0, passed.err);
  assert.equal(passed.out.match(/^\[x\] /gm)?.length, 4);
  const failed = await command("check", bad.url, "--json");
  assert.equal(failed.code, 1);
  const report = JSON.parse(failed.out) as { compliant: boolean; findings: readonly ClauseFinding[] };
  assert.equal(report.compliant, false);
  assert.equal(report.findings.length, 4);
  assert.equal((await command("check", "http://127.0.0.1:1/")).code, 7);
});

test("aon without what it needs says how it is used", async () => {
  for (const args of [[], ["check"], ["check", "nonsense"], ["check", "ftp://x"], ["check", "http://x", "--bogus"]]) {
    const { code, err } = await command(...args);
    assert.equal(code, 2);
    assert.match(err, /aon check <url>/);
  }
  assert.equal((await command("--help")).code, 0);
});

test("aon check sends the method, the body and the headers that it is given", async () => {
  await using server = await stage(async (_aon, request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const isRight = request.method === "POST" && body === '{"a":1}' && request.headers.authorization === "Bearer x";
    response.statusCode = isRight ? 200 : 500;
    response.json?.({ isRight });
  });
  const { code, out } = await command("check", server.url, "--data", '{"a":1}', "--header", "Authorization: Bearer x");
  assert.equal(code, 0, out);
});

test("advice about caches is given to a server that varies by other headers alone", async () => {
  const adviceOf = async (vary: string): Promise<boolean> => {
    await using server = await listen(
      createServer(
        (_, response) => void response.writeHead(200, { "content-type": "application/json", vary }).end("{}"),
      ),
    );
    const findings = await checkServer({ url: server.url });
    return findings.some(({ notes }) => notes.some((note) => note.includes("send Vary")));
  };
  for (const vary of ["Accept-Encoding", "Origin, Accept-Language", ""]) assert.equal(await adviceOf(vary), true, vary);
  for (const vary of ["accept", "Origin , ACCEPT", "*"]) assert.equal(await adviceOf(vary), false, vary);
});
