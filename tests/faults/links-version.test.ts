import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { until } from "../support/daemon-process.ts";
import { assertEffectsOnce, followRun } from "../support/follow-run.ts";
import { REMOTE_HANDS } from "../support/remote-hands.ts";
import { LINKS, LinkHarness, STEPS, taskOf } from "../support/link-harness.ts";
import { tamperFrames, tamperWebSocket } from "../support/message-tamperer.ts";
import type { Tamper } from "../support/message-tamperer.ts";
import { insisted, markOrder, IN_PROCESS_LINKS } from "../support/in-process-links.ts";
import type { Target } from "../support/in-process-links.ts";
import { JoinedHand, SouthboundHarness } from "../support/southbound-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

/* Ends of a link that are not of the same age, a brain that is short of descriptors, and a host that never came. */

const { hand: HAND } = bundledCommands();
const WIRES = {
  "agent-ws": tamperWebSocket,
  "executor-ws": tamperWebSocket,
  "agent-tcp": tamperFrames,
} as const;

/** An order as a later brain may give it, with something in it that this hand does not understand. */
const laterOrder: Tamper = (message) => {
  const { method, type, payload } = message;
  if (method === "tool.run") return [{ ...message, gently: true }];
  return [type === "run_tool" ? { ...message, payload: { ...(payload as JsonObject), gently: true } } : message];
};

/** A greeting as a later hand or brain may say it. */
const laterGreeting: Tamper = (message) => {
  const { method, type, t, payload } = message;
  if (method === "hello")
    return [{ ...message, version: "99.0", capabilities: [...listIn(message, "capabilities"), "x.y"] }];
  if (t === "hello")
    return [{ ...message, serverVersion: "99.0", extensions: [...listIn(message, "extensions"), "X"] }];
  if (type !== "handshake") return [message];
  const said = payload as JsonObject;
  return [
    { ...message, payload: { ...said, client_version: "99.0", extensions: [...listIn(said, "extensions"), "x"] } },
  ];
};

function listIn(message: JsonObject, field: string): readonly string[] {
  return (message[field] ?? []) as readonly string[];
}

for (const [name, between] of Object.entries(WIRES) as [keyof typeof WIRES, typeof tamperWebSocket][])
  test(`F26 ${name}: a peer that greets with another version and unknown fields is taken, with what both know`, async (t) => {
    const { hand, marks } = await IN_PROCESS_LINKS[name](t, (target: Target) => between(t, target, laterGreeting));
    const order = markOrder();
    assert.equal((await insisted(hand, order)).type, "finished");
    assert.deepEqual(marks(), [`${order.action.input.n}`]);
  });

// The protocol with frames drops what it does not know, as its document says.
for (const name of ["agent-ws", "executor-ws"] as const)
  test(`F26 ${name}: an order with something in it that the hand does not know is refused by that name, and not done`, async (t) => {
    const { hand, marks } = await IN_PROCESS_LINKS[name](t, (target) => tamperWebSocket(t, target, laterOrder));
    const ended = await insisted(hand, markOrder());
    assert.ok(ended.type === "failed", JSON.stringify(ended));
    assert.equal(ended.fault.code, "BAD_REQUEST");
    assert.match(ended.fault.message, /"gently"/);
    assert.deepEqual(marks(), []);
  });

test("F26 a hand whose ledger is of a later version refuses to start, names both versions, and leaves it alone", async (t) => {
  const folder = temporaryFolder(t);
  const { peer } = await REMOTE_HANDS["agent-ws"](t, { folder });
  await peer.end("SIGKILL");
  const state = join(folder, "state");
  const ledger = new DatabaseSync(join(state, "hand", "ledger.db"));
  ledger.exec("PRAGMA user_version = 99");
  ledger.close();
  const node = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning"];
  const { stdout, status } = spawnSync(process.execPath, [...node, HAND, "serve", "--state", state, "--json"], {
    encoding: "utf8",
  });
  const said = JSON.parse(stdout) as { code: string; message: string };
  assert.equal(said.code, "STORE_NEWER");
  assert.match(said.message, /version 99; this Vidro knows version \d+/);
  assert.notEqual(status, 0);
});

test("F27 a brain without descriptors lets no hand in, keeps the hands it has, and takes all when it has some again", async () => {
  const kind = LINKS.find(({ name }) => name === "agent-ws") ?? assert.fail();
  await using stand = await LinkHarness.set(kind);
  const run = await stand.kind.begin(stand, taskOf("r0"));
  // From its first effect on the brain has read all the files that it needs for the run.
  await until("the run has had an effect", () => existsSync(join(stand.host.workspace, "r0")));
  const pid = stand.brain?.child.pid ?? 0;
  const limit = (descriptors: number): void => {
    const done = spawnSync("prlimit", ["--pid", `${pid}`, `--nofile=${descriptors}:4096`], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
  };
  limit(4);
  // A new connection each: those that there are would still be good.
  const refused = spawnSync("curl", ["-sS", "--max-time", "2", `${stand.url}/healthz`], { encoding: "utf8" });
  assert.notEqual(refused.status, 0, refused.stdout);
  await stand.kill("hand");
  const back = stand.raise("hand");
  limit(4096);
  await back;
  const { effects, unknown } = assertEffectsOnce(stand, await followRun(stand, run), "r0");
  assert.ok(effects.length + unknown >= STEPS, `${effects.length} effects, ${unknown} unknown`);
  assert.ok(stand.brain?.isAlive);
});

test("a host that was enrolled and never came is known as down, can be revoked, and is not let in after that", async (t) => {
  const south = await SouthboundHarness.up(t);
  const asker = { owner: "local", admin: false };
  const identity = await south.enrolled("web-1");
  const { id, state, gateway, tools } = south.hands.find("web-1", asker);
  assert.deepEqual([id, state, gateway], [identity.agentId, "down", "agent-ws"]);
  assert.ok(
    tools.some(({ name }) => name === "command"),
    "a run can be given to it and waits",
  );
  await south.hands.revoke(id, "the invitation went astray");
  const joined = await JoinedHand.join(t, south, { identity, waits: false });
  assert.equal(((await joined.ended) as { code?: string }).code, "HAND_REVOKED");
  assert.equal(south.hands.find("web-1", asker).barred, "revoked");
});
