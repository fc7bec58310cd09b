import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findSilent } from "./dead-peers.ts";

/* How Linux lists connections, which is where a dead link shows first. */

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

test("a connection whose data is sent again, or whose probes come to nothing, is silent, and others are not", () => {
  const table = [
    HEAD,
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0",
    "   1: 02014D0A:1F90 02024D0A:D431 01 00000010:00000000 01:00000014 00000003     0        0 12 2 0 200 4 30 10 -1",
    "   2: 02014D0A:1F90 02024D0A:D432 01 00000000:00000000 02:00000014 00000000     0        2 13 2 0 200 4 30 10 -1",
    "   3: 02014D0A:1F90 02024D0A:D433 01 00000000:00000000 02:00000014 00000000     0        0 14 2 0 200 4 30 10 -1",
    "",
  ].join("\n");
  assert.deepEqual(findSilent(table), [
    { ends: "8080 10.77.2.2 54321", attempts: 3 },
    { ends: "8080 10.77.2.2 54322", attempts: 2 },
  ]);
});

test("addresses of both families are named as Node names them", () => {
  const line = (remote: string): string =>
    `0: 00000000000000000000000001000000:1F90 ${remote}:D431 01 00000010:00000000 01:00000014 00000001 0 0 12 2`;
  const ends = ["000080FE000000000000000001000000", "0000000000000000FFFF000002024D0A"].map(
    (remote) => findSilent(line(remote))[0]?.ends,
  );
  assert.deepEqual(ends, ["8080 fe80::1 54321", "8080 ::ffff:10.77.2.2 54321"]);
});

test("the table of this machine has the columns that are looked at", () => {
  const [head = ""] = readFileSync("/proc/net/tcp", "utf8").split("\n");
  assert.deepEqual(head.trim().split(/\s+/), HEAD.trim().split(/\s+/));
});
