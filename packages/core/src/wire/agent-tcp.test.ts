import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { tcpAddress, tcpErrorCode, tcpFaultCode, tcpRefusal } from "./agent-tcp.ts";
import * as schemas from "./agent-tcp-schemas.ts";

const TEN = [
  "BAD_REQUEST",
  "AUTH_REQUIRED",
  "INVALID_TOKEN",
  "TOKEN_EXPIRED",
  "FORBIDDEN",
  "UNKNOWN_ACTION",
  "PAYLOAD_TOO_LARGE",
  "RATE_LIMITED",
  "INTERNAL_ERROR",
  "CONNECTION",
] as const;

test("every fault has one of the ten names of the protocol, and every name is a fault of ours", () => {
  for (const code of Object.keys(FAULTS) as FaultCode[]) assert.ok(TEN.includes(tcpErrorCode(code)), code);
  for (const code of TEN) assert.ok(tcpFaultCode(code) in FAULTS, code);
  for (const code of TEN.slice(0, -1)) assert.equal(tcpErrorCode(tcpFaultCode(code)), code);
  assert.equal(tcpFaultCode("SOMETHING_ELSE"), "INTERNAL_ERROR");
  assert.equal(tcpFaultCode("toString"), "INTERNAL_ERROR");
});

test("a refusal repeats id and act, and says when to come back only where that is known", () => {
  const refused = tcpRefusal("c1", "PS", { code: "POLICY_DENIED", message: "no" });
  assert.deepEqual(refused, { v: 1, t: "err", id: "c1", act: "PS", code: "FORBIDDEN", msg: "no" });
  assert.equal(tcpRefusal("c1", "PS", { code: "RATE_LIMITED", message: "", retryAfterMs: 5 }).retryAfterMs, 5);
});

test("addresses are read in the forms that people write", () => {
  assert.deepEqual(tcpAddress("10.0.0.7"), { host: "10.0.0.7", port: 4000 });
  assert.deepEqual(tcpAddress("web-1:0"), { host: "web-1", port: 0 });
  assert.deepEqual(tcpAddress(":5000"), { host: "127.0.0.1", port: 5000 });
  assert.deepEqual(tcpAddress("[::1]:5000"), { host: "::1", port: 5000 });
  for (const text of ["a:b", "a:70000", "a b", "::1", "http://a", "[x]:1"])
    assert.throws(() => tcpAddress(text), { code: "BAD_REQUEST" });
});

test("schemas keep to the rules that make leniency safe: closed, with least lengths and values", () => {
  const walk = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    const {
      type,
      properties,
      items,
      additionalProperties,
      minLength,
      minimum,
      enum: values,
    } = schema as {
      readonly [keyword: string]: unknown;
    };
    // What belongs to a tool is the tool's to check.
    if (type === "object" && properties !== undefined) assert.equal(additionalProperties, false, path);
    if (type === "string") assert.ok(values !== undefined || minLength === 1, path);
    // Only an order that begins nothing is one whose time is 0.
    const least = path === "RUN_TOOL_SCHEMA.ttlMs" ? 0 : 1;
    if (type === "integer" || type === "number") assert.ok(Number(minimum) >= least, path);
    for (const [name, inner] of Object.entries(properties ?? {})) walk(inner, `${path}.${name}`);
    walk(items, `${path}[]`);
  };
  const all = Object.entries(schemas).filter(([name]) => name.endsWith("_SCHEMA"));
  assert.ok(all.length >= 11);
  for (const [name, schema] of all) walk(schema, name);
});
