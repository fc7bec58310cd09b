import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { answerSigned, deriveKeys } from "@vidro/core/wire/agent-http";
import type { SignedHttpReply, SignedMessageServer } from "@vidro/core/wire/agent-http";
import { scratch } from "../../scratch.fixture.ts";
import { KeyRing } from "./key-ring.ts";
import { nodeSignatureCrypto } from "./node-crypto.ts";
import { SignedClient } from "./signed-client.ts";

const ROOT = Buffer.alloc(32, 1);
const SALT = Buffer.alloc(16, 2).toString("base64");
const PATH = "/southbound/v1/messages";

interface Stage {
  readonly client: SignedClient;
  readonly ring: KeyRing;
  readonly notes: readonly string[];
  /** Messages whose signature the brain accepted. */
  readonly taken: readonly JsonObject[];
  readonly ask: (message?: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
}

interface BrainOptions {
  readonly answer?: (message: JsonObject) => Promise<JsonObject>;
  /** Milliseconds by which the brain's clock is ahead. */
  readonly aheadMs?: number;
  /** Changes what goes back over the wire. */
  readonly meddle?: (
    reply: SignedHttpReply,
    response: ServerResponse,
    request: IncomingMessage,
  ) => SignedHttpReply | undefined;
  readonly knows?: (keyid: string) => boolean;
}

/** A brain that signs, on a real socket, and a client with the first key of the hand h1. */
async function stage(t: TestContext, brain: BrainOptions = {}): Promise<Stage> {
  const { answer = async () => ({ ok: true }), aheadMs = 0, meddle = (reply) => reply, knows = () => true } = brain;
  const taken: JsonObject[] = [];
  const ring = await KeyRing.create(join(scratch(t), "keys.json"), { keyid: "h1/k1", root: ROOT.toString("base64") });
  const nonces = new Set<string>();
  const signed: SignedMessageServer = {
    crypto: nodeSignatureCrypto,
    scheme: "http",
    from: "toBrain",
    decoyKeys: deriveKeys(Buffer.alloc(32, 9), "none", nodeSignatureCrypto),
    now: () => Date.now() + aheadMs,
    keys: async (keyid) => (knows(keyid) ? ring.find(keyid) : undefined),
    isFirst: async ({ nonce = "" }) => nonces.size < nonces.add(nonce).size,
    async answer({ message }) {
      taken.push(message);
      return answer(message);
    },
  };
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await request.toArray());
      const { method = "", url: target = "", rawHeaders } = request;
      const reply = meddle(await answerSigned(signed, { method, target, rawHeaders, body }), response, request);
      if (reply !== undefined) response.writeHead(reply.status, reply.headers).end(reply.body);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const notes: string[] = [];
  const client = new SignedClient({ url, ring, now: Date.now, note: (text) => notes.push(text) });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const never = new AbortController().signal;
  return {
    client,
    ring,
    notes,
    taken,
    ask: (message = { method: "hello" }, signal = never) => client.ask(PATH, message, signal),
  };
}

test("a message is taken once and its signed reply comes back", async (t) => {
  const { ask, taken } = await stage(t, { answer: async () => ({ ok: true, said: "é😀" }) });
  assert.deepEqual(await ask({ method: "hello", name: "é" }), { ok: true, said: "é😀" });
  assert.deepEqual(taken, [{ method: "hello", name: "é" }]);
});

test("the same message twice has two nonces, so that the second is no replay", async (t) => {
  const { ask, taken } = await stage(t);
  await ask();
  await ask();
  assert.equal(taken.length, 2);
});

test("a refusal of the brain is its fault, with code, sentence and wait", async (t) => {
  const { ask } = await stage(t, {
    answer: () => Promise.reject(new Fault("RATE_LIMITED", "Slower.", { retryAfterMs: 70 })),
  });
  await assert.rejects(ask(), { code: "RATE_LIMITED", message: "Slower.", retryAfterMs: 70 });
});

test("a fault of the brain itself counts as a brain out of reach, which is retried", async (t) => {
  const { ask } = await stage(t, {
    answer: () => Promise.reject(new Fault("STORE_UNREADABLE", "The store is broken.")),
  });
  await assert.rejects(ask(), { code: "BRAIN_UNREACHABLE", message: "The store is broken." });
});

test("a final refusal stays what it is", async (t) => {
  const { ask } = await stage(t, { answer: () => Promise.reject(new Fault("HAND_REVOKED")) });
  await assert.rejects(ask(), { code: "HAND_REVOKED" });
});

