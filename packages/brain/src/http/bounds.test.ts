import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HTTP_LIMITS } from "@vidro/core";
import { allOf, closed, Served } from "./served.fixture.ts";

const CHUNK = 64 * 1024;

test("a client that sends its headers a byte at a time is cut off when their time is over", async () => {
  await using served = await Served.up({ bounds: { headersMs: 300, requestMs: 600 } });
  const socket = await served.socket();
  const answer = allOf(socket);
  const drip = setInterval(() => socket.write("X"), 20);
  socket.write("GET /open HTTP/1.1\r\nX-A: ");
  const startedAt = performance.now();
  const said = await answer;
  clearInterval(drip);
  assert.match(said, /^HTTP\/1\.1 408 /);
  assert.ok(performance.now() - startedAt < HTTP_LIMITS.headersMs, "it is cut off sooner than by default");
  assert.equal((await served.call("GET", "/open")).status, 200);
});

test("a client that connects and says nothing is cut off, too", async () => {
  await using served = await Served.up({ bounds: { headersMs: 300, requestMs: 600 } });
  assert.match(await served.raw(), /^HTTP\/1\.1 408 /);
});

test("a client that sends its body a byte at a time is cut off when its time is over", async () => {
  await using served = await Served.up({ bounds: { headersMs: 300, requestMs: 600 } });
  const socket = await served.socket();
  const answer = allOf(socket);
  socket.write(served.head("POST /things HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000"));
  const drip = setInterval(() => socket.write(" "), 20);
  assert.match(await answer, /^HTTP\/1\.1 (?:408|400) /);
  clearInterval(drip);
  assert.equal(served.trial.made, 0);
});

test("headers beyond their bound, and too many of them, are 431", async () => {
  await using served = await Served.up();
  assert.match(
    await served.raw(served.head("GET /open HTTP/1.1", `X-Bomb: ${"x".repeat(HTTP_LIMITS.headerBytes)}`)),
    /^HTTP\/1\.1 431 /,
  );
  const many = Array.from({ length: HTTP_LIMITS.headers }, (_, at) => `X-${at}: 1`);
  const foreign = ["Origin: https://evil.example", "Connection: close"];
  assert.match(
    await served.raw(served.head("GET /open HTTP/1.1", "Connection: close", ...many, ...foreign)),
    /^HTTP\/1\.1 431 /,
  );
});

test("JSON that is nested too deeply, or is none, is refused before anything walks it", async () => {
  await using served = await Served.up();
  const post = (body: string | Buffer): Promise<string> =>
    served.raw(
      served.head(
        "POST /things HTTP/1.1",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        "Connection: close",
      ),
      body,
    );
  assert.match(await post("[".repeat(500_000) + "]".repeat(500_000)), /^HTTP\/1\.1 400 [^]*nested deeper than 64/);
  assert.match(await post('{"name":'), /^HTTP\/1\.1 400 [^]*This is not JSON/);
  assert.match(await post('{"name":"x","__proto__":{"admin":true}}'), /^HTTP\/1\.1 400 /);
  assert.match(await post(Buffer.from([0x22, 0xff, 0x22])), /^HTTP\/1\.1 400 [^]*not UTF-8/);
});

test("a body that says it is too large is refused before it is sent, and one that turns out so while it is", async () => {
  await using served = await Served.up();
  const kind = "Content-Type: application/json";
  const declared = served.head("POST /things HTTP/1.1", kind, `Content-Length: ${HTTP_LIMITS.bodyBytes + 1}`);
  assert.match(await served.raw(declared), /^HTTP\/1\.1 413 [^]*Connection: close/i);
  const chunk = `${CHUNK.toString(16)}\r\n${" ".repeat(CHUNK)}\r\n`;
  const chunks = Array.from({ length: (2 * HTTP_LIMITS.bodyBytes) / CHUNK }, () => chunk);
  const answer = await served.raw(served.head("POST /things HTTP/1.1", kind, "Transfer-Encoding: chunked"), ...chunks);
  assert.match(answer, /^HTTP\/1\.1 413 [^]*PAYLOAD_TOO_LARGE/);
  const whole = `{"name":"${"x".repeat(HTTP_LIMITS.bodyBytes - 11)}"}`;
  const fits = await served.raw(
    served.head("POST /things HTTP/1.1", kind, `Content-Length: ${whole.length}`, "Connection: close"),
    whole,
  );
  assert.match(fits, /^HTTP\/1\.1 201 /);
});

