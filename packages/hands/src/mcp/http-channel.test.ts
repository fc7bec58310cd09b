import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { MOUNT_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { HttpChannel } from "./http-channel.ts";

interface Received {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  /** The message that was posted. */
  readonly message: { readonly id?: number; readonly method?: string; readonly params?: JsonObject };
}

type Answer = (received: Received, response: ServerResponse) => void;

/** A server that answers each request as told, and the channel to it. */
async function serve(t: TestContext, answer: Answer, tokens?: ConstructorParameters<typeof HttpChannel>[1]) {
  const all: Received[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = request.method === "POST" ? await json(request) : {};
    const received = { method: request.method ?? "", headers: request.headers, message: message as object };
    all.push(received);
    answer(received, response);
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const channel = new HttpChannel({ name: "s", effects: new Map(), url, headers: { "x-own": "1" } }, tokens);
  return { channel, all, server };
}

const never = new AbortController().signal;
const ask = (channel: HttpChannel, signal = never, headers = {}): Promise<JsonObject> =>
  channel.ask({ method: "tools/call", params: { a: 1 }, headers, signal });

/** Answers with one JSON message. */
function reply(response: ServerResponse, value: object, headers: object = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

/** A result as a line of a stream. */
function eventOf(value: object, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`;
}

const result = ({ message }: Received, value: object = {}): object => ({
  jsonrpc: "2.0",
  id: message.id,
  result: value,
});
const STREAM = { "content-type": "text/event-stream" };

describe("a channel over HTTP", () => {
  it("posts a request with its headers, those of the file, the revision and the session", async (t) => {
    const { channel, all } = await serve(t, (received, response) =>
      reply(response, result(received, { ok: true }), { "mcp-session-id": "abc" }),
    );
    assert.deepEqual(await ask(channel, never, { "mcp-method": "tools/call" }), { ok: true });
    channel.agree("2025-11-25");
    await ask(channel);
    const [first, second] = all;
    assert.deepEqual(first?.message, { jsonrpc: "2.0", id: 1, method: "tools/call", params: { a: 1 } });
    assert.equal(first?.headers["x-own"], "1");
    assert.equal(first?.headers["mcp-method"], "tools/call");
    assert.equal(first?.headers["mcp-session-id"], undefined);
    assert.equal(first?.headers.accept, "application/json, text/event-stream");
    assert.equal(second?.headers["mcp-session-id"], "abc");
    assert.equal(second?.headers["mcp-protocol-version"], "2025-11-25");
    assert.equal(second?.message.id, 2);
  });

  it("carries the token of a person who has signed in, as it is at each request", async (t) => {
    const given = ["one", "two"];
    const { channel, all } = await serve(t, (received, response) => reply(response, result(received)), {
      find: async () => given.shift(),
    });
    await ask(channel);
    await ask(channel);
    assert.deepEqual(
      all.map(({ headers }) => headers.authorization),
      ["Bearer one", "Bearer two"],
    );
  });

  it("finds its answer in a stream, beside messages for others, and sees that tools changed", async (t) => {
    const { channel } = await serve(t, (received, response) => {
      response.writeHead(200, STREAM);
      response.write(": a comment\n\n");
      response.write(eventOf({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }));
      response.write(eventOf({ jsonrpc: "2.0", id: 99, result: { other: true } }));
      response.end(eventOf(result(received, { mine: true })));
    });
    assert.deepEqual(await ask(channel), { mine: true });
    assert.deepEqual([channel.takeChange(), channel.takeChange()], [true, false]);
  });

  it("goes on with a stream that breaks off, from the last event that had an id", async (t) => {
    let id = 0;
    const { channel, all } = await serve(t, (received, response) => {
      response.writeHead(200, STREAM);
      if (received.method === "POST") {
        id = received.message.id ?? 0;
        response.end(`retry: 1\n${eventOf({ jsonrpc: "2.0", method: "notifications/progress" }, "e1")}`);
      } else response.end(eventOf({ jsonrpc: "2.0", id, result: { late: true } }, "e2"));
    });
    assert.deepEqual(await ask(channel), { late: true });
    assert.equal(all[1]?.method, "GET");
    assert.equal(all[1]?.headers["last-event-id"], "e1");
  });

  it("goes on with a stream a few times only, and says then that the outcome is unknown", async (t) => {
    const { channel, all } = await serve(t, (_, response) => {
      response.writeHead(200, STREAM).end(`retry: 1\n${eventOf({ jsonrpc: "2.0", method: "x" }, "e1")}`);
    });
    await assert.rejects(ask(channel), {
      code: "OUTCOME_UNKNOWN",
      message: "The server s ended its answer early; the call may have had its effect.",
    });
    assert.equal(all.length, 1 + MOUNT_LIMITS.resumptions);
  });

  it("does not ask again when a stream without ids breaks off: the call may have had its effect", async (t) => {
    const { channel, all } = await serve(t, (_, response) => {
      response.writeHead(200, STREAM).end(eventOf({ jsonrpc: "2.0", method: "x" }));
    });
    await assert.rejects(ask(channel), { code: "OUTCOME_UNKNOWN" });
    assert.equal(all.length, 1);
  });

  it("says that an outcome is unknown when the connection is cut in mid-answer", async (t) => {
    const { channel } = await serve(t, (_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write("{");
      setImmediate(() => response.destroy());
    });
    await assert.rejects(ask(channel), { code: "OUTCOME_UNKNOWN" });
  });

  it("says that a server was not reached, which is no doubt about an effect", async (t) => {
    const { channel, server } = await serve(t, () => undefined);
    server.close();
    await once(server, "close");
    await assert.rejects(ask(channel), { code: "TOOL_FAILED", message: /^The server s is not reached: / });
  });

  it("follows no redirection, which could lead tokens elsewhere", async (t) => {
    const { channel, all } = await serve(t, (_, response) => {
      response.writeHead(307, { location: "http://127.0.0.1:1/" }).end();
    });
    await assert.rejects(ask(channel), { code: "OUTCOME_UNKNOWN" });
    assert.equal(all.length, 1);
  });

  it("is given up when it is stopped, before and during an answer", async (t) => {
    const stop = new AbortController();
    const { channel } = await serve(t, (_, response) => {
      response.writeHead(200, STREAM);
      response.write(": begun\n\n");
      setImmediate(() => stop.abort());
    });
    await assert.rejects(ask(channel, stop.signal), { code: "OUTCOME_UNKNOWN", message: /was told to stop/ });
    await assert.rejects(ask(channel, AbortSignal.abort()), { code: "OUTCOME_UNKNOWN", message: /was told to stop/ });
  });

  it("gives the server's own error with its code", async (t) => {
    const { channel } = await serve(t, (received, response) =>
      reply(response, { jsonrpc: "2.0", id: received.message.id, error: { code: -32_602, message: "bad" } }),
    );
    await assert.rejects(ask(channel), { code: "TOOL_FAILED", detail: { rpc: -32_602 } });
  });

  it("says what a status without a message means, and how to sign in", async (t) => {
    const statuses = [500, 401, 403];
    const { channel } = await serve(t, (_, response) => {
      response.writeHead(statuses.shift() ?? 500, { "www-authenticate": 'Bearer realm="x"' }).end("<html>");
    });
    await assert.rejects(ask(channel), {
      message: "The server s answers 500, and no message.",
      detail: { status: 500 },
    });
    for (const status of [401, 403])
      await assert.rejects(ask(channel), (thrown: { message: string; detail: unknown }) => {
        assert.match(thrown.message, /asks for authorization \(Bearer realm="x"\): sign in with vidro hands login s/);
        assert.deepEqual(thrown.detail, { status });
        return true;
      });
  });

  it("is closed when the server does not know its session any more", async (t) => {
    const { channel, all } = await serve(t, (received, response) => {
      if (all.length === 1) reply(response, result(received), { "mcp-session-id": "abc" });
      else response.writeHead(404).end();
    });
    await ask(channel);
    assert.equal(channel.isOpen, true);
    await assert.rejects(ask(channel), { code: "TOOL_FAILED" });
    assert.equal(channel.isOpen, false);
  });

  it("reads no more of an answer than the bound, in one message or in a stream", async (t) => {
    const large = "x".repeat(MOUNT_LIMITS.messageBytes);
    for (const type of ["application/json", "text/event-stream"]) {
      const { channel } = await serve(t, (received, response) => {
        response.on("error", () => undefined);
        const message = JSON.stringify(result(received, { large }));
        response
          .writeHead(200, { "content-type": type })
          .end(type === "application/json" ? message : `data: ${message}\n\n`);
      });
      await assert.rejects(ask(channel), { code: "OUTCOME_UNKNOWN", message: /more than \d+ bytes/ });
    }
  });

  it("reads no endless stream of messages that nothing had asked for", async (t) => {
    const { channel } = await serve(t, (_, response) => {
      response.on("error", () => undefined);
      response.writeHead(200, STREAM);
      response.write(eventOf({ jsonrpc: "2.0", method: "x" }).repeat(MOUNT_LIMITS.unaskedMessages + 1));
    });
    await assert.rejects(ask(channel), { message: /sends messages without end/ });
  });

  it("tells a message that has no answer, and ends its session when it is closed", async (t) => {
    const { channel, all } = await serve(t, (received, response) => {
      if (received.message.id === undefined) response.writeHead(202).end();
      else reply(response, result(received), { "mcp-session-id": "abc" });
    });
    await ask(channel);
    await channel.tell("notifications/initialized", {});
    await channel.close();
    assert.deepEqual(all[1]?.message, { jsonrpc: "2.0", method: "notifications/initialized" });
    assert.deepEqual([all[2]?.method, all[2]?.headers["mcp-session-id"]], ["DELETE", "abc"]);
    assert.equal(channel.isOpen, false);
  });

  it("follows no redirection, not even when it ends its session: a server cannot have it ask other hosts", async (t) => {
    const inside = await serve(t, (_, response) => void response.end());
    const address = inside.server.address() as AddressInfo;
    const location = `http://127.0.0.1:${address.port}/admin/everything`;
    const { channel, all } = await serve(t, (received, response) => {
      if (received.method === "DELETE" || all.length > 1) response.writeHead(307, { location }).end();
      else reply(response, result(received), { "mcp-session-id": "abc" });
    });
    await ask(channel);
    await assert.rejects(ask(channel));
    await channel.close();
    assert.equal(all.at(-1)?.method, "DELETE");
    assert.deepEqual(inside.all, []);
  });

  it("without a session is closed without a request, and a server that is gone does not hold it up", async (t) => {
    const { channel, all, server } = await serve(t, (received, response) =>
      reply(response, result(received), { "mcp-session-id": "abc" }),
    );
    const other = new HttpChannel({ name: "t", effects: new Map(), url: "http://127.0.0.1:1/", headers: {} });
    await other.close();
    await ask(channel);
    server.closeAllConnections();
    server.close();
    await channel.close();
    assert.equal(all.length, 1);
  });
});
