import assert from "node:assert/strict";
import { test } from "node:test";
import { HTTP_LIMITS } from "@vidro/core";
import { Served } from "./served.fixture.ts";

const REQUEST_ID = /^req_[\da-f-]{36}$/;

test("a request id of the client is kept when it is well formed, and replaced when it is not", async () => {
  await using served = await Served.up();
  const idOf = async (given: string): Promise<string | null> =>
    (await served.call("GET", "/nowhere", { headers: { "x-request-id": given } })).headers.get("x-request-id");
  assert.equal(await idOf("abc-1.2_3"), "abc-1.2_3");
  for (const bad of ["has space", "x".repeat(2000), "a/b"]) assert.match((await idOf(bad)) ?? "", REQUEST_ID);
});

test("the log has one line for each request, with the trace that the client continues", async () => {
  await using served = await Served.up();
  const trace = "0af7651916cd43dd8448eb211c80319c";
  await served.call("GET", "/nowhere", { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
  await served.call("GET", "/nowhere", { headers: { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` } });
  const [first, second] = served.lines;
  assert.deepEqual(
    [first?.["event"], first?.["level"], first?.["status"], first?.trace_id],
    ["http.answered", "info", 404, trace],
  );
  assert.match(second?.trace_id ?? "", /^[\da-f]{32}$/);
  assert.notEqual(second?.trace_id, "0".repeat(32), "the invalid trace of all zeros is replaced");
});

test("a path without a route is not a label of a metric", async () => {
  await using served = await Served.up();
  await served.call("GET", "/nowhere/chosen-by-a-client");
  assert.doesNotMatch(served.metrics.text(), /chosen-by-a-client/);
  assert.match(served.metrics.text(), /http_requests_total\{method="other",path="none",status="404"\} 1/);
});

test("a target may be a whole URL, and its query counts", async () => {
  await using served = await Served.up();
  const answer = await served.raw(
    served.head(`GET http://127.0.0.1:${served.server.port}/nowhere?x=1 HTTP/1.1`, "Connection: close"),
  );
  assert.match(answer, /^HTTP\/1\.1 404 /);
  assert.match(answer, /There is nothing at \/nowhere\./);
});

test("an Idempotency-Key has 1 to 255 characters", async () => {
  await using served = await Served.up();
  const statusOf = async (key: string): Promise<number> =>
    (await served.call("POST", "/things", { body: { name: "x" }, headers: { "idempotency-key": key } })).status;
  assert.equal(await statusOf("k".repeat(HTTP_LIMITS.keyChars + 1)), 400);
  assert.ok((await statusOf("k".repeat(HTTP_LIMITS.keyChars))) < 300);
});
