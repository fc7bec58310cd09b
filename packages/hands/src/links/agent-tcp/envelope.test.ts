import assert from "node:assert/strict";
import test from "node:test";
import type { Json } from "@vidro/core";
import { TCP_VERSION } from "@vidro/core/wire/agent-tcp";
import { readEnvelope } from "./envelope.ts";

const v = TCP_VERSION;

test("a request has an id, an act and data, which may be null or left out", () => {
  for (const data of [{}, { data: null }, { data: {} }])
    assert.deepEqual(readEnvelope({ v, t: "req", id: "1", act: "PS", ...data }), { id: "1", act: "PS", data: {} });
});

test("a bare ping is the action of that name, with or without an id", () => {
  assert.deepEqual(readEnvelope({ v, t: "ping", id: "7" }), { id: "7", act: "PING", data: {} });
  const ping = readEnvelope({ v, t: "ping" });
  assert.ok(!("fault" in ping) && ping.act === "PING");
});

test("what is no request is refused with what its answer repeats; only another version ends the connection", () => {
  const cases: readonly (readonly [message: Json, last: boolean])[] = [
    [[], false],
    ["hello", false],
    [{ v, t: "res", id: "1", act: "PS" }, false],
    [{ v, t: "req", act: "PS" }, false],
    [{ v, t: "req", id: "", act: "PS" }, false],
    [{ v, t: "req", id: "1" }, false],
    [{ v, t: "req", id: "1", act: "x".repeat(100_000) }, false],
    [{ v, t: "req", id: "1", act: "PS", data: [] }, false],
    [{ t: "req", id: "1", act: "PS" }, true],
    [{ v: 99, t: "req", id: "1", act: "PS" }, true],
  ];
  for (const [message, last] of cases) {
    const read = readEnvelope(message);
    assert.ok("fault" in read, JSON.stringify(message).slice(0, 60));
    assert.equal(read.fault.code, "BAD_REQUEST");
    assert.equal(read.last, last);
    assert.ok(read.act.length < 1000, "a long name is not repeated");
  }
});
