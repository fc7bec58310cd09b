import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { MODEL_LIMITS } from "@vidro/core";
import { boundedFetch } from "./bounded-fetch.ts";

/** The address of a server that answers in this way. */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString();
}

void test("method, headers and a body of text go out, and status, headers and body come back", async (t) => {
  const url = await serve(t, (request, response) => {
    const said = `${request.method} ${request.url} ${String(request.headers["x-key"])}`;
    response.writeHead(418, "Teapot", [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
    void bodyOf(request).then((body) => response.end(`${said} ${body}`));
  });
  const response = await boundedFetch(`${url}/x?y=1`, { method: "POST", headers: { "x-key": "k" }, body: "ção" });
  assert.deepEqual([response.status, response.statusText, response.ok], [418, "Teapot", false]);
  assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
  assert.equal(await response.text(), "POST /x?y=1 k ção");
});

void test("a Request and a URL name the address, too, and an answer without a body has none", async (t) => {
  const url = await serve(t, (request, response) => void response.writeHead(request.url === "/205" ? 205 : 204).end());
  assert.equal((await boundedFetch(new URL(url))).body, null);
  assert.equal((await boundedFetch(new Request(`${url}/205`))).status, 205);
});

void test("a redirect is not followed: the other host hears nothing of the key", async (t) => {
  const heard: (string | undefined)[] = [];
  const other = await serve(t, (request, response) => {
    heard.push(request.headers.authorization);
    response.end();
  });
  for (const status of [301, 302, 307, 308, 304]) {
    const url = await serve(t, (_, response) => void response.writeHead(status, { location: other }).end());
    await assert.rejects(boundedFetch(url, { headers: { authorization: "Bearer k" } }), { message: "fetch failed" });
  }
  assert.deepEqual(heard, []);
});

void test("a body that is no text is refused before anything is sent", async (t) => {
  let requests = 0;
  const url = await serve(t, (_, response) => {
    requests += 1;
    response.end();
  });
  await assert.rejects(boundedFetch(url, { method: "POST", body: new Uint8Array(3) }), { message: /Only a text/ });
  assert.equal(requests, 0);
});

void test("a line beyond the bound ends the body with a named fault, and the server is cut off", async (t) => {
  const cut = Promise.withResolvers<void>();
  const url = await serve(t, (_, response) => {
    response.once("close", cut.resolve);
    const chunk = Buffer.alloc(MODEL_LIMITS.eventBytes / 8, "x");
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  });
  const response = await boundedFetch(url);
  await assert.rejects(response.text(), { code: "MODEL_RUBBISH" });
  await cut.promise;
});

void test("many lines may be longer together than one line may be", async (t) => {
  const line = `${"x".repeat(MODEL_LIMITS.eventBytes / 4)}\n`;
  const url = await serve(t, (_, response) => void response.end(line.repeat(6)));
  assert.equal((await (await boundedFetch(url)).text()).length, line.length * 6);
});

void test("an abort ends the request before its answer, and the body after it", async (t) => {
  const silent = await serve(t, () => undefined);
  const early = new AbortController();
  const waiting = boundedFetch(silent, { signal: early.signal });
  early.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  const url = await serve(t, (_, response) => void response.write("first\n"));
  const late = new AbortController();
  const response = await boundedFetch(url, { signal: late.signal });
  const reader = response.body!.getReader();
  assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), "first\n");
  const rest = reader.read();
  late.abort();
  await assert.rejects(rest);
});

void test("a server that breaks off in the middle of its body makes the body fail, not end", async (t) => {
  const url = await serve(t, (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => response.socket?.destroy());
  });
  await assert.rejects((await boundedFetch(url)).text());
});

void test("a reader that cancels lets the server go", async (t) => {
  const asked = Promise.withResolvers<ServerResponse>();
  const url = await serve(t, (_, response) => {
    response.write("x\n");
    asked.resolve(response);
  });
  const response = await boundedFetch(url);
  const closed = once(await asked.promise, "close");
  await response.body!.cancel();
  await closed;
});

void test("what cannot be reached fails as fetch does, with the cause", async () => {
  await assert.rejects(boundedFetch("http://127.0.0.1:1/"), { code: "ECONNREFUSED" });
  await assert.rejects(boundedFetch("no address"), { code: "ERR_INVALID_URL" });
});
