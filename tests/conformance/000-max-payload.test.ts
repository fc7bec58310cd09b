import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { REGISTER_LIMITS, textIn } from "@vidro/core";
import type { ActionEnd, Hand, JsonObject } from "@vidro/core";
import { bytesOf } from "@vidro/core/wire/agent-ws";
import { tamperWebSocket } from "../support/message-tamperer.ts";
import type { Tamper } from "../support/message-tamperer.ts";
import { insisted } from "../support/in-process-links.ts";
import { sent, signedBytes, SignedBrain, signedHost } from "../support/signed-http-harness.ts";
import { ForeignAgent, helloOf, JoinedHand, SouthboundHarness } from "../support/southbound-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* `max_payload` of the welcome counts the bytes of a message, and means the same at both ends [000-43]. */

const MOST = REGISTER_LIMITS.messageBytes;
/** Two bytes as UTF-8, so that bytes and characters are told apart. */
const WIDE = "é";

/** A text that makes a message of exactly so many bytes. */
function padding(bytes: number, message: (text: string) => JsonObject): string {
  const free = bytes - bytesOf(message(""));
  return WIDE.repeat(free >> 1) + "x".repeat(free % 2);
}

let last = 0;

/** Has a hand run `true` with so many characters of arguments. */
async function trueWith(hand: Hand, argChars: number): Promise<ActionEnd> {
  last += 1;
  const args = Array.from({ length: ARGS }, (_, at) => "x".repeat(Math.floor((argChars + at) / ARGS)));
  const action = { id: `act_payload_${last}`, tool: "command", input: { command: "true", args }, callId: "c" };
  return insisted(hand, { action, run: "run_1", epoch: 1, ttlMs: 60_000 });
}

const ARGS = 20;

/** A hand of ours behind a proxy that tampers with messages, as the brain sees it. */
async function meddledHand(t: TestContext, meddle: Tamper): Promise<Hand> {
  const south = await SouthboundHarness.up(t);
  const enrolled = await south.enrolled();
  const port = await tamperWebSocket(t, { port: south.place.port, trust: { south, identity: enrolled } }, meddle);
  await JoinedHand.join(t, south, { identity: { ...enrolled, url: `wss://127.0.0.1:${port}/southbound` } });
  return south.hands.at(enrolled.agentId);
}

test("000-43 agent-ws: a brain takes a message of max_payload bytes, and refuses one byte more by name on a link that stays", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity));
  const result = (stdout: string): JsonObject => ({ method: "action.result", action_id: "a", ok: true, stdout });
  const longest = result(padding(MOST, result));
  assert.equal(bytesOf(longest), MOST);
  assert.deepEqual(await client.ask(longest), { action_id: "a", ok: true });
  const { error, ...refused } = await client.ask(result(padding(MOST + 1, result)));
  assert.deepEqual(refused, { action_id: "a", ok: false, code: "PAYLOAD_TOO_LARGE" });
  assert.match(JSON.stringify(error), /at most 1048576 bytes; this one has 1048577/);
  assert.deepEqual(await client.ask({ method: "telemetry.push", action_id: "t", payload: {} }), {
    action_id: "t",
    ok: true,
  });
});

test("agent-ws: an action whose reply is longer than max_payload is of unknown outcome at once", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await ForeignAgent.open(identity);
  await client.ask(helloOf(identity));
  const hand = await south.hands.at(identity.agentId);
  const running = trueWith(hand, ARGS);
  const { action_id } = await client.next();
  const reply = (stdout: string): JsonObject => ({ action_id, ok: true, exit_code: 0, stdout, stderr: "" });
  client.say(reply(padding(MOST + 1, reply)));
  const ended = await running;
  assert.ok(ended.type === "unknown" && ended.fault.code === "OUTCOME_UNKNOWN", JSON.stringify(ended));
});

