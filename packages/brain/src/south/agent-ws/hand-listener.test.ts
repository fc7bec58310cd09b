import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { openStore } from "../../stores/stores.ts";
import { HandListener } from "./hand-listener.ts";
import type { HandListenerOptions } from "./hand-listener.ts";
import { HandRegister } from "../register/hand-register.ts";

function homeOf(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "vidro-door-"));
  t.after(() => rmSync(home, { recursive: true }));
  return home;
}

async function doorOf(t: TestContext, home: string, more: Partial<HandListenerOptions> = {}): Promise<HandListener> {
  const { records } = await openStore("memory", "");
  const log = (): void => undefined;
  const door = new HandListener({
    home,
    asked: false,
    port: 0,
    hosts: [],
    records,
    hands: new HandRegister({ records, log, now: Date.now }),
    take: () => undefined,
    standardTools: async () => [],
    version: "1.2.3",
    log,
    now: Date.now,
    ...more,
  });
  t.after(() => door.close());
  return door;
}

const WHO = { owner: "local" };

test("the listener starts with the first invitation, or at once when a host was invited before", async (t) => {
  const home = homeOf(t);
  const door = await doorOf(t, home);
  assert.equal(await door.open(), undefined);
  assert.equal(existsSync(join(home, "ca")), false);
  const { url, onlyHere } = await door.invite(WHO);
  assert.deepEqual([url.startsWith("wss://127.0.0.1:"), onlyHere], [true, true]);
  assert.equal((await door.invite(WHO)).url, url);
  await door.close();
  const next = await doorOf(t, home);
  assert.match((await next.open()) ?? "", /^wss:\/\/127\.0\.0\.1:\d+\/southbound$/);
});

test("a door that is asked for opens at once, and goes by the name that it is reached by", async (t) => {
  const door = await doorOf(t, homeOf(t), { asked: true, hosts: ["brain.example", "10.1.2.3"] });
  assert.match((await door.open()) ?? "", /^wss:\/\/brain\.example:\d+\/southbound$/);
  assert.equal((await door.invite(WHO)).onlyHere, false);
});

test("a port that is taken is told to who asked for it, and keeps no daemon from starting that did not", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const home = homeOf(t);
  const first = await doorOf(t, home);
  await first.invite(WHO);
  await first.close();
  const events: string[] = [];
  const door = await doorOf(t, home, { port, log: (event) => void events.push(event) });
  assert.equal(await door.open(), undefined);
  assert.deepEqual(events, ["southbound.open_failed"]);
  await assert.rejects(door.invite(WHO), {
    code: "PORT_TAKEN",
    message: /: vidro stop && vidro up -d --southbound-port 0$/,
  });
  const asked = await doorOf(t, home, { port, asked: true });
  await assert.rejects(asked.open(), { code: "PORT_TAKEN" });
});

test("what is no name of a host is refused before anything listens", async (t) => {
  for (const host of ["a b", "-x", "https://x", "a/b"]) {
    const door = await doorOf(t, homeOf(t), { asked: true, hosts: [host] });
    await assert.rejects(door.open(), { code: "BAD_REQUEST" });
  }
});
