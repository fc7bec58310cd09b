import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { silenceOf } from "./brain-address.ts";
import { getFromBrain, linkFromBrain, postToBrain } from "./brain-http.ts";

/** A server that answers in its own way, closed after the test; gives its address and the requests that came. */
async function serve(t: TestContext, answer: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** An address at which nothing listens. */
async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe("whether a brain answers", () => {
  it("is told by its health, also below a path and with a slash at the end", async (t) => {
    const { url, requests } = await serve(t, (_, response) => response.end("ok"));
    for (const address of [url, `${url}/`, `${url}/vidro`, `${url}/vidro/`])
      assert.equal(await silenceOf(address), undefined);
    assert.deepEqual(
      requests.map((request) => request.url),
      ["/healthz", "/healthz", "/vidro/healthz", "/vidro/healthz"],
    );
  });

  it("is no when it says that it is ill, or nothing at all listens, with the reason", async (t) => {
    const ill = await serve(t, (_, response) => response.writeHead(503).end());
    assert.match((await silenceOf(ill.url)) ?? "", /answers 503 when it is asked for its health/);
    assert.match((await silenceOf(await nowhere())) ?? "", /^Nothing answers at http:.*ECONNREFUSED/);
  });

  it("is no after a bounded wait when it takes the connection and stays silent", async (t) => {
    const { url } = await serve(t, () => undefined);
    assert.match((await silenceOf(url, 50)) ?? "", /^Nothing answers at/);
  });

  it("is not asked at what is no address of a brain, and a password is not repeated", async () => {
    for (const url of [
      "",
      "brain",
      "ftp://brain",
      "file:///etc/passwd",
      "javascript:0",
      "http://",
      "http://me:hunter2@brain:1",
    ]) {
      await assert.rejects(silenceOf(url), (thrown: Error & { code: string }) => {
        assert.equal(thrown.code, "BAD_REQUEST");
        assert.match(thrown.message, /one looks like http:\/\/127\.0\.0\.1:3120/);
        assert.doesNotMatch(thrown.message, /hunter2/);
        return true;
      });
    }
  });
});

describe("a request to a brain", () => {
  it("carries the token, and gives what the brain says", async (t) => {
    const { url, requests } = await serve(t, (_, response) => response.end('{"ready":true}'));
    assert.deepEqual(await getFromBrain({ url: `${url}/below`, token: "tok" }, "readyz"), { ready: true });
    await getFromBrain({ url }, "readyz");
    assert.deepEqual(
      requests.map(({ url: path, headers }) => [path, headers.authorization]),
      [
        ["/below/readyz", "Bearer tok"],
        ["/readyz", undefined],
      ],
    );
  });

  it("gives what a brain that is not ready says, and nothing for an answer that is no object", async (t) => {
    const { url } = await serve(t, ({ url: path }, response) => {
      if (path === "/ill") response.writeHead(503).end('{"store":"down"}');
      else response.end("[1]");
    });
    assert.deepEqual(await getFromBrain({ url }, "ill"), { store: "down" });
    assert.deepEqual(await getFromBrain({ url }, "list"), {});
  });

  it("is refused with the fault of the token", async (t) => {
    const { url } = await serve(t, (_, response) =>
      response.writeHead(401).end('{"code":"TOKEN_EXPIRED","error":"It ended yesterday."}'),
    );
    await assert.rejects(getFromBrain({ url, token: "old" }, "readyz"), {
      code: "TOKEN_EXPIRED",
      message: "It ended yesterday.",
    });
  });

  it("fails as unreachable when the answer is rubbish, is cut off or never comes", async (t) => {
    const { url } = await serve(t, ({ url: path }, response) => {
      if (path === "/rubbish") response.end("<html>");
      else if (path === "/cut") {
        response.writeHead(200, { "content-length": 100 }).write('{"a":');
        setImmediate(() => response.destroy());
      } else response.destroy();
    });
    for (const path of ["rubbish", "cut", "gone"])
      await assert.rejects(
        getFromBrain({ url }, path),
        { code: "BRAIN_UNREACHABLE", message: /does not answer/ },
        path,
      );
    await assert.rejects(postToBrain({ url: await nowhere() }, "x", {}), { code: "BRAIN_UNREACHABLE" });
  });

  it("with a body is sent once, as JSON, without a key that would keep the answer", async (t) => {
    const bodies: string[] = [];
    const { url, requests } = await serve(t, (request, response) => {
      request.on("data", (bytes: Buffer) => bodies.push(bytes.toString()));
      request.on("end", () => response.writeHead(201).end('{"secret":"s"}'));
    });
    assert.deepEqual(await postToBrain({ url, token: "tok" }, "v1/invitations", { name: "é" }), { secret: "s" });
    const [sent] = requests;
    assert.deepEqual(
      [sent?.method, sent?.headers["content-type"], sent?.headers["idempotency-key"]],
      ["POST", "application/json", undefined],
    );
    assert.deepEqual(bodies, ['{"name":"é"}']);
  });

  it("with a body is not repeated elsewhere: a brain that sends it on is not followed", async (t) => {
    const other = await serve(t, (_, response) => response.end("{}"));
    const { url } = await serve(t, (_, response) => response.writeHead(307, { location: other.url }).end());
    await assert.rejects(postToBrain({ url, token: "tok" }, "v1/x", {}), { code: "BRAIN_UNREACHABLE" });
    assert.equal(other.requests.length, 0);
  });

  it("that is refused gives the fault by its code, and unknown codes as a brain that cannot be used", async (t) => {
    const { url } = await serve(t, ({ url: path }, response) => {
      const answers: { readonly [path: string]: string } = {
        "/known": '{"code":"CONFLICT","error":"Taken."}',
        "/newer": '{"code":"NEWER_FAULT","message":"Words."}',
        "/odd": '{"code":"toString"}',
        "/none": "bad gateway",
      };
      response.writeHead(409).end(answers[path ?? ""]);
    });
    await assert.rejects(postToBrain({ url }, "known", {}), { code: "CONFLICT", message: "Taken." });
    await assert.rejects(postToBrain({ url }, "newer", {}), { code: "BRAIN_UNREACHABLE", message: "Words." });
    for (const path of ["odd", "none"])
      await assert.rejects(postToBrain({ url }, path, {}), { code: "BRAIN_UNREACHABLE" });
  });

  it("that something else answers well, as a page does, is no answer of a brain", async (t) => {
    const pages = ["<h1>Hello</h1>", "", "[]", '"yes"', "null"];
    const { url } = await serve(t, ({ url: path }, response) => response.end(pages[Number(path?.slice(1))]));
    for (const [at] of pages.entries())
      await assert.rejects(
        postToBrain({ url }, String(at), {}),
        { code: "BRAIN_UNREACHABLE", message: /none of a brain's/ },
        pages[at],
      );
  });
});

describe("a link of a brain", () => {
  it("is an address below that of the brain, with one slash between them", async (t) => {
    const { url } = await serve(t, (_, response) => response.end('{"path":"/console/#code=1"}'));
    for (const [address, link] of [
      [url, `${url}/console/#code=1`],
      [`${url}/`, `${url}/console/#code=1`],
      [`${url}/vidro`, `${url}/vidro/console/#code=1`],
      [`${url}/vidro//`, `${url}/vidro/console/#code=1`],
    ] as const)
      assert.equal(await linkFromBrain({ url: address }, "console/links"), link);
  });

  it("that is not in the answer is a fault, and no address that leads nowhere", async (t) => {
    const { url } = await serve(t, (_, response) => response.end('{"path":7}'));
    await assert.rejects(linkFromBrain({ url }, "console/links"), {
      code: "BRAIN_UNREACHABLE",
      message: /gave no link/,
    });
  });
});