test("with a clock that is off, the message is signed again by the brain's time, and the host is told once", async (t) => {
  const { ask, notes, taken, client } = await stage(t, { aheadMs: 3_600_000 });
  await ask({ n: 1 });
  await ask({ n: 2 });
  assert.deepEqual(taken, [{ n: 1 }, { n: 2 }]);
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /3(?:599|600|601) s off/);
  assert.ok(Math.abs(client.clock.now() - Date.now() - 3_600_000) < 5000);
});

test("a clock that is more than a day off is refused: set it", async (t) => {
  const { ask, taken } = await stage(t, { aheadMs: SIGNED_HTTP_LIMITS.offsetMs + 60_000 });
  await assert.rejects(ask(), { code: "CLOCK_SKEW", message: /more than a day/ });
  assert.deepEqual(taken, []);
});

test("an unsigned time is not followed: a stranger on the way must not move the clock", async (t) => {
  const { ask, client } = await stage(t, {
    meddle: () => {
      const body = Buffer.from(JSON.stringify({ ok: false, code: "CLOCK_SKEW", server_time: 5 }));
      return { status: 401, headers: { "content-type": "application/json" }, body };
    },
  });
  await assert.rejects(ask(), { code: "BRAIN_UNREACHABLE" });
  assert.ok(Math.abs(client.clock.now() - Date.now()) < 5000);
});

test("a reply that was changed, or is the reply to another request, is not the brain's", async (t) => {
  const kept: SignedHttpReply[] = [];
  let how: "body" | "status" | "earlier" | "none" = "none";
  const { ask } = await stage(t, {
    meddle(reply) {
      kept.push(reply);
      if (how === "body")
        return {
          ...reply,
          body: Buffer.from('{"ok":true, "x":1}'),
          headers: { ...reply.headers, "content-length": "18" },
        };
      if (how === "status") return { ...reply, status: 201 };
      return how === "earlier" ? kept[0] : reply;
    },
  });
  assert.deepEqual(await ask(), { ok: true });
  for (const change of ["body", "status", "earlier"] as const) {
    how = change;
    await assert.rejects(ask(), { code: "BRAIN_UNREACHABLE", message: /not signed by the brain/ }, change);
  }
  how = "none";
  assert.deepEqual(await ask(), { ok: true }, "the hand goes on");
});

test("with a key that the brain does not know yet, the next message goes out with the other key", async (t) => {
  const known = new Set(["h1/k1"]);
  const { ask, ring } = await stage(t, { knows: (keyid) => known.has(keyid) });
  await ring.add({ keyid: "h1/k2", from: "h1/k1", salt: SALT });
  await assert.rejects(ask(), { code: "BRAIN_UNREACHABLE" });
  assert.deepEqual(await ask(), { ok: true });
  assert.notEqual(ring.find("h1/k2"), undefined, "a reply to the old key keeps both");
});

test("the first reply to the new key retires the old one", async (t) => {
  const { ask, ring } = await stage(t);
  await ring.add({ keyid: "h1/k2", from: "h1/k1", salt: SALT });
  await ask();
  assert.equal(ring.find("h1/k1"), undefined);
});

test("a reply without end is cut off, and a connection that breaks is a brain out of reach", async (t) => {
  const { ask } = await stage(t, {
    meddle(_, response) {
      const chunk = Buffer.alloc(256 * 1024, 32);
      const write = (): void => {
        while (response.write(chunk));
        response.once("drain", write);
      };
      write();
      return undefined;
    },
  });
  const before = process.memoryUsage().arrayBuffers;
  await assert.rejects(ask(), { code: "BRAIN_UNREACHABLE", message: /too long/ });
  assert.ok(process.memoryUsage().arrayBuffers - before < 8 * REGISTER_LIMITS.messageBytes);
  const broken = await stage(t, { meddle: (_, response) => void response.destroy() });
  await assert.rejects(broken.ask(), { code: "BRAIN_UNREACHABLE" });
});

test("aborting ends a wait for a reply", async (t) => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { ask } = await stage(t, {
    async answer() {
      resolve();
      return new Promise(() => undefined);
    },
  });
  const abort = new AbortController();
  const reply = ask({ method: "poll" }, abort.signal);
  await asked;
  abort.abort();
  await assert.rejects(reply, { code: "BRAIN_UNREACHABLE" });
});
