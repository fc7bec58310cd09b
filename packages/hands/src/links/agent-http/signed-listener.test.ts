import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { signMessage } from "@vidro/core/wire/agent-http";
import type { MessageToSign, SignedMessage } from "@vidro/core/wire/agent-http";
import { scratch } from "../../scratch.fixture.ts";
import { KeyRing } from "./key-ring.ts";
import { nodeSignatureCrypto } from "./node-crypto.ts";
import { listenSigned } from "./signed-listener.ts";

interface Stage {
  readonly url: URL;
  readonly taken: readonly JsonObject[];
  /** Signs a message as the brain does. */
  readonly sign: (more?: Partial<MessageToSign>) => SignedMessage;
  readonly clock: { nowMs: number };
  readonly port: number;
}

async function stage(t: TestContext, answer = async (): Promise<JsonObject> => ({ ok: true })): Promise<Stage> {
  const root = Buffer.alloc(32, 1).toString("base64");
  const ring = await KeyRing.create(join(scratch(t), "keys.json"), { keyid: "h1/k1", root });
  const taken: JsonObject[] = [];
  const clock = { nowMs: Date.now() };
  const take = (message: JsonObject): Promise<JsonObject> => {
    taken.push(message);
    return answer();
  };
  const listener = await listenSigned({ host: "127.0.0.1", port: 0, ring, now: () => clock.nowMs, answer: take });
  t.after(() => listener.close());
  const url = new URL(`http://127.0.0.1:${listener.port}/southbound/v1/messages`);
  const { keyid, keys } = ring.current();
  let last = 0;
  const sign: Stage["sign"] = (more = {}) => {
    last += 1;
    const nonce = `nonce-${last}`.padEnd(SIGNED_HTTP_LIMITS.nonceChars, "n");
    const message = { method: "action.cancel", action_id: "a" };
    return signMessage({
      url,
      message,
      crypto: nodeSignatureCrypto,
      from: "toHand",
      keys,
      keyid,
      nonce,
      now: clock.nowMs,
      ...more,
    });
  };
  return { url, taken, sign, clock, port: listener.port };
}