test("a body without end is read no further than its bound, and the connection is closed", async () => {
  await using served = await Served.up();
  const socket = await served.socket();
  socket.write(served.head("POST /things HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked"));
  const chunk = `${CHUNK.toString(16)}\r\n${" ".repeat(CHUNK)}\r\n`;
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", pour).resume();
  pour();
  await closed(socket);
  assert.equal(served.trial.made, 0);
});

test("100 Continue is sent only after all other checks have passed", async () => {
  await using served = await Served.up();
  const ask = ["Content-Type: application/json", "Content-Length: 12", "Expect: 100-continue", "Connection: close"];
  const socket = await served.socket();
  const answer = allOf(socket);
  socket.write(served.head("POST /things HTTP/1.1", ...ask));
  await once(socket, "data");
  socket.write('{"name":"x"}');
  assert.match(await answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  const stranger = served.head("POST /things HTTP/1.1", ...ask).replace(/Authorization.*\r\n/, "");
  assert.match(await served.raw(stranger), /^HTTP\/1\.1 401 /);
});

test("F12: a request in pieces of one byte, and two in one piece, are the same to us", async () => {
  await using served = await Served.up();
  const body = '{"name":"é"}';
  const request = Buffer.from(
    served.head(
      "POST /things HTTP/1.1",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ) + body,
  );
  const socket = await served.socket();
  socket.setNoDelay();
  const answer = allOf(socket);
  for (const byte of request) {
    socket.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  const last = served.head("GET /open HTTP/1.1", "Connection: close");
  socket.write(Buffer.concat([request, Buffer.from(last)]));
  const statuses = [...(await answer).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.deepEqual(statuses, ["201", "201", "200"]);
  assert.equal(served.trial.made, 2);
});

test("connections beyond their bound are closed at once, and there is room again when others leave", async () => {
  await using served = await Served.up({ bounds: { connections: 3 } });
  const sockets = await Promise.all([served.socket(), served.socket(), served.socket()]);
  assert.equal(await served.raw("GET /open HTTP/1.1\r\n\r\n"), "");
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map(closed));
  let status: number | undefined;
  while (status === undefined)
    status = await served.call("GET", "/open").then(
      (answer) => answer.status,
      () => undefined,
    );
  assert.equal(status, 200);
});

test("a request that is none is 400, and CONNECT and TRACE get nowhere", async () => {
  await using served = await Served.up();
  assert.match(await served.raw("\x16\x03\x01 rubbish\r\n\r\n"), /^HTTP\/1\.1 400 /);
  assert.equal(await served.raw("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "");
  assert.match(await served.raw(served.head("TRACE /open HTTP/1.1", "Connection: close")), /^HTTP\/1\.1 405 /);
  const smuggled = served.head("POST /things HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked");
  assert.match(await served.raw(`${smuggled}0\r\n\r\n`), /^HTTP\/1\.1 400 /);
});

test("a target may be a whole address, but its host is not what counts", async () => {
  await using served = await Served.up();
  const ask = (target: string): Promise<string> =>
    served.raw(served.head(`GET ${target} HTTP/1.1`, "Connection: close"));
  assert.match(await ask(`${served.server.url}/open?x=1`), /^HTTP\/1\.1 200 /);
  assert.match(await ask("//evil.example/open"), /^HTTP\/1\.1 404 /);
  assert.match(await ask("/../open"), /^HTTP\/1\.1 404 /);
});

test("with TLS the server may be reached from elsewhere, and tells browsers to stay with it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-tls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
  execFileSync("openssl", ["req", "-x509", ...fresh, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  const pem = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  await using served = await Served.up({ host: "0.0.0.0", tls: pem });
  const request = get({ host: "127.0.0.1", port: served.server.port, path: "/open", ca: pem.cert, agent: false });
  const [response] = await once(request, "response");
  assert.equal(response.statusCode, 200);
  assert.match(response.headers["strict-transport-security"], /^max-age=/);
  response.resume();
  await once(response, "end");
  assert.match(served.server.url, /^https:/);
});
