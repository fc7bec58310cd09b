import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { FILE_LIMITS, HAND_LIMITS } from "@vidro/core";
import { fetchImage } from "./fetch-image.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==",
  "base64",
);

/** A server on this machine whose names the policy allows, but for those that begin with `inside`. */
async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const fetched = (path: string, privateHosts: readonly string[] = ["*.test"]) =>
    fetchImage(`http://images.test:${port}${path}`, {
      privateHosts,
      signal: new AbortController().signal,
      resolveHost: async () => [{ address: "127.0.0.1", family: 4 }],
    });
  return { fetched, asked, port };
}

describe("an image at an address", () => {
  it("is what its bytes say, whatever the server calls it, and is asked for without cookies or credentials", async (t) => {
    const { fetched, asked } = await serve(t, ({ url }, response) => {
      if (url === "/packed") response.setHeader("content-encoding", "gzip").end(gzipSync(PNG));
      else response.setHeader("content-type", "text/html").end(PNG);
    });
    for (const path of ["/a", "/packed"])
      assert.deepEqual(await fetched(path), { mediaType: "image/png", data: PNG.toString("base64") });
    assert.match(asked[0]?.headers.accept ?? "", /image\/png/);
    assert.deepEqual([asked[0]?.headers.cookie, asked[0]?.headers.authorization], [undefined, undefined]);
  });

  it("is refused with the reason when it is no image, too large, packed too large, or not there", async (t) => {
    const large = Buffer.concat([PNG, Buffer.alloc(FILE_LIMITS.imageBytes)]);
    const { fetched } = await serve(t, ({ url }, response) => {
      response.on("error", () => undefined);
      if (url === "/page") response.setHeader("content-type", "image/png").end("<html>secret</html>");
      else if (url === "/large") response.end(large);
      else if (url === "/bomb") response.setHeader("content-encoding", "gzip").end(gzipSync(Buffer.alloc(2 ** 26)));
      else response.writeHead(404).end(PNG);
    });
    const rows = { "/page": /it is no image/, "/large": /more than/, "/bomb": /more than/, "/none": /status 404/ };
    for (const [path, message] of Object.entries(rows))
      await assert.rejects(fetched(path), { code: "TOOL_FAILED", message });
  });

  it("is not fetched from an address that is not public, unless the policy names the host", async (t) => {
    const { fetched, asked } = await serve(t, (_, response) => void response.end(PNG));
    await assert.rejects(fetched("/", []), { message: /127\.0\.0\.1, which is not public.*privateHosts/ });
    const signal = new AbortController().signal;
    for (const place of [
      "127.0.0.1",
      "[::1]",
      "169.254.169.254",
      "10.0.0.1",
      "[fd00::1]",
      "0.0.0.0",
      "[::ffff:10.0.0.1]",
    ])
      await assert.rejects(fetchImage(`http://${place}/latest/meta-data`, { privateHosts: [], signal }), {
        message: /which is not public/,
      });
    assert.equal(asked.length, 0);
  });

  it("is followed over hosts, and each of them is checked again", async (t) => {
    const { fetched, asked, port } = await serve(t, ({ url = "", headers }, response) => {
      const target = { "/away": `http://other.test:${port}/there`, "/meta": "http://169.254.169.254/latest/meta-data" };
      const inside = `http://inside.example:${port}/`;
      const location = url === "/inside" ? inside : target[url as keyof typeof target];
      if (location !== undefined) response.writeHead(302, { location }).end();
      else if (url === "/loop") response.writeHead(302, { location: "/loop" }).end();
      else if (url === "/file") response.writeHead(302, { location: "file:///etc/passwd" }).end();
      else response.end(headers.host?.startsWith("other.test") === true ? PNG : "no");
    });
    assert.equal((await fetched("/away")).mediaType, "image/png");
    await assert.rejects(fetched("/meta"), { message: /169\.254\.169\.254, which is not public/ });
    await assert.rejects(fetched("/inside"), { message: /inside\.example has the address 127\.0\.0\.1/ });
    await assert.rejects(fetched("/file"), { message: /no address of a page/ });
    asked.length = 0;
    await assert.rejects(fetched("/loop"), { message: /redirects more than 5 times/ });
    assert.equal(asked.length, HAND_LIMITS.redirects + 1);
  });

  it("is not looked for at an address that is none, has credentials or is too long", async () => {
    const signal = new AbortController().signal;
    for (const address of [
      "",
      "file:///etc/passwd",
      "data:image/png;base64,AAAA",
      "ftp://images.test/a",
      "http://user:word@images.test/a",
      `http://images.test/${"x".repeat(HAND_LIMITS.urlChars)}`,
    ])
      await assert.rejects(fetchImage(address, { privateHosts: ["*"], signal }), { code: "TOOL_FAILED" });
  });
});
