import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault } from "@vidro/core";
import type { Records } from "@vidro/core";
import { makeCertificate } from "../../../../../tests/support/certificate.ts";
import { startTcpHand, scratch } from "../../../../../tests/support/tcp-hand.ts";
import { answer, startForeignTcpServer } from "../../../../../tests/support/foreign-tcp-server.ts";
import { dialTcpHand } from "../agent-tcp.ts";
import { memoryStore } from "../../stores/memory.ts";
import { TcpDialler } from "./tcp-dialler.ts";
import { HandRegister } from "../register/hand-register.ts";
import { DIALLED_HAND } from "./dial-options.ts";

const ANA = { owner: "ana", admin: false };

interface Stand {
  readonly records: Records;
  readonly folder: string;
  readonly hands: HandRegister;
  readonly dialer: TcpDialler;
  /** Waits until a hand is so. */
  readonly state: (id: string, wanted: string) => Promise<void>;
  close(): Promise<void>;
}

/** A brain that dials, over records and a folder that the next one may have. */
async function stand(
  t: TestContext,
  records: Records = memoryStore().records,
  folder = join(scratch(t), "ca"),
): Promise<Stand> {
  const log = (): void => undefined;
  const hands = new HandRegister({ records, log, now: Date.now });
  await hands.load();
  const dialer = new TcpDialler({ folder, records, hands, log });
  const close = async (): Promise<void> => {
    await dialer.close();
    await hands.close();
  };
  t.after(close);
  const state = async (id: string, wanted: string): Promise<void> => {
    while (hands.list(ANA).find((row) => row.id === id)?.state !== wanted)
      await new Promise((resolve) => setImmediate(resolve));
  };
  return { records, folder, hands, dialer, state, close };
}

/** A closed port of this machine. */
async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("a hand that was dialled once is dialled by the next brain, and its token lies nowhere open", async (t) => {
  const hand = await startTcpHand(t, { name: "web-2" });
  const first = await stand(t);
  const token = await hand.token("hand");
  const url = `tcp://127.0.0.1:${hand.port}`;
  const id = await first.dialer.dial({ owner: "ana", url, token, tags: ["web"] });
  const { name, state, gateway, tags, workspace } = first.hands.find(id, ANA);
  assert.deepEqual(
    { name, state, gateway, tags, workspace },
    { name: "web-2", state: "ok", gateway: "agent-tcp", tags: ["web"], workspace: hand.workspace },
  );
  assert.deepEqual(first.hands.count(), { ok: 1, degraded: 0, down: 0 });
  const kept = JSON.stringify(await first.records.list(DIALLED_HAND, { limit: 10 }));
  assert.ok(!kept.includes(token) && !kept.includes(token.split(".")[1] ?? token));
  assert.deepEqual(readdirSync(first.folder), ["hand-keys.secret"]);
  assert.equal(statSync(join(first.folder, "hand-keys.secret")).mode & 0o777, 0o600);
  await first.close();

  const next = await stand(t, first.records, first.folder);
  assert.equal(next.hands.find("web-2", ANA).state, "down");
  await next.dialer.open();
  await next.state(id, "ok");
});

test("a store that cannot be used when a brain starts is asked again, for the list and for each hand", async (t) => {
  const hand = await startTcpHand(t);
  const first = await stand(t);
  const url = `tcp://127.0.0.1:${hand.port}`;
  const id = await first.dialer.dial({ owner: "ana", url, token: await hand.token("hand") });
  await first.close();
  const { records } = first;
  const busy = async (): Promise<never> => {
    throw new Fault("STORE_BUSY", "The store is locked.");
  };
  let [lists, puts] = [0, 0];
  // The first look is whether there is anything to dial.
  const locked: Records = {
    get: (kind, key) => records.get(kind, key),
    delete: (kind, key) => records.delete(kind, key),
    watch: (kind, wake) => records.watch(kind, wake),
    list: (kind, filter) => (kind === DIALLED_HAND && (lists += 1) === 2 ? busy() : records.list(kind, filter)),
    put: (record, version) => ((puts += 1) === 1 ? busy() : records.put(record, version)),
  };
  const next = await stand(t, locked, first.folder);
  await next.dialer.open();
  await next.state(id, "ok");
  assert.ok(lists >= 4 && puts >= 2, `${lists} ${puts}`);
});

test("an address that is named again is the same hand with another token, name and tags", async (t) => {
  const hand = await startTcpHand(t);
  const { dialer, hands, records } = await stand(t);
  const url = `tcp://127.0.0.1:${hand.port}`;
  const [token, better] = [await hand.token("ps"), await hand.token("hand")];
  const [one, same] = await Promise.all([
    dialer.dial({ owner: "ana", url, token }),
    dialer.dial({ owner: "ana", url, token: better, name: "web-3" }),
  ]);
  assert.equal(one, same);
  assert.deepEqual([hands.find(one, ANA).name, hands.list(ANA).length], ["web-3", 1]);
  const others = await dialer.dial({ owner: "ben", url, token });
  assert.notEqual(others, one);
  assert.deepEqual([hands.list(ANA).length, (await records.list(DIALLED_HAND, { limit: 10 })).length], [1, 2]);
});

test("a hand that is away is there as down, with the reason, and is reached when it comes", async (t) => {
  const port = await unusedPort();
  const { dialer, hands, state } = await stand(t);
  const away = await startTcpHand(t);
  const token = await away.token("hand");
  const id = await dialer.dial({ owner: "ana", url: `tcp://127.0.0.1:${port}`, token, name: "web-2" });
  const row = hands.find("web-2", ANA);
  assert.equal(row.state, "down");
  assert.match(row.why ?? "", /cannot be reached: .*ECONNREFUSED/);
  assert.deepEqual(hands.count(), { ok: 0, degraded: 0, down: 1 });
  await startTcpHand(t, { port, verify: (shown) => away.tokens.verify(shown) });
  await state(id, "ok");
  assert.equal(hands.find("web-2", ANA).why, undefined);
});

