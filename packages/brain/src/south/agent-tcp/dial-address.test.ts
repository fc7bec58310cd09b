import assert from "node:assert/strict";
import { test } from "node:test";
import { dialAddress } from "./dial-address.ts";

test("an address is read with its scheme, and written in one way", () => {
  assert.deepEqual(dialAddress("tls://Web-2.LAN", false), {
    url: "tls://web-2.lan:4000",
    host: "web-2.lan",
    port: 4000,
    isTls: true,
  });
  assert.deepEqual(dialAddress("tcp://[::1]:4100", false), {
    url: "tcp://[::1]:4100",
    host: "::1",
    port: 4100,
    isTls: false,
  });
});

test("plain TCP leads to this machine, unless it is a laboratory", () => {
  for (const here of ["tcp://127.0.0.1:1", "tcp://127.9.9.9:1", "tcp://localhost:1", "tcp://[::1]:1"])
    assert.equal(dialAddress(here, false).isTls, false);
  for (const elsewhere of ["tcp://10.0.0.1:1", "tcp://web-2.lan:1", "tcp://127.evil.example:1", "tcp://127.1:1"]) {
    assert.throws(() => dialAddress(elsewhere, false), { code: "BAD_REQUEST", message: /--lab/ }, elsewhere);
    assert.equal(dialAddress(elsewhere, true).isTls, false);
  }
});

test("what is no address of a hand is dialled neither with TLS nor in a laboratory", () => {
  const words = [
    "",
    "web-2:4000",
    "https://web-2.lan",
    "tls://",
    "tls:///etc",
    "tls://a:b@web-2.lan",
    "tls://web-2.lan/x",
    "tls://web-2.lan?x",
    "tls://web-2.lan#x",
    "tls://web-2.lan:70000",
    "tls://a%20b",
  ];
  const places = ["tls://169.254.169.254", "tls://[::ffff:169.254.169.254]", "tls://0.0.0.0", "tcp://[fe80::1]:1"];
  for (const wrong of [...words, ...places])
    assert.throws(() => dialAddress(wrong, true), { code: "BAD_REQUEST" }, wrong);
});
