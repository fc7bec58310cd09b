import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Action, ActionEnd, JsonObject, Order } from "@vidro/core";
import { SOUTHBOUND_PATH } from "@vidro/core/wire/enrolment";
import { tcpHandName, formatWarrant, warrantText } from "@vidro/core/wire/warrant";
import { WebSocketServer } from "ws";
import { openAuthority } from "../../packages/brain/src/south/enrolment/authority.ts";
import type { Authority } from "../../packages/brain/src/south/enrolment/authority.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { readBrainKey } from "../../packages/hands/src/enrol/brain-key.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { REMOTE_HANDS } from "../support/remote-hands.ts";
import { Peer } from "../support/peer-process.ts";
import { SHORT_REDIALS_FLAGS } from "../support/preload-flags.ts";
import { ForeignAgent, SouthboundHarness } from "../support/southbound-harness.ts";
import { startTcpHand, scratch } from "../support/tcp-hand.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

/* An approval counts at a hand when its own brain signed it for this hand, run, action and plan, and not for long. */

const touch = (id: string): Action => ({
  id,
  tool: "command",
  input: { command: "touch", args: ["made"] },
  callId: id,
});

interface Claim {
  readonly hand: string;
  readonly run: string;
  readonly action: string;
  readonly plan: string;
  readonly ledger: string;
  readonly expiresAt: number;
}

function warrant(authority: Pick<Authority, "sign">, claim: Claim): string {
  const { hand, run, action, plan, ledger, expiresAt } = claim;
  const order = { run, action: { id: action, tool: "", input: {}, callId: "" }, approved: plan, ledger };
  return formatWarrant({ expiresAt, signature: authority.sign(warrantText({ hand, order, expiresAt })) });
}

/** Claims that are each wrong in one thing, and what a hand says to them. */
function wrongs(right: Claim): readonly (readonly [string, Claim, string])[] {
  return [
    ["another run", { ...right, run: "run_2" }, "APPROVAL_INVALID"],
    ["another action", { ...right, action: "act_2" }, "APPROVAL_INVALID"],
    ["another plan", { ...right, plan: "0".repeat(64) }, "APPROVAL_INVALID"],
    ["another hand", { ...right, hand: "ana" }, "APPROVAL_INVALID"],
    ["another ledger", { ...right, ledger: "elsewhere.0" }, "APPROVAL_INVALID"],
    ["the past", { ...right, expiresAt: Date.now() - 1 }, "APPROVAL_EXPIRED"],
  ];
}

const { hand: HAND } = bundledCommands();