/** A server that knows no token; `shown` is when it was shown one, and `next` waits for another. */
async function refusing(t: TestContext) {
  const shown: number[] = [];
  let next = Promise.withResolvers<void>();
  const { port } = await startForeignTcpServer(t, (said) => {
    if (said.act !== "AUTH") return answer(said);
    shown.push(performance.now());
    next.resolve();
    next = Promise.withResolvers<void>();
    return { v: 1, t: "err", id: said.id, act: said.act, code: "INVALID_TOKEN", msg: "Nobody has this token." };
  });
  return { port, shown, next: () => next.promise };
}

test("a token that is refused is told as the reason", async (t) => {
  const { port, shown } = await refusing(t);
  const { dialer, hands } = await stand(t);
  const id = await dialer.dial({ owner: "ana", url: `tcp://127.0.0.1:${port}`, token: "x.y", name: "web-2" });
  const { state, why } = hands.find(id, ANA);
  assert.deepEqual([state, why], ["down", "It refuses us: INVALID_TOKEN: Nobody has this token."]);
  assert.equal(shown.length, 1);
});

test("a hand that refuses a token is shown it again after rests that double, each at least half as long", async (t) => {
  const { port, shown, next } = await refusing(t);
  const { hands } = await stand(t);
  const bounds = { refusedMs: 40, redialMs: 1 };
  const dialled = dialTcpHand(
    { host: "127.0.0.1", port, token: "x.y", owner: "ana", ...bounds },
    { hands, log: () => undefined },
  );
  t.after(() => dialled.close());
  await assert.rejects(dialled.reached, { code: "INVALID_TOKEN" });
  while (shown.length < 4) await next();
  const rests = shown.slice(1).map((at, index) => at - (shown[index] ?? 0));
  assert.ok(
    [20, 40, 80].every((least, index) => (rests[index] ?? 0) >= least - 1),
    rests.join(", "),
  );
});

test("a hand that is revoked is dialled no more, connected or not, now or by the next brain", async (t) => {
  const hand = await startTcpHand(t);
  const first = await stand(t);
  const { dialer, hands, records } = first;
  const token = await hand.token("hand");
  const url = `tcp://127.0.0.1:${hand.port}`;
  const up = await dialer.dial({ owner: "ana", url, token });
  const down = await dialer.dial({ owner: "ana", url: `tcp://127.0.0.1:${await unusedPort()}`, token });
  for (const id of [up, down]) await hands.revoke(id, "It is over.");
  await first.close();
  assert.deepEqual(await records.list(DIALLED_HAND, { limit: 10 }), []);

  const second = await stand(t, records, first.folder);
  const again = await second.dialer.dial({ owner: "ana", url, token });
  assert.notEqual(again, up);
  assert.equal(second.hands.find(again, ANA).state, "ok");
  await second.close();
  const between = await stand(t, records, first.folder);
  await between.hands.revoke(again, "While no brain dialled.");
  const third = await stand(t, records, first.folder);
  await third.dialer.open();
  await third.close();
  assert.deepEqual(await records.list(DIALLED_HAND, { limit: 10 }), []);
  assert.equal(third.hands.find(again, ANA).state, "down");
});

test("with another secret a hand is down with the reason, and can be dialled with its token again", async (t) => {
  const hand = await startTcpHand(t);
  const first = await stand(t);
  const request = { owner: "ana", url: `tcp://127.0.0.1:${hand.port}`, token: await hand.token("hand") };
  const id = await first.dialer.dial(request);
  await first.close();
  writeFileSync(join(first.folder, "hand-keys.secret"), Buffer.alloc(32));
  const next = await stand(t, first.records, first.folder);
  await next.dialer.open();
  while (next.hands.find(id, ANA).why === undefined) await new Promise((resolve) => setImmediate(resolve));
  assert.match(next.hands.find(id, ANA).why ?? "", /cannot be decrypted/);
  assert.equal(await next.dialer.dial(request), id);
  assert.equal(next.hands.find(id, ANA).state, "ok");
});

test("a hand with TLS is believed by the certificate that was given, and by nothing less", async (t) => {
  const folder = scratch(t);
  const { cert, key } = makeCertificate(folder, "127.0.0.1");
  const [pem, secret] = [readFileSync(cert, "utf8"), readFileSync(key, "utf8")];
  const hand = await startTcpHand(t, { tls: { cert: pem, key: secret } });
  const { dialer, hands } = await stand(t);
  const request = { owner: "ana", url: `tls://127.0.0.1:${hand.port}`, token: await hand.token("hand") };
  const id = await dialer.dial(request);
  assert.match(hands.find(id, ANA).why ?? "", /self-signed certificate/);
  assert.equal(await dialer.dial({ ...request, ca: pem }), id);
  assert.equal(hands.find(id, ANA).state, "ok");
  await assert.rejects(dialer.dial({ ...request, ca: "x" }), { code: "BAD_REQUEST" });
  await assert.rejects(dialer.dial({ ...request, url: `tcp://127.0.0.1:${hand.port}`, ca: pem }), {
    code: "BAD_REQUEST",
  });
});

test("a brain that goes waits for no hand that keeps it waiting", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { dialer } = await stand(t);
  const dialling = dialer.dial({ owner: "ana", url: `tcp://127.0.0.1:${port}`, token: "x.y" });
  const [socket] = (await once(server, "connection")) as [Socket];
  const gone = once(socket.on("error", () => undefined).resume(), "close");
  await dialer.close();
  await Promise.all([gone, dialling]);
  server.close();
});
