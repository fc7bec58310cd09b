import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { MCP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { McpBridge } from "./mcp-bridge.ts";

/** A request as the brain gets it. */
interface Posted {
  readonly message: JsonObject;
  readonly headers: IncomingMessage["headers"];
  readonly path: string;
  readonly response: ServerResponse;
}

/** A bridge to a brain that answers as the test says; `say` writes a line to it, `told` gives its next line. */
async function openBridge(t: TestContext, answer: (posted: Posted) => void, folder?: string) {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () =>
      answer({ message: JSON.parse(body) as JsonObject, headers: request.headers, path: request.url ?? "", response }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: JsonObject[] = [];
  let heard: (() => void) | undefined;
  const write = process.stdout.write.bind(process.stdout);
  // What the test runner itself writes to stdout is bytes.
  const { mock } = t.mock.method(process.stdout, "write", (text: string | Uint8Array) => {
    if (typeof text !== "string") return write(text);
    lines.push(JSON.parse(text) as JsonObject);
    heard?.();
    return true;
  });
  const input = new PassThrough();
  const bridge = new McpBridge({ url, token: "id.secret" }, folder);
  const served = bridge.serve(input);
  t.after(async () => {
    bridge.close();
    await served;
    mock.restore();
    server.closeAllConnections();
    server.close();
  });
  return {
    bridge,
    served,
    input,
    lines,
    say: (value: unknown) => input.write(typeof value === "string" ? value : `${JSON.stringify(value)}\n`),
    told: async (): Promise<JsonObject> => {
      while (lines.length === 0) await new Promise<void>((resolve) => (heard = resolve));
      return lines.shift()!;
    },
  };
}

const ask = (id: number | string, method = "ping", params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
const result = ({ message, response }: Posted, value: object = {}): void =>
  json(response, { jsonrpc: "2.0", id: message["id"], result: value });
const words = ({ error }: JsonObject): string => (error as { message: string }).message;

describe("a request", () => {
  test("is posted with the token, and its answer has its id", async (t) => {
    const { say, told } = await openBridge(t, (posted) => {
      assert.equal(posted.headers.authorization, "Bearer id.secret");
      assert.equal(posted.path, "/mcp");
      result(posted, { ok: true });
    });
    for (const id of [0, 7, "a", ""]) {
      say(ask(id));
      assert.deepEqual(await told(), { jsonrpc: "2.0", id, result: { ok: true } });
    }
  });

  test("that the brain refuses says why, in the brain's words, or with the beginning of a page", async (t) => {
    const refusals: readonly (readonly [number, string, RegExp])[] = [
      [
        401,
        '{"ok":false,"code":"INVALID_TOKEN","error":"The token was revoked."}',
        /^The brain refuses it: 401 The token was revoked\.$/,
      ],
      [403, '{"code":"FORBIDDEN","message":"Not yours."}', /^The brain refuses it: 403 Not yours\.$/],
      [502, `<html>\n<h1>Bad gateway</h1>${"x".repeat(500)}`, /^The brain refuses it: 502 <html> <h1>Bad gateway.*…$/],
      [500, "", /^The brain refuses it: 500$/],
      [200, "<html>", /^The brain ended the answer early\.$/],
      [200, '{"hello":1}', /^The brain ended the answer early\.$/],
    ];
    let at = 0;
    const { say, told } = await openBridge(t, ({ response }) =>
      response.writeHead(refusals[at]![0]).end(refusals[at]![1]),
    );
    for (const [, , expected] of refusals) {
      say(ask(at));
      const answer = await told();
      assert.match(words(answer), expected);
      assert.ok(words(answer).length < 300);
      assert.equal(answer["id"], at);
      at += 1;
    }
  });

  test("whose error came before it was read gets its own id", async (t) => {
    const { say, told } = await openBridge(t, ({ response }) =>
      json(response, { jsonrpc: "2.0", error: { code: -32600, message: "What?" } }, 400),
    );
    say(ask(5));
    assert.deepEqual(await told(), { jsonrpc: "2.0", id: 5, error: { code: -32600, message: "What?" } });
  });

  test("that is sent on elsewhere is not followed, and the token goes nowhere else", async (t) => {
    const { say, told } = await openBridge(t, ({ response }) =>
      response.writeHead(307, { location: "http://127.0.0.1:9/" }).end(),
    );
    say(ask(1));
    assert.match(words(await told()), /^The brain does not answer: /);
  });

  test("with an id that is under way is refused, and so are more than may be", async (t) => {
    const open: Posted[] = [];
    const { say, told } = await openBridge(t, (posted) => open.push(posted));
    for (let id = 0; id < MCP_LIMITS.atOnce; id += 1) say(ask(id));
    say(ask(0));
    assert.match(words(await told()), /A request with that id is under way/);
    say(ask("one more"));
    assert.match(words(await told()), /At most \d+ requests may be under way at once/);
    while (open.length < MCP_LIMITS.atOnce) await new Promise(setImmediate);
    for (const posted of open) result(posted);
    for (let id = 0; id < MCP_LIMITS.atOnce; id += 1) assert.deepEqual((await told())["result"], {});
    say(ask(0));
    while (open.length === MCP_LIMITS.atOnce) await new Promise(setImmediate);
    result(open.at(-1)!);
    assert.equal((await told())["id"], 0, "an id may be used again when its answer came");
  });

  test("that is cancelled is left, without an answer; a cancellation of another changes nothing", async (t) => {
    const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { say, told } = await openBridge(t, (posted) => {
      if (posted.message["id"] === 2) return result(posted);
      posted.response.on("close", gone.resolve);
      asked.resolve();
    });
    const cancel = (requestId: unknown) =>
      say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    say(ask(1));
    await asked.promise;
    cancel("nope");
    cancel(null);
    cancel(1);
    await gone.promise;
    say(ask(2));
    assert.equal((await told())["id"], 2);
  });
});

describe("a stream of events", () => {
  const sse = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

  test("is passed on message by message, wherever it is cut into pieces", async (t) => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { note: "grün 😀" } };
    const bytesOf = (id: number): Buffer => Buffer.from(sse(progress) + sse({ jsonrpc: "2.0", id, result: {} }));
    const { say, told } = await openBridge(t, ({ message, response }) => {
      const cut = message["id"] as number;
      const bytes = bytesOf(cut);
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      response.write(bytes.subarray(0, cut), () => setImmediate(() => response.end(bytes.subarray(cut))));
    });
    for (let cut = 1; cut < bytesOf(1).length; cut += 11) {
      say(ask(cut));
      assert.deepEqual(await told(), progress);
      assert.deepEqual(await told(), { jsonrpc: "2.0", id: cut, result: {} });
    }
  });

  test("that ends or breaks off before the answer is an error, and rubbish in it is left out", async (t) => {
    const { say, told } = await openBridge(t, ({ message, response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const noise = `: comment\n\ndata: {"no":"rpc"}\n\ndata: {\n\n`;
      if (message["id"] === 1) response.end(noise);
      else response.write(noise, () => response.destroy());
    });
    say(ask(1));
    assert.equal(words(await told()), "The brain ended the answer early.");
    say(ask(2));
    assert.match(words(await told()), /^The brain does not answer: /);
  });
});

describe("a line that is no request", () => {
  test("is answered by what is wrong with it, or with nothing where JSON-RPC wants none", async (t) => {
    const { say, told, lines } = await openBridge(t, result);
    for (const line of ["{", "nonsense"]) {
      say(`${line}\n`);
      assert.equal(((await told())["error"] as JsonObject)["code"], -32700, line);
    }
    for (const line of ["[]", "5", '"x"', "{}", '{"jsonrpc":"1.0","id":1,"method":"x"}', '[{"jsonrpc":"2.0"}]']) {
      say(`${line}\n`);
      assert.equal(((await told())["error"] as JsonObject)["code"], -32600, line);
    }
    say({ jsonrpc: "2.0", method: "notifications/initialized" });
    say({ jsonrpc: "2.0", id: 9, result: {} });
    say("\n");
    say(ask("last"));
    assert.equal((await told())["id"], "last");
    assert.deepEqual(lines, []);
  });

  test("is whole only with its end, in whatever pieces it comes", async (t) => {
    const { say, told } = await openBridge(t, result);
    const line = `${JSON.stringify(ask("grün 😀"))}\n`;
    for (const letter of Array.from(line)) say(letter);
    assert.equal((await told())["id"], "grün 😀");
  });
});

describe("a run that is started on this machine", () => {
  test("works in the folder of the command, unless it names a folder or a hand", async (t) => {
    const { say, told } = await openBridge(
      t,
      (posted) => result(posted, posted.message["params"] as JsonObject),
      "/srv/app",
    );
    const workspaceOf = async (name: string, given: object): Promise<unknown> => {
      say(ask(1, "tools/call", { name, arguments: given }));
      return ((((await told())["result"] as JsonObject)["arguments"] ?? {}) as JsonObject)["workspace"];
    };
    assert.equal(await workspaceOf("run_task", { task: "x" }), "/srv/app");
    assert.equal(await workspaceOf("run_command", {}), "/srv/app");
    assert.equal(await workspaceOf("run_task", { workspace: "/other" }), "/other");
    assert.equal(await workspaceOf("run_task", { hand: "web-1" }), undefined);
    assert.equal(await workspaceOf("list_runs", {}), undefined);
  });
});

test("the revision that initialize agreed on goes with every later request", async (t) => {
  const revisions: unknown[] = [];
  const { say, told } = await openBridge(t, (posted) => {
    revisions.push(posted.headers["mcp-protocol-version"]);
    result(posted, posted.message["method"] === "initialize" ? { protocolVersion: "2025-06-18" } : {});
  });
  for (const method of ["ping", "initialize", "ping", "initialize"]) {
    say(ask(1, method));
    await told();
  }
  assert.deepEqual(revisions, [undefined, undefined, "2025-06-18", undefined]);
});

test("the end of the input ends the bridge, and what is under way is given up", async (t) => {
  const gone = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { say, input, served } = await openBridge(t, ({ response }) => {
    response.on("close", gone.resolve);
    asked.resolve();
  });
  say(ask(1));
  await asked.promise;
  input.end();
  await served;
  await gone.promise;
});