/** The program of a hand on a host that has joined a brain. */
async function joined(
  t: TestContext,
  south: SouthboundHarness,
): Promise<{ readonly agent: string; readonly workspace: string }> {
  const folder = scratch(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const node = [
    process.execPath,
    "--conditions=vidro-source",
    "--disable-warning=ExperimentalWarning",
    ...SHORT_REDIALS_FLAGS,
  ];
  const flags = ["--workspace", workspace, "--state", join(folder, "state"), "--json"];
  const argv = [...node, HAND, "join", south.url, "--token", await south.invite("far"), ...flags];
  const peer = await Peer.start({ argv, cwd: folder, env: { PATH: process.env["PATH"], HOME: folder } });
  t.after(() => peer.end("SIGKILL"));
  return { agent: String(peer.line["agent_id"]), workspace };
}

/** What listens in the place of a brain, with the key of its listener and without that of its authority. */
async function impostor(t: TestContext, south: SouthboundHarness): Promise<ForeignAgent> {
  const pem = readFileSync(join(south.folder, "ca", "listener.pem"), "utf8");
  const server = createServer({
    key: pem,
    cert: pem.slice(pem.indexOf("-----BEGIN CERTIFICATE-----")),
    requestCert: true,
    rejectUnauthorized: false,
  });
  const sockets = new WebSocketServer({ server, path: SOUTHBOUND_PATH });
  const came = once(sockets, "connection");
  server.listen(south.place.port, "127.0.0.1");
  t.after(() => {
    for (const one of sockets.clients) one.terminate();
    server.close();
  });
  const [socket] = await came;
  return new ForeignAgent(socket);
}

/** The next message that is the answer to something. */
async function answer(client: ForeignAgent, message: JsonObject): Promise<JsonObject> {
  client.say(message);
  for (;;) {
    const heard = await client.next();
    if (heard["id"] === message["id"] && typeof heard["ok"] === "boolean") return heard;
  }
}

test("a hand that joined takes no approval from another brain at its brain's address, but only what its brain signed for it", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { agent, workspace } = await joined(t, south);
  await south.down();
  const client = await impostor(t, south);
  const { id } = await client.next();
  const policy = { timeouts: { exec: 60_000 }, max_payload: 1 << 20 };
  client.say({ id: id as string, ok: true, policy, session_epoch: 1000, server_version: "1" });
  const action = touch("act_1");
  const { judgement } = await answer(client, {
    id: "j",
    method: "action.judge",
    action_id: "act_1",
    tool: action.tool,
    input: action.input,
  });
  const { hash, ledger } = judgement as { hash: string; ledger: string };
  const stranger = await openAuthority({ folder: scratch(t), now: Date.now });
  const authority = await south.authorityAt(Date.now);
  const right = { hand: agent, run: "run_1", action: "act_1", plan: hash, ledger, expiresAt: Date.now() + 60_000 };
  let asked = 0;
  const order = (more: JsonObject): Promise<JsonObject> => {
    const fields = { method: "command.exec", action_id: "act_1", command: "touch", args: ["made"], ledger };
    const fence = { run_id: "run_1", run_epoch: 1, session_epoch: 1000, ttl_ms: 60_000 };
    return answer(client, { ...fields, ...fence, approved: hash, id: `o${(asked += 1)}`, ...more });
  };
  const refuses = async (what: string, more: JsonObject, code: string): Promise<void> => {
    const reply = await order(more);
    assert.deepEqual([reply["ok"], reply["code"]], [false, code], `${what}: ${JSON.stringify(reply)}`);
  };
  await refuses("nothing is signed", {}, "APPROVAL_INVALID");
  await refuses("words", { warrant: "yes" }, "APPROVAL_INVALID");
  await refuses("another key", { warrant: warrant(stranger, right) }, "APPROVAL_INVALID");
  for (const [what, claim, code] of wrongs(right)) await refuses(what, { warrant: warrant(authority, claim) }, code);
  const other = warrant(authority, { ...right, plan: "0".repeat(64) });
  await refuses("a plan that is not this one", { approved: "0".repeat(64), warrant: other }, "PLAN_CHANGED");
  assert.ok(!existsSync(join(workspace, "made")));
  const done = await order({ warrant: warrant(authority, right) });
  assert.equal(done["ok"], true, JSON.stringify(done));
  assert.ok(existsSync(join(workspace, "made")));
  const again = await order({ ttl_ms: 0 });
  assert.equal(again["exit_code"], 0, "What is in the ledger is told, whatever becomes of its approval.");
});

for (const [wire, far] of Object.entries(REMOTE_HANDS)) {
  test(`over ${wire} what a person approved is carried out on a host in another process`, async (t) => {
    const { hand, workspace } = await far(t, { folder: scratch(t) });
    const action = touch("act_1");
    const judgement = await hand.judge(action);
    assert.ok("verdict" in judgement && judgement.verdict.decision === "ask", JSON.stringify(judgement));
    const { hash: approved, ledger = "" } = judgement;
    const order: Order = { action, run: "run_1", epoch: 1, ttlMs: 60_000, approved, ledger };
    const events = await Array.fromAsync(hand.perform(order, new AbortController().signal));
    assert.equal(events.at(-1)?.type, "finished", JSON.stringify(events.at(-1)));
    assert.ok(existsSync(join(workspace, "made")));
  });
}

