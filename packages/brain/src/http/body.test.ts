import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { asFault, HTTP_LIMITS, PAGE_LIMITS } from "@vidro/core";
import { admitRequest } from "./allowed-hosts.ts";
import { readBody } from "./body.ts";
import { allowSend, parseOrigins } from "./cross-origin.ts";
import { andOneMore, itemsIn, pageOf, pageReply } from "./paging.ts";

const ALLOWED = {
  hosts: new Set(["localhost", "brain"]),
  origins: new Set(["https://app.example"]),
  scheme: "http",
} as const;

/** Sends raw bytes to a server that answers with what `work` gives or the code that it throws. */
async function exchange(
  t: TestContext,
  work: (request: IncomingMessage) => unknown,
  bytes: string | Buffer,
): Promise<string> {
  const server = createServer((request, response) => {
    void Promise.resolve()
      .then(() => work(request))
      .then(
        (value) => response.end(JSON.stringify(value ?? null)),
        (thrown: unknown) => response.writeHead(400).end(asFault(thrown).code),
      );
  });
  server.on("checkContinue", (request: IncomingMessage, response) => server.emit("request", request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
  socket.write(bytes);
  let text = "";
  for await (const chunk of socket.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (/\r\n\r\n[\s\S]+$/.test(text) && !text.startsWith("HTTP/1.1 100")) break;
  }
  socket.destroy();
  return text.slice(text.indexOf("\r\n\r\n") + 4).replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$|\r\n$/g, "");
}

function post(body: string | Buffer, ...headers: readonly string[]): Buffer {
  const head = [
    "POST / HTTP/1.1",
    "Host: localhost",
    "Connection: close",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

const read = (request: IncomingMessage): Promise<unknown> =>
  readBody(request, { writeContinue: () => undefined } as never);

test("a JSON body is read in every spelling of its type, and an absent one is an empty object", async (t) => {
  for (const type of [
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/vnd.api+json",
  ])
    assert.equal(await exchange(t, read, post('{"a":"é"}', `Content-Type: ${type}`)), '{"a":"é"}', type);
  assert.equal(await exchange(t, read, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), "{}");
  const chunked =
    "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  assert.equal(await exchange(t, read, `${chunked}2\r\n{"\r\n5\r\na":1}\r\n0\r\n\r\n`), '{"a":1}');
  assert.equal(await exchange(t, read, `${chunked}0\r\n\r\n`), "{}");
});

test("other types, encodings and characters are refused, each with its own code", async (t) => {
  for (const type of [
    "text/plain",
    "application/jsonp",
    "application/json; charset=latin1",
    "text/json",
    "",
    "application/json, text/plain",
  ])
    assert.equal(await exchange(t, read, post("{}", `Content-Type: ${type}`)), "UNSUPPORTED_MEDIA_TYPE", type);
  assert.equal(
    await exchange(t, read, post("{}", "Content-Type: application/json", "Content-Encoding: gzip")),
    "UNSUPPORTED_MEDIA_TYPE",
  );
  assert.equal(
    await exchange(t, read, post(Buffer.from([0x22, 0xff, 0x22]), "Content-Type: application/json")),
    "BAD_REQUEST",
  );
  assert.equal(await exchange(t, read, post("{", "Content-Type: application/json")), "BAD_REQUEST");
});

test("a body over the bound is refused by its length before it is read, and by its bytes when it has none", async (t) => {
  const long = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${HTTP_LIMITS.bodyBytes + 1}\r\n\r\n`;
  assert.equal(await exchange(t, read, long), "PAYLOAD_TOO_LARGE");
  const chunked =
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const size = HTTP_LIMITS.bodyBytes + 1;
  assert.equal(await exchange(t, read, `${chunked}${size.toString(16)}\r\n${" ".repeat(size)}`), "PAYLOAD_TOO_LARGE");
});

/** What admitting a request with these headers gives. */
function admit(t: TestContext, ...headers: readonly string[]): Promise<string> {
  const head = ["GET / HTTP/1.1", "Connection: close", ...headers].join("\r\n");
  return exchange(t, (request) => admitRequest(request, ALLOWED), `${head}\r\n\r\n`);
}

test("a request names one of the server's own hosts, or the address that it dialled", async (t) => {
  for (const host of ["localhost", "LOCALHOST:80", "brain:3120", "127.0.0.1", "127.0.0.1:5"])
    assert.equal(await admit(t, `Host: ${host}`), "null", host);
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "brain.",
    "[::1]",
    "127.0.0.2",
    "a:b:c",
    "localhost:x",
    "brain@evil",
  ])
    assert.equal(await admit(t, `Host: ${host}`), "MISDIRECTED", host);
});

test("pages of the server itself and of named origins may call, and no others", async (t) => {
  assert.equal(await admit(t, "Host: brain:3120", "Origin: http://brain:3120"), "null");
  assert.equal(await admit(t, "Host: brain", "Origin: https://app.example"), '"https://app.example"');
  for (const origin of [
    "http://brain:1",
    "https://brain",
    "null",
    "https://app.example.evil",
    "http://app.example",
    "https://APP.example",
    "http://localhost",
  ])
    assert.equal(await admit(t, "Host: brain", `Origin: ${origin}`), "FORBIDDEN", origin);
});

test("origins are read as browsers write them; anything else is a typing error that is told", () => {
  assert.deepEqual(parseOrigins(["https://app.example", "http://localhost:5173/"]), [
    "https://app.example",
    "http://localhost:5173",
  ]);
  for (const name of [
    "",
    "*",
    "app.example",
    "https://app.example/path",
    "https://app.example?x",
    "https://u@app.example",
    "file:///x",
    "null",
  ])
    assert.throws(() => parseOrigins([name]), { code: "BAD_REQUEST", message: /VIDRO_ORIGINS/ }, name);
});

test("a preflight is answered with the methods of the route, and header names are not passed on unchecked", () => {
  const answer = (headers: Readonly<Record<string, string>>): Record<string, string> => {
    const set: Record<string, string> = {};
    const response = { setHeader: (name: string, value: string) => void (set[name] = value) };
    allowSend({ headers } as unknown as IncomingMessage, response as never, ["GET", "POST"]);
    return set;
  };
  assert.deepEqual(answer({}), {}, "a plain OPTIONS asks for nothing");
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization, x-new" };
  assert.deepEqual(
    [answer(asked)["access-control-allow-methods"], answer(asked)["access-control-allow-headers"]],
    ["GET, POST", "authorization, x-new"],
  );
  for (const wanted of ["", "a b", "a,,b", "a\r\nb", "é", ","])
    assert.equal(
      answer({ ...asked, "access-control-request-headers": wanted })["access-control-allow-headers"],
      undefined,
      wanted,
    );
});

test("pages of a list join to the whole list, whatever their size", () => {
  const all = Array.from({ length: 23 }, (_, index) => ({ id: `i${index}` }));
  const id = (item: { id: string }): string => item.id;
  for (const limit of [1, 5, 22, 23, 24, PAGE_LIMITS.items]) {
    const seen: string[] = [];
    for (let after: string | undefined, more = true; more;) {
      const page = pageOf({ query: { limit: String(limit), ...(after === undefined ? {} : { after }) } });
      const { json, headers } = pageReply(itemsIn(all, page, id), page, { id, json: (items) => items.map(id) }) as {
        json: string[];
        headers?: Record<string, string>;
      };
      assert.ok(json.length <= limit && json.length > 0);
      seen.push(...json);
      after = headers?.["x-next-cursor"];
      more = after !== undefined;
    }
    assert.deepEqual(seen, all.map(id), `pages of ${limit}`);
  }
  assert.deepEqual(andOneMore({ limit: 5, after: "x" }), { limit: 6, after: "x" });
  assert.throws(() => itemsIn(all, { limit: 5, after: "gone" }, id), { code: "NOT_FOUND", message: /begin without/ });
});
