import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "./public-address.ts";

test("addresses of this machine, private networks, cloud metadata, groups and tunnels are not public", () => {
  for (const address of [
    "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1",
    "198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 fe80::1",
    "fc00::1 fd12:3456::1 fec0::1 ff02::1 2001::1 2001:db8::1 2002:7f00:1:: 100::1 localhost example.org 1.2.3",
  ].flatMap((line) => line.split(" ")))
    assert.equal(isPublicAddress(address), false, address);
});

test("addresses of the public internet are public", () => {
  for (const address of "1.1.1.1 8.8.8.8 100.128.0.1 172.32.0.1 193.0.0.1 2606:4700::1111 2a00:1450::1".split(" "))
    assert.equal(isPublicAddress(address), true, address);
});
