import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Action, ActionEnd, HandEvent, Order } from "@vidro/core";
import { dialTcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import type { TcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import type { RemoteHand } from "../../packages/brain/src/south/register/remote-hand.ts";
import { openPassingStore } from "../support/store-under-test.ts";
import { ALLOW_ALL, startTcpHand } from "../support/tcp-hand.ts";
import { answer, startForeignTcpServer } from "../support/foreign-tcp-server.ts";

/** A register with one hand that is dialled; `state` waits until the hand is so. */
async function dialled(t: TestContext, hand: Partial<TcpHand> & Pick<TcpHand, "port" | "token">) {
  const store = await openPassingStore();
  const hands = new HandRegister({ records: store.records, log: () => undefined, now: Date.now });
  await hands.load();
  const asker = { owner: "ana", admin: false };
  const dialling = dialTcpHand(
    { host: "127.0.0.1", owner: "ana", redialMs: 5, ...hand },
    { hands, log: () => undefined },
  );
  t.after(async () => {
    await dialling.close();
    await store.close();
  });
  await dialling.reached;
  const [row] = hands.list(asker);
  const id = row?.id ?? "";
  const remote = (await hands.at(id)) as RemoteHand;
  const state = async (wanted: string): Promise<void> => {
    while (hands.list(asker)[0]?.state !== wanted) await new Promise((resolve) => setImmediate(resolve));
  };
  return { hands, row, remote, state, dialling };
}

/** A way to a port of this machine that can be cut; the first connection is, after so many bytes of answers. */
async function passage(
  t: TestContext,
  to: number,
  bytes = Infinity,
): Promise<{ readonly port: number; readonly passed: number; cut(): void }> {
  const open = new Set<Socket>();
  let left = bytes;
  let passed = 0;
  const server = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    far.on("data", (chunk: Buffer | string) => {
      passed += chunk.length;
      near.write(chunk.slice(0, left));
      left -= chunk.length;
      if (left > 0) return;
      left = Infinity;
      near.resetAndDestroy();
      far.resetAndDestroy();
    });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    near.pipe(far);
    far.on("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => open.forEach((socket) => socket.destroy());
  t.after(() => (cut(), void server.close()));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cut,
    get passed() {
      return passed;
    },
  };
}

const action = (id: string, tool: string, input: Action["input"]): Action => ({ id, tool, input, callId: id });
const order = (of: Action, more: Partial<Order> = {}): Order => ({
  action: of,
  run: "run_1",
  epoch: 1,
  ttlMs: 60_000,
  ...more,
});

async function events(hand: RemoteHand, given: Order, signal = new AbortController().signal): Promise<HandEvent[]> {
  return Array.fromAsync(hand.perform(given, signal));
}

const endOf = async (hand: RemoteHand, given: Order): Promise<ActionEnd> =>
  (await events(hand, given)).at(-1) as ActionEnd;

test("a hand of ours that listens is a hand like any other: judged, ordered, heard live, remembered", async (t) => {
  const hand = await startTcpHand(t, { name: "web-1" });
  const token = await hand.token("hand");
  const { row, remote } = await dialled(t, { port: hand.port, token, tags: ["web"] });
  assert.deepEqual(
    [row?.name, row?.gateway, row?.workspace, row?.tags],
    ["web-1", "agent-tcp", hand.workspace, ["web"]],
  );
  assert.ok(row?.tools.some(({ name }) => name === "read_file"));
  const uname = action("act_1", "command", { command: "uname", args: ["-s"] });
  const judgement = await remote.judge(uname);
  assert.ok("verdict" in judgement && judgement.verdict.decision === "allow");
  const told = await events(remote, order(uname));
  assert.deepEqual(told[0], { type: "output", stream: "stdout", chunk: "Linux\n" });
  const again = await endOf(remote, order(uname));
  assert.deepEqual(again, told.at(-1));
  await remote.acknowledge("act_1");
  const other = await endOf(remote, order(action("act_1", "command", { command: "id" })));
  assert.ok(other.type === "failed" && other.fault.code === "ACTION_ID_REUSED");
});

test("an approval travels with the order, and an order without one is refused by the hand", async (t) => {
  const hand = await startTcpHand(t);
  const { remote } = await dialled(t, { port: hand.port, token: await hand.token("hand", "approve") });
  const touch = action("act_t", "command", { command: "touch", args: ["made"] });
  const judgement = await remote.judge(touch);
  assert.ok("verdict" in judgement && judgement.verdict.decision === "ask");
  const refused = await endOf(remote, order(touch));
  assert.ok(refused.type === "failed" && refused.fault.code === "APPROVAL_DENIED");
  assert.ok(!existsSync(join(hand.workspace, "made")));
  assert.equal((await endOf(remote, order(touch, { approved: judgement.hash }))).type, "finished");
  assert.ok(existsSync(join(hand.workspace, "made")));
});

test("aborting an order ends it on the other machine, and its end is still told", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const { remote } = await dialled(t, { port: hand.port, token: await hand.token("hand") });
  const stop = new AbortController();
  const sleep = order(action("act_s", "shell", { command: "echo ready; sleep 60" }));
  let ended: HandEvent | undefined;
  for await (const event of remote.perform(sleep, stop.signal)) {
    if (event.type === "output") stop.abort();
    ended = event;
  }
  assert.ok(ended?.type === "finished" && ended.outcome.kind === "process" && ended.outcome.signal !== null);
});

test("what runs at a cut goes on, and the same order gets its outcome from the ledger", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const way = await passage(t, hand.port);
  const { remote, state } = await dialled(t, { port: way.port, token: await hand.token("hand") });
  const log = join(hand.workspace, "log");
  const effect = order(action("act_e", "shell", { command: `echo go; sleep 0.3; echo x >> ${log}; cat ${log}` }));
  let ended: HandEvent | undefined;
  for await (const event of remote.perform(effect, new AbortController().signal)) {
    ended = event;
    if (event.type === "output") way.cut();
  }
  assert.ok(ended?.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");
  await state("ok");
  const second = await endOf(remote, effect);
  assert.ok(second.type === "finished" && second.outcome.kind === "process");
  assert.equal(second.outcome.stdout.text, "go\nx\n");
  assert.equal(readFileSync(log, "utf8"), "x\n");
});

test("F9: wherever a conversation is cut, the effect happens once and its outcome arrives", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL, bounds: { strangers: 1000 } });
  const token = await hand.token("hand");
  const converse = async (name: string, bytes?: number): Promise<number> => {
    const way = await passage(t, hand.port, bytes);
    const { remote, state, dialling } = await dialled(t, { port: way.port, token });
    const log = join(hand.workspace, name);
    const effect = order(action(`act_${name}`, "shell", { command: `echo x >> ${log}; cat ${log}` }));
    let ended = await endOf(remote, effect);
    while (ended.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE") {
      await state("ok");
      ended = await endOf(remote, effect);
    }
    assert.ok(ended.type === "finished" && ended.outcome.kind === "process", JSON.stringify(ended));
    assert.equal(ended.outcome.stdout.text, "x\n");
    assert.equal(readFileSync(log, "utf8"), "x\n");
    await dialling.close();
    return way.passed;
  };
  const whole = await converse("whole");
  const welcome = whole - 1200;
  const early = Array.from({ length: 6 }, (_, index) => 1 + Math.floor((welcome / 6) * index));
  const late = Array.from({ length: 25 }, (_, index) => welcome + index * 48);
  for (const bytes of [...early, ...late]) await converse(`cut-${bytes}`, bytes);
});