test("a hand that listens takes a bare approval from a token that may approve, and from no other", async (t) => {
  const hand = await startTcpHand(t);
  const order = { actionId: "act_1", tool: "command", input: touch("").input, run: "run_1", epoch: 1, ttlMs: 60_000 };
  for (const [scopes, code] of [
    [["hand"], "APPROVAL_INVALID"],
    [["hand", "approve"], undefined],
  ] as const) {
    const caller = await hand.session(...scopes);
    const { judgement } = (await caller.ask("JUDGE", { actionId: "act_1", tool: order.tool, input: order.input })).data;
    const { hash } = judgement as { hash: string };
    const { ended } = (await caller.ask("RUN_TOOL", { ...order, actionId: `act_${scopes.length}`, approved: hash }))
      .data;
    assert.equal((ended as { fault?: { code: string } }).fault?.code, code);
    assert.equal(existsSync(join(hand.workspace, "made")), code === undefined);
  }
});

test("a hand that listens and was told its brain's key takes no approval but that brain's, whatever the token", async (t) => {
  const authority = await openAuthority({ folder: scratch(t), now: Date.now });
  const name = tcpHandName("hand_test");
  const hand = await startTcpHand(t, { brain: readBrainKey(authority.certificate, name) });
  const caller = await hand.session("*");
  const { tool, input } = touch("");
  const { judgement } = (await caller.ask("JUDGE", { actionId: "act_1", tool, input })).data;
  const { hash, ledger } = judgement as { hash: string; ledger: string };
  const right = { hand: name, run: "run_1", action: "act_1", plan: hash, ledger, expiresAt: Date.now() + 60_000 };
  const end = async (more: JsonObject): Promise<ActionEnd> => {
    const order = { actionId: "act_1", tool, input, run: "run_1", epoch: 1, ttlMs: 60_000, ledger, approved: hash };
    return (await caller.ask("RUN_TOOL", { ...order, ...more })).data["ended"] as ActionEnd;
  };
  const wrong = wrongs(right).map(
    ([what, claim, code]) => [what, { warrant: warrant(authority, claim) }, code] as const,
  );
  for (const [what, more, code] of [["nothing is signed", {}, "APPROVAL_INVALID"] as const, ...wrong]) {
    const ended = await end(more);
    assert.equal(ended.type === "failed" && ended.fault.code, code, what);
  }
  assert.ok(!existsSync(join(hand.workspace, "made")));
  assert.equal((await end({ warrant: warrant(authority, right) })).type, "finished");
});

test("a brain that dials a hand which was told its key approves there", async () => {
  await using host = await Stage.set();
  await using brain = await Stage.set();
  const certificate = join(host.workspace, "brain.pem");
  const printed = await brain.run("hands", "authority");
  assert.match(printed.stdout, /^-----BEGIN CERTIFICATE-----/);
  assert.doesNotMatch(printed.stdout, /PRIVATE/);
  writeFileSync(certificate, printed.stdout);
  const [made] = lines((await host.run("tokens", "create", "--scopes", "hand", "--json")).stdout);
  const child = host.start("hands", "serve", "--tcp", "127.0.0.1:0", "--brain", certificate, "--json");
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  const { tcp } = JSON.parse(bytes.toString("utf8")) as { tcp: string };
  await using _ = await DaemonProcess.up(brain, {
    flags: ["--port", "0", "--southbound-port", "0", "--no-local-hand"],
  });
  const dialled = await brain.run("hands", "dial", `tcp://${tcp}`, "--token", String(made?.["token"]), "--name", "far");
  assert.equal(dialled.code, 0, dialled.stderr);
  const done = await brain.run("hands", "exec", "far", "--yes", "--", "touch", "made");
  assert.equal(done.code, 0, done.stdout + done.stderr);
  assert.ok(existsSync(join(host.workspace, "made")));
});