async function post(url: URL, { headers, body }: Pick<SignedMessage, "headers" | "body">, method = "POST") {
  const sent = request(url, { method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const bytes = Buffer.concat(await response.toArray());
  return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body: bytes };
}

function codeIn({ body }: { readonly body: Uint8Array }): unknown {
  return (JSON.parse(Buffer.from(body).toString()) as JsonObject)["code"];
}

test("a message of the brain is taken, and its reply is signed for that message", async (t) => {
  const { url, sign, taken } = await stage(t, async () => ({ ok: true, n: 1 }));
  const [asked, other] = [sign(), sign()];
  const reply = await post(url, asked);
  assert.deepEqual(asked.verifyReply(reply), { ok: true, n: 1 });
  assert.throws(() => other.verifyReply(reply), { code: "SIGNATURE_INVALID" });
  assert.deepEqual(taken, [{ method: "action.cancel", action_id: "a" }]);
});

test("nothing is carried out of a message that is replayed, reflected, changed or not signed", async (t) => {
  const { url, sign, taken } = await stage(t);
  const asked = sign();
  assert.equal((await post(url, asked)).status, 200);
  assert.equal(codeIn(await post(url, asked)), "SIGNATURE_INVALID", "replayed");
  assert.equal(codeIn(await post(url, sign({ from: "toBrain" }))), "SIGNATURE_INVALID", "the hand's own direction");
  const changed = sign();
  const body = Buffer.from(Buffer.from(changed.body).toString().replace('"a"', '"b"'));
  assert.equal(codeIn(await post(url, { ...changed, body })), "SIGNATURE_INVALID", "changed");
  assert.equal(codeIn(await post(url, { headers: {}, body: Buffer.from("{}") })), "SIGNATURE_INVALID", "not signed");
  assert.equal(codeIn(await post(url, sign({ keyid: "h2/k1" }))), "SIGNATURE_INVALID", "another hand's");
  assert.equal(codeIn(await post(new URL("/other", url), sign())), "SIGNATURE_INVALID", "another path");
  assert.equal(taken.length, 1);
});

test("a replay is refused for as long as its message could be valid", async (t) => {
  const { url, sign, taken, clock } = await stage(t);
  const asked = sign({ now: clock.nowMs + SIGNED_HTTP_LIMITS.skewS * 1000 });
  assert.equal((await post(url, asked)).status, 200);
  const last = SIGNED_HTTP_LIMITS.skewS + SIGNED_HTTP_LIMITS.lifeS;
  for (const seconds of [1, SIGNED_HTTP_LIMITS.skewS, last - 1, last, last + 1]) {
    const at = clock.nowMs;
    clock.nowMs = at + seconds * 1000;
    assert.notEqual((await post(url, asked)).status, 200, `${seconds} s later`);
    clock.nowMs = at;
  }
  assert.equal(taken.length, 1);
});

test("a message from another time is refused with the time of this host", async (t) => {
  const { url, sign, clock, taken } = await stage(t);
  const { lifeS, skewS } = SIGNED_HTTP_LIMITS;
  for (const offset of [-(lifeS + 2), skewS + 2]) {
    const asked = sign({ now: clock.nowMs + offset * 1000 });
    const reply = await post(url, asked);
    assert.deepEqual(
      [codeIn(reply), asked.verifyReply(reply)["server_time"]],
      ["CLOCK_SKEW", Math.floor(clock.nowMs / 1000)],
    );
  }
  assert.deepEqual(taken, []);
});

test("a signed message to another path is answered that nothing is there", async (t) => {
  const { url, sign, taken } = await stage(t);
  const other = new URL("/southbound/v1/poll", url);
  const asked = sign({ url: other });
  assert.equal(asked.verifyReply(await post(other, asked))["code"], "NOT_FOUND");
  assert.deepEqual(taken, []);
});

test("a failure inside is answered without its cause", async (t) => {
  const { url, sign } = await stage(t, () => Promise.reject(new Error("secret detail")));
  const asked = sign();
  const reply = asked.verifyReply(await post(url, asked));
  assert.equal(reply["code"], "INTERNAL_ERROR");
  assert.ok(!JSON.stringify(reply).includes("secret detail"));
  const refusing = await stage(t, () => Promise.reject(new Fault("HAND_UNAVAILABLE", "Not yet.")));
  const again = refusing.sign();
  assert.equal(again.verifyReply(await post(refusing.url, again))["error"], "Not yet.");
});

test("a message over its bound is refused without being carried out, one over the bound of reading is cut off", async (t) => {
  const { url, sign, taken } = await stage(t);
  const long = sign({ message: { text: "x".repeat(REGISTER_LIMITS.messageBytes) } });
  const reply = await post(url, long);
  assert.deepEqual([reply.status, codeIn(reply)], [413, "PAYLOAD_TOO_LARGE"]);
  const longer = sign({ message: { text: "x".repeat(REGISTER_LIMITS.readBytes) } });
  await post(url, longer).then(
    (got) => assert.equal(codeIn(got), "PAYLOAD_TOO_LARGE"),
    (thrown: NodeJS.ErrnoException) => assert.match(String(thrown.code), /ECONNRESET|EPIPE/),
  );
  assert.deepEqual(taken, []);
});

test("rubbish on the socket ends that connection only", async (t) => {
  const { url, sign, port } = await stage(t);
  for (const bytes of [
    "\0\0\0\0",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    `POST ${"/x".repeat(20_000)} HTTP/1.1\r\n\r\n`,
  ]) {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.end(bytes);
    socket.resume();
    await once(socket, "close");
  }
  const asked = sign();
  assert.deepEqual(asked.verifyReply(await post(url, asked)), { ok: true });
});

test("an address in use is named, and one beyond this machine needs a certificate", async (t) => {
  const { port } = await stage(t);
  const ring = await KeyRing.create(join(scratch(t), "keys.json"), { keyid: "h1/k1", root: "AAAA" });
  const options = { ring, now: Date.now, answer: async () => ({ ok: true }) };
  await assert.rejects(listenSigned({ ...options, host: "127.0.0.1", port }), { code: "PORT_TAKEN" });
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "127.evil.example", "localhost.evil.example"])
    await assert.rejects(
      listenSigned({ ...options, host, port: 0 }),
      { code: "BAD_REQUEST", message: /certificate/ },
      host,
    );
});