test("a hand that is away is HAND_UNAVAILABLE at once, and is dialled until it is back", async (t) => {
  const hand = await startTcpHand(t);
  const { port, folder, tokens } = hand;
  const { remote, state } = await dialled(t, { port, token: await hand.token("hand") });
  await hand.close();
  await state("down");
  const uname = order(action("act_1", "command", { command: "uname" }));
  const away = await endOf(remote, uname);
  assert.ok(away.type === "failed" && away.fault.code === "HAND_UNAVAILABLE");
  await startTcpHand(t, { port, folder, verify: (token) => tokens.verify(token) });
  await state("ok");
  assert.equal((await endOf(remote, uname)).type, "finished");
});

test("a token without the scope of brains is no hand of ours, and says so", async (t) => {
  const hand = await startTcpHand(t);
  const { remote } = await dialled(t, { port: hand.port, token: await hand.token("ps") });
  const refused = await remote.judge(action("act_1", "command", { command: "uname" }));
  assert.ok("code" in refused && refused.code === "FORBIDDEN");
  assert.match(refused.message, /scope hand required/);
  await assert.rejects(dialled(t, { port: hand.port, token: "nobody.knows" }), { code: "INVALID_TOKEN" });
});

test("a server of others offers commands and facts; a person decides, and a cut leaves the outcome unknown", async (t) => {
  const seen: unknown[] = [];
  const { port } = await startForeignTcpServer(t, (said, socket) => {
    if (said.act === "AUTH") return answer(said, { sessionId: "S-1", scopes: ["*"] });
    if (said.act === "PS") return answer(said, { processes: [{ pid: 1 }], meta: { total: 1 } });
    if (said.act !== "OS_CMD") return answer(said);
    seen.push(said.data);
    if (said.data?.["cmd"] === "reboot") return void socket.destroy();
    return answer(said, { ok: true, exitCode: 0, signal: null, timedOut: false, truncated: false, stdout: "hi\n" });
  });
  const { remote, row, state } = await dialled(t, { port, token: "a.b", name: "other" });
  assert.deepEqual(row?.tools.map(({ name }) => name).sort(), ["command", "os_info", "processes"]);
  const echo = action("act_1", "command", { command: "echo", args: ["hi"], timeout_ms: 90_000 });
  const judgement = await remote.judge(echo);
  assert.ok("verdict" in judgement && judgement.verdict.decision === "ask");
  const facts = await remote.judge(action("act_2", "processes", {}));
  assert.ok("verdict" in facts && facts.verdict.decision === "allow");
  const ended = await endOf(remote, order(echo));
  assert.ok(ended.type === "finished" && ended.outcome.kind === "process");
  assert.deepEqual([ended.outcome.stdout.text, ended.outcome.stdout.bytes], ["hi\n", 3]);
  assert.deepEqual(seen, [{ cmd: "echo", args: ["hi"], timeoutMs: 60_000 }]);
  assert.equal((await endOf(remote, order(action("act_2", "processes", {})))).type, "finished");
  const cut = await endOf(remote, order(action("act_3", "command", { command: "reboot" })));
  assert.ok(cut.type === "unknown" && cut.fault.code === "OUTCOME_UNKNOWN");
  await state("ok");
  assert.equal(seen.length, 2);
});