test("000-43 agent-ws: a hand takes an order of max_payload bytes; one byte more is refused by the sender and by the receiver", async (t) => {
  const passed: number[] = [];
  let isLonger = false;
  const meddle: Tamper = (message) => {
    if (message["method"] !== "command.exec") return [message];
    passed.push(bytesOf(message));
    return [isLonger ? { ...message, action_id: `${textIn(message, "action_id")}x` } : message];
  };
  const hand = await meddledHand(t, meddle);
  const few = 1000;
  assert.equal((await trueWith(hand, few)).type, "finished");
  const most = few + MOST - (passed[0] ?? 0);
  assert.equal((await trueWith(hand, most)).type, "finished");
  assert.equal(passed[1], MOST);
  const refused = await trueWith(hand, most + 1);
  assert.ok(refused.type === "failed" && refused.fault.code === "PAYLOAD_TOO_LARGE", JSON.stringify(refused));
  assert.equal(passed.length, 2, "the brain sends nothing that is too long");
  isLonger = true;
  const received = await trueWith(hand, most);
  assert.ok(received.type === "failed" && received.fault.code === "PAYLOAD_TOO_LARGE", JSON.stringify(received));
  assert.equal(passed.length, 3, "the hand answers at once, and the order is not given again");
  isLonger = false;
  assert.equal((await trueWith(hand, few)).type, "finished", "the link stays");
});

test("000-43 agent-ws: nothing that a hand says is longer than the max_payload that it was told, live output included", async (t) => {
  const max = 4096;
  const said: JsonObject[] = [];
  const meddle: Tamper = (message) => {
    const { policy, method, action_id } = message;
    if (typeof policy === "object") return [{ ...message, policy: { ...(policy as JsonObject), max_payload: max } }];
    if (typeof action_id === "string" && method !== "command.exec") said.push(message);
    return [message];
  };
  const hand = await meddledHand(t, meddle);
  const input = { command: "printf", args: ["%s", WIDE.repeat(10_000)] };
  const action = { id: "act_long", tool: "command", input, callId: "c" };
  let heard = "";
  for await (const event of hand.perform(
    { action, run: "run_1", epoch: 1, ttlMs: 60_000 },
    new AbortController().signal,
  ))
    if (event.type === "output") heard += event.chunk;
  assert.ok(heard === WIDE.repeat(10_000), `${heard.length} characters came`);
  const longest = Math.max(...said.map(bytesOf));
  assert.ok(longest <= max && longest > max / 2, `${longest}`);
});

test("000-43 agent-http: a signed message of max_payload bytes is taken, and one byte more is refused by name", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { port } = south.place;
  const result = (stdout: string): JsonObject => ({ method: "action.result", action_id: "a", ok: true, stdout });
  const { ca } = await south.enrolled();
  const post = async (bytes: number): Promise<Posted> =>
    posted(`https://127.0.0.1:${port}/southbound/v1/messages`, ca, JSON.stringify(result(padding(bytes, result))));
  // Without a signature the longest is read and then not believed: its length is no reason to refuse it.
  assert.equal((await post(MOST)).status, 401);
  const { status, body } = await post(MOST + 1);
  assert.deepEqual([status, body["code"]], [413, "PAYLOAD_TOO_LARGE"]);
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const { keyid, root } = await brain.enrol("h1");
  const host = await signedHost(t, keyid, root);
  await host.join(brain.url);
  const url = `${brain.url}/southbound/v1/messages`;
  const signed = signedBytes(host.ring.current(), { url, message: result(padding(MOST, result)) });
  assert.deepEqual(signed.asked.verifyReply(await sent(brain.url, signed.bytes)), { ok: true });
});

interface Posted {
  readonly status: number;
  readonly body: JsonObject;
}

async function posted(url: string, ca: string, body: string): Promise<Posted> {
  const { request } = await import("node:https");
  const { promise, resolve, reject } = Promise.withResolvers<Posted>();
  const asked = request(url, { method: "POST", ca, headers: { "content-type": "application/json" } }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () =>
      resolve({
        status: response.statusCode ?? 0,
        body: JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject,
      }),
    );
  });
  asked.on("error", reject);
  asked.end(body);
  return promise;
}
