import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { test } from "node:test";
import { bareHost, isForbiddenAddress, isThisMachine, lookupAllowed } from "./allowed-addresses.ts";

test("addresses of metadata services, links, groups and nowhere are never called, in any spelling", () => {
  for (const address of [
    "169.254.169.254",
    "169.254.0.1",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "239.255.255.255",
    "255.255.255.255",
    "::",
    "fe80::1",
    "febf::1",
    "ff02::1",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::ffff:0.0.0.0",
  ])
    assert.ok(isForbiddenAddress(address), address);
});

test("ordinary addresses may be called, and a name is judged by what it resolves to", () => {
  for (const address of [
    "127.0.0.1",
    "10.0.0.5",
    "192.168.1.1",
    "8.8.8.8",
    "::1",
    "2001:db8::1",
    "fd12::1",
    "223.255.255.255",
    "host.example",
    "",
  ])
    assert.ok(!isForbiddenAddress(address), address);
});

test("this machine is known by its name and all its loopback addresses, also mapped ones", () => {
  for (const host of ["localhost", "127.0.0.1", "127.255.0.1", "::1", "::ffff:127.0.0.1"])
    assert.ok(isThisMachine(host), host);
  for (const host of ["localhost.example", "128.0.0.1", "126.255.255.255", "::2", "10.0.0.1", ""])
    assert.ok(!isThisMachine(host), host);
});

test("the host of a URL loses its brackets and capitals", () => {
  assert.deepEqual(["[::1]", "HOST.Example", "10.0.0.1"].map(bareHost), ["::1", "host.example", "10.0.0.1"]);
  assert.equal(bareHost(new URL("https://[2001:DB8::1]:5").hostname), "2001:db8::1");
});

function look(host: string, all: boolean): Promise<readonly LookupAddress[] | string> {
  return new Promise((resolve, reject) => {
    lookupAllowed(host, { all }, (error, address) => {
      if (error === null) resolve(address);
      else reject(error);
    });
  });
}

test("a look-up gives addresses of this machine for its own name only", async () => {
  const found = await look("localhost", true);
  assert.ok(Array.isArray(found) && found.length > 0 && found.every(({ address }) => isThisMachine(address)));
  const one = await look("localhost", false);
  assert.ok(typeof one === "string" && isThisMachine(one));
  assert.deepEqual(await look("127.0.0.1", false), "127.0.0.1");
});

test("a forbidden address is refused as such, and a name that does not resolve with the system's reason", async () => {
  await assert.rejects(look("169.254.169.254", true), { code: "EACCES" });
  await assert.rejects(look("169.254.169.254", false), { code: "EACCES" });
  await assert.rejects(look("no-such-host.invalid", true), { code: /ENOTFOUND|EAI_AGAIN/ });
});
