import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { HAND_LIMITS } from "@vidro/core";
import { fetchPage } from "./fetch-page.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on this machine under a public-looking name, and how it is fetched from. */
async function serve(t: TestContext, answer: Answer) {
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
  const resolveHost = async () => [{ address: "127.0.0.1", family: 4 }];
  const fetched = (path: string, more: object = {}) =>
    fetchPage(`http://pages.test:${port}${path}`, {
      reach: "any",
      signal: new AbortController().signal,
      resolveHost,
      ...more,
    });
  return { fetched, asked, port };
}

describe("a page of the web", () => {
  it("is asked for without cookies or credentials, under the name of its host", async (t) => {
    const { fetched, asked, port } = await serve(t, (_, response) => void response.end("hello"));
    const page = await fetched("/a?b=c");
    assert.equal(page.body, "hello");
    assert.deepEqual([page.status, page.type, page.truncated], [200, "", false]);
    const [request] = asked;
    assert.equal(request?.url, "/a?b=c");
    assert.equal(request?.headers.host, `pages.test:${port}`);
    assert.equal(request?.headers.cookie, undefined);
    assert.equal(request?.headers.authorization, undefined);
  });

  it("is decoded by its coding and its charset", async (t) => {
    const bytes: { readonly [path: string]: readonly [Buffer, string | undefined, string] } = {
      "/gzip": [gzipSync("olá"), "gzip", "text/plain"],
      "/x-gzip": [gzipSync("olá"), "X-GZIP ", "text/plain"],
      "/deflate": [deflateSync("olá"), "deflate", "text/plain"],
      "/br": [brotliCompressSync("olá"), "br", "text/plain"],
      "/latin": [Buffer.from("olá", "latin1"), undefined, 'text/plain; charset="ISO-8859-1"'],
      "/unknown": [Buffer.from("olá"), undefined, "text/plain; charset=klingon"],
      "/identity": [Buffer.from("olá"), "identity", "Text/Plain; Charset=UTF-8"],
    };
    const { fetched } = await serve(t, ({ url = "" }, response) => {
      const [body, coding, type] = bytes[url] ?? [Buffer.of(), undefined, ""];
      if (coding !== undefined) response.setHeader("content-encoding", coding);
      response.setHeader("content-type", type).end(body);
    });
    for (const path of Object.keys(bytes)) {
      const page = await fetched(path);
      assert.deepEqual([page.body, page.type], ["olá", "text/plain"], path);
    }
  });

  it("in a coding that is not known is refused, and its connection is not left open", async (t) => {
    const closed = Promise.withResolvers<void>();
    const { fetched } = await serve(t, (_, response) => {
      response.on("close", () => closed.resolve());
      response.writeHead(200, { "content-encoding": "zstd-2" });
      response.write("x".repeat(100_000));
    });
    await assert.rejects(fetched("/"), { code: "TOOL_FAILED", message: /unknown coding zstd-2/ });
    await closed.promise;
  });

  it("is read up to the bound, also when it is small before it is unpacked", async (t) => {
    const { fetched } = await serve(t, ({ url }, response) => {
      response.on("error", () => undefined);
      if (url === "/bomb") {
        response.setHeader("content-encoding", "gzip");
        response.end(gzipSync(Buffer.alloc(HAND_LIMITS.pageBytes * 8, "x")));
      } else response.end("x".repeat(HAND_LIMITS.pageBytes + 1));
    });
    for (const path of ["/bomb", "/long"]) {
      const page = await fetched(path);
      assert.deepEqual([page.truncated, page.body.length], [true, HAND_LIMITS.pageBytes], path);
    }
  });

  it("that breaks off or is badly packed is said not to be fetched", async (t) => {
    const { fetched } = await serve(t, ({ url }, response) => {
      if (url === "/cut") {
        response.writeHead(200, { "content-length": "1000" });
        response.write("half");
        setImmediate(() => response.destroy());
      } else response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip at all");
    });
    for (const path of ["/cut", "/bad"])
      await assert.rejects(fetched(path), { code: "TOOL_FAILED", message: /cannot be fetched: / });
  });

  it("is followed within its host, as often as the bound allows", async (t) => {
    const { fetched, asked, port } = await serve(t, ({ url = "" }, response) => {
      const left = Number(url.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else response.end("there");
    });
    const page = await fetched(`/${HAND_LIMITS.redirects}`);
    assert.deepEqual([page.body, page.url], ["there", `http://pages.test:${port}/0`]);
    asked.length = 0;
    await assert.rejects(fetched(`/${HAND_LIMITS.redirects + 1}`), { message: /redirects more than 5 times/ });
    assert.equal(asked.length, HAND_LIMITS.redirects + 1);
  });

  it("of another host is named and not fetched; an address that is none is refused", async (t) => {
    const places = [
      "http://other.test/x",
      "ftp://pages.test/",
      "javascript:alert(1)",
      "http://",
      `/${"x".repeat(5000)}`,
    ];
    const { fetched, asked } = await serve(t, (_, response) => {
      response.writeHead(301, { location: places[asked.length - 1] ?? "" }).end();
    });
    const page = await fetched("/");
    assert.deepEqual([page.elsewhere, page.body, page.status], ["http://other.test/x", "", 301]);
    for (const _ of places.slice(1))
      await assert.rejects(fetched("/"), { message: /redirects to what is no address of a page/ });
  });

  it("with a status of redirection but no place is read as it is", async (t) => {
    const { fetched } = await serve(t, (_, response) => void response.writeHead(304).end());
    assert.equal((await fetched("/")).status, 304);
  });

  it("is not fetched when one address of its name is not public, and no connection is made", async (t) => {
    const { fetched, asked } = await serve(t, (_, response) => void response.end());
    const addresses = [
      { address: "93.184.216.34", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    await assert.rejects(fetched("/", { reach: "public", resolveHost: async () => addresses }), {
      code: "TOOL_FAILED",
      message: /pages\.test has the address 127\.0\.0\.1, which is not public.*privateHosts/,
    });
    assert.equal(asked.length, 0);
  });

  it("is looked up anew, and checked anew, at each redirection", async (t) => {
    const { fetched, asked } = await serve(t, (_, response) => void response.writeHead(302, { location: "/b" }).end());
    let lookups = 0;
    const resolveHost = async () => {
      lookups += 1;
      if (lookups > 1) throw new Error("the name is gone");
      return [{ address: "127.0.0.1", family: 4 }];
    };
    await assert.rejects(fetched("/a", { resolveHost }), { message: /\/b cannot be fetched: the name is gone/ });
    assert.deepEqual([lookups, asked.length], [2, 1]);
  });

  it("whose name is not known, or whose server is not there, is told with the reason", async (t) => {
    const { fetched } = await serve(t, () => undefined);
    const unknown = async (): Promise<never> => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND pages.test"), { code: "ENOTFOUND" });
    };
    await assert.rejects(fetched("/", { resolveHost: unknown }), { message: /ENOTFOUND pages\.test/ });
    const signal = new AbortController().signal;
    await assert.rejects(fetchPage("http://127.0.0.1:1/", { reach: "any", signal }), { message: /ECONNREFUSED/ });
  });

  it("is given up when it is stopped", async (t) => {
    const stop = new AbortController();
    const { fetched } = await serve(t, () => stop.abort());
    await assert.rejects(fetched("/", { signal: stop.signal }), { code: "TOOL_FAILED" });
  });
});

describe("a fetch that is aborted", () => {
  it("ends at once, wherever it is: at a name that no server resolves, at headers, at a body", async (t) => {
    const never = new Promise<never>(() => undefined);
    const stuck: readonly (readonly [string, Answer, object])[] = [
      ["a name", () => undefined, { resolveHost: () => never }],
      ["headers", () => undefined, {}],
      ["a body", (_, response) => void response.write("begun"), {}],
      ["a coded body", (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).write("x"), {}],
    ];
    for (const [where, answer, more] of stuck) {
      const stop = new AbortController();
      const { fetched } = await serve(t, (request, response) => {
        answer(request, response);
        setImmediate(() => stop.abort());
      });
      const fetching = fetched("/", { signal: stop.signal, ...more });
      if (where === "a name") stop.abort();
      await assert.rejects(fetching, { code: "TOOL_FAILED" }, where);
    }
  });

  it("asks no server when it was aborted before it began", async (t) => {
    const { fetched, asked } = await serve(t, (_, response) => void response.end("x"));
    await assert.rejects(fetched("/", { signal: AbortSignal.abort() }), { code: "TOOL_FAILED" });
    assert.equal(asked.length, 0);
  });
});

describe("a name", () => {
  it("that resolves to nothing, or whose resolving fails, is a failure in words", async (t) => {
    const { fetched } = await serve(t, (_, response) => void response.end("x"));
    for (const resolveHost of [async () => [], () => Promise.reject(new Error("no such name"))])
      await assert.rejects(fetched("/", { resolveHost }), { code: "TOOL_FAILED", message: /cannot be fetched/ });
  });

  it("with one private address among public ones is not fetched at all", async (t) => {
    const { fetched, asked } = await serve(t, (_, response) => void response.end("x"));
    for (const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "0.0.0.0"]) {
      const resolveHost = async () => [
        { address: "93.184.216.34", family: 4 },
        { address, family: 4 },
      ];
      await assert.rejects(fetched("/", { resolveHost, reach: "public" }), { message: /not public/ }, address);
    }
    for (const address of ["::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"]) {
      const resolveHost = async () => [{ address, family: 6 }];
      await assert.rejects(fetched("/", { resolveHost, reach: "public" }), { message: /not public/ }, address);
    }
    assert.equal(asked.length, 0);
  });
});
