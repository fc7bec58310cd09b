import assert from "node:assert/strict";
import { test } from "node:test";
import { isLoopbackHost } from "./loopback.ts";

test("this machine's own names are loopback", () => {
  for (const host of ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "127.255.255.254", "::1", "[::1]"])
    assert.ok(isLoopbackHost(host), host);
});

test("a name that only begins or ends like one is not: it may lead to another machine", () => {
  for (const host of [
    "127.example.com",
    "127.0.0.1.example.com",
    "localhost.example.com",
    "my-localhost",
    "1127.0.0.1",
    "127.0.0",
    "127.0.0.1.",
    "127.0.0.1234",
    "0.0.0.0",
    "::",
    "[::]",
    "::11",
    "10.127.0.0",
    "",
    " 127.0.0.1",
    "127.0.0.1\n",
  ])
    assert.ok(!isLoopbackHost(host), JSON.stringify(host));
});
