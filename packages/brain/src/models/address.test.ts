import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { MODEL_LIMITS } from "@vidro/core";
import { fakeOpenAi, json, status } from "../../../../tests/support/fake-openai.ts";
import type { FakeReply } from "../../../../tests/support/fake-openai.ts";
import { baseUrl, firstListed, firstLocal, isListening, listedModels } from "./address.ts";
import { workerUrl } from "./worker-uds/probe.ts";

async function server(t: TestContext, ...replies: readonly FakeReply[]) {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return fake;
}

/** Listens at a place until the test ends. */
async function listen(t: TestContext, where: string | { readonly host: string; readonly port: number }) {
  const listener = createServer();
  listener.listen(where);
  await once(listener, "listening");
  t.after(() => listener.close());
  return listener;
}

test("a base URL gets the usual path only where it has none", () => {
  const table: readonly (readonly [given: string, completed: string])[] = [
    ["http://box", "http://box/v1"],
    ["http://box/", "http://box/v1"],
    ["http://box:80/", "http://box/v1"],
    ["HTTPS://BOX:8443", "https://box:8443/v1"],
    ["http://box/api", "http://box/api"],
    ["http://box/api///", "http://box/api"],
    ["http://box/v1/", "http://box/v1"],
    ["http://[::1]:8080", "http://[::1]:8080/v1"],
    ["http://bücher.example", "http://xn--bcher-kva.example/v1"],
    ["http://box/#part", "http://box/v1"],
  ];
  for (const [given, completed] of table) assert.equal(baseUrl(given, "/v1", "X"), completed, given);
});

test("an address that is none, has a query, another scheme or a password is refused by the name of its setting", () => {
  for (const given of ["", "box", "box:80", "ftp://box", "file:///etc", "http://box?key=1", "http://", "unix:/w.sock"])
    assert.throws(() => baseUrl(given, "/v1", "MY_URL"), { code: "BAD_REQUEST", message: /^MY_URL must be/ }, given);
  for (const given of ["http://ana:hunter2@box", "http://ana@box", "http://:hunter2@box"])
    assert.throws(
      () => baseUrl(given, "/v1", "MY_URL"),
      (thrown: Error) => /must not hold a password/.test(thrown.message) && !thrown.message.includes("hunter2"),
      given,
    );
});

test("a list of models is read whatever else is in it, without the models that only embed", async (t) => {
  const data = [{ id: "a" }, null, "b", { id: 7 }, {}, { id: "nomic-Embed-text" }, { id: "b" }, { id: "ç/ü:q4" }];
  const fake = await server(t, json({ data }), json({ data: [] }), json({ models: "x" }), json([]));
  assert.deepEqual(await listedModels(fake.url, "k"), ["a", "b", "ç/ü:q4"]);
  for (const _ of ["no rows", "another form", "a list"])
    assert.equal(await firstListed(fake.url, undefined), undefined);
});

test("a list longer than its bound is cut", async (t) => {
  const data = Array.from({ length: MODEL_LIMITS.listed + 1 }, (_, at) => ({ id: `m${at}` }));
  const fake = await server(t, json({ data }));
  assert.equal((await listedModels(fake.url, undefined)).length, MODEL_LIMITS.listed);
});

test("a server that refuses its list is MODEL_REFUSED with the status and without the key", async (t) => {
  for (const code of [401, 403, 404, 500]) {
    const fake = await server(t, status(code, "no"));
    await assert.rejects(listedModels(fake.url, "hunter2-hunter2"), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, "MODEL_REFUSED");
      assert.ok(thrown.message.includes(String(code)) && !thrown.message.includes("hunter2"));
      return true;
    });
  }
});

test("a local server that listens and says rubbish has no model", async (t) => {
  for (const reply of [json("rubbish"), json({ models: [{ name: 1 }] }), status(500, "down")]) {
    const fake = await server(t, reply);
    assert.equal(await firstLocal(fake.url), undefined);
  }
});

test("a server is seen to listen on a port, in IPv6 and on a socket, and no more once it has ended", async (t) => {
  const four = await listen(t, { host: "127.0.0.1", port: 0 });
  const six = await listen(t, { host: "::1", port: 0 });
  const urls = [
    `http://127.0.0.1:${(four.address() as AddressInfo).port}/v1`,
    `http://[::1]:${(six.address() as AddressInfo).port}`,
  ];
  for (const url of urls) assert.equal(await isListening(url, 5000), true, url);
  for (const ended of [four, six]) await new Promise((resolve) => void ended.close(resolve));
  for (const url of urls) assert.equal(await isListening(url, 5000), false, url);
});

test("the socket of a worker is found by its path as it is written, also with spaces, accents and signs of URLs", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro address "));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["plain.sock", "with space.sock", "ação.sock", "50%20.sock", "a#b?c.sock"]) {
    const path = join(folder, name);
    assert.equal(await isListening(workerUrl(path), 5000), false, name);
    await listen(t, path);
    assert.equal(await isListening(workerUrl(path), 5000), true, name);
  }
});
