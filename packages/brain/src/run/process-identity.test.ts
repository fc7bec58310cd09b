import assert from "node:assert/strict";
import { test } from "node:test";
import { isAlive, isSameHolder, thisHolder } from "./process-identity.ts";
import { neighbour } from "../stores/journal.fixture.ts";

void test("this process is alive, and is itself", () => {
  assert.equal(isAlive(thisHolder()), true);
  assert.equal(isSameHolder(thisHolder(), { ...thisHolder() }), true);
  assert.equal(thisHolder().pid, process.pid);
});

void test("another process is alive until it is killed", async () => {
  const other = await neighbour("holder.fixture.ts");
  assert.equal(isSameHolder(other.holder, thisHolder()), false);
  assert.equal(isAlive(other.holder), true);
  await other.end();
  assert.equal(isAlive(other.holder), false);
});

void test("a process that got the pid of a dead one is not taken for it", () => {
  const { started } = thisHolder();
  // Where the system does not tell when a process started, the pid alone has to do.
  assert.equal(isAlive({ ...thisHolder(), started: "1" }), started === "");
});

void test("a process of another host or boot is never known to be dead", () => {
  const gone = 2 ** 22 + 1;
  assert.equal(isAlive({ ...thisHolder(), pid: gone }), false);
  assert.equal(isAlive({ ...thisHolder(), pid: gone, host: "elsewhere" }), true);
  assert.equal(isAlive({ ...thisHolder(), pid: gone, boot: "earlier" }), true);
});
