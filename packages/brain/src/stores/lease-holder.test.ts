import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameProcess } from "@vidro/core";
import { mayLive, thisHolder } from "./lease-holder.ts";
import { neighbour } from "./journal.fixture.ts";

void test("this process is alive, and is itself", () => {
  assert.equal(mayLive(thisHolder()), true);
  assert.equal(isSameProcess(thisHolder(), { ...thisHolder() }), true);
  assert.equal(thisHolder().pid, process.pid);
});

void test("another process is alive until it is killed", async () => {
  const other = await neighbour("holder.fixture.ts");
  assert.equal(isSameProcess(other.holder, thisHolder()), false);
  assert.equal(mayLive(other.holder), true);
  await other.end();
  assert.equal(mayLive(other.holder), false);
});

void test("a process that got the pid of a dead one is not taken for it", () => {
  const { started } = thisHolder();
  // Where the system does not tell when a process started, the pid alone has to do.
  assert.equal(mayLive({ ...thisHolder(), started: "1" }), started === "");
});

void test("a process of another host or boot is never known to be dead", () => {
  const gone = 2 ** 22 + 1;
  assert.equal(mayLive({ ...thisHolder(), pid: gone }), false);
  assert.equal(mayLive({ ...thisHolder(), pid: gone, host: "elsewhere" }), true);
  assert.equal(mayLive({ ...thisHolder(), pid: gone, boot: "earlier" }), true);
});
