import assert from "node:assert/strict";
import * as crypto from "node:crypto";
import { test } from "node:test";
import { Fault } from "../fault.ts";
import type { JsonObject } from "../json.ts";
import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "../limits.ts";
import { answerSigned, deriveKeys, deriveNextRoot, signMessage } from "./agent-http.ts";
import type {
  MessageToSign,
  SignedHttpReply,
  SignedHttpRequest,
  SignedMessage,
  SignedMessageServer,
} from "./agent-http.ts";
import { makeSignatureCrypto } from "./signature-crypto.ts";

const functions = makeSignatureCrypto(crypto);
const NOW = 1_700_000_000_000;
const keys = deriveKeys(new Uint8Array(32).fill(1), "h1/k1", functions);
const url = new URL("https://brain:3121/southbound/v1/messages");

interface Stage {
  readonly server: SignedMessageServer;
  readonly taken: JsonObject[];
}

function stage(more: Partial<SignedMessageServer> = {}): Stage {
  const taken: JsonObject[] = [];
  const nonces = new Set<string>();
  const server: SignedMessageServer = {
    crypto: functions,
    scheme: "https",
    from: "toBrain",
    decoyKeys: deriveKeys(new Uint8Array(32).fill(9), "none", functions),
    now: () => NOW,
    keys: async (keyid) => (keyid === "h1/k1" ? keys : undefined),
    isFirst: async ({ nonce = "" }) => nonces.size < nonces.add(nonce).size,
    answer: async ({ message }) => {
      taken.push(message);
      return { ok: true };
    },
    ...more,
  };
  return { server, taken };
}

let last = 0;

function signed(more: Partial<MessageToSign> = {}): SignedMessage {
  last += 1;
  const nonce = String(last).padStart(SIGNED_HTTP_LIMITS.nonceChars, "n");
  return signMessage({
    url,
    message: { n: 1 },
    crypto: functions,
    from: "toBrain",
    keys,
    keyid: "h1/k1",
    nonce,
    now: NOW,
    ...more,
  });
}

function requestOf({ headers, body }: SignedMessage, more: Partial<SignedHttpRequest> = {}): SignedHttpRequest {
  const rawHeaders = Object.entries({ Host: url.host, ...headers }).flat();
  return { method: "POST", target: url.pathname, rawHeaders, body, ...more };
}

function rawOf({ headers, ...reply }: SignedHttpReply): Parameters<SignedMessage["verifyReply"]>[0] {
  return { ...reply, rawHeaders: Object.entries(headers).flat() };
}

function codeIn({ body }: SignedHttpReply): unknown {
  return (JSON.parse(new TextDecoder().decode(body)) as JsonObject)["code"];
}

test("the keys of the two directions, of two ids and of two roots all differ", () => {
  const root = new Uint8Array(32).fill(1);
  const other = deriveKeys(root, "h1/k2", functions);
  const next = deriveNextRoot(root, new Uint8Array(16), { keyid: "h1/k2", crypto: functions });
  const all = [keys.toBrain, keys.toHand, other.toBrain, other.toHand, next, root].map((key) =>
    Buffer.from(key).toString("hex"),
  );
  assert.equal(new Set(all).size, all.length);
});

test("a message is carried out once, and its reply verifies for this request only", async () => {
  const { server, taken } = stage();
  const [asked, other] = [signed(), signed()];
  const reply = await answerSigned(server, requestOf(asked));
  assert.deepEqual(asked.verifyReply(rawOf(reply)), { ok: true });
  assert.throws(() => other.verifyReply(rawOf(reply)), { code: "SIGNATURE_INVALID" });
  assert.equal(codeIn(await answerSigned(server, requestOf(asked))), "SIGNATURE_INVALID");
  assert.equal(taken.length, 1);
});

test("the default port of the scheme may be written or left out, and the host in any case", async () => {
  const { server, taken } = stage();
  const plain = new URL("https://brain/southbound/v1/messages");
  for (const host of ["brain", "brain:443", "BRAIN", "Brain:443"]) {
    const asked = signed({ url: plain });
    const rawHeaders = Object.entries({ host, ...asked.headers }).flat();
    assert.equal((await answerSigned(server, { ...requestOf(asked), rawHeaders })).status, 200, host);
  }
  for (const host of ["brain:80", "brain:4430", "brain:443:443", "other"]) {
    const asked = signed({ url: plain });
    const rawHeaders = Object.entries({ host, ...asked.headers }).flat();
    assert.equal(codeIn(await answerSigned(server, { ...requestOf(asked), rawHeaders })), "SIGNATURE_INVALID", host);
  }
  assert.equal(taken.length, 4);
});

test("a query belongs to what is signed, also an empty one", async () => {
  const { server } = stage();
  const asked = signed({ url: new URL(`${url.href}?a=1`) });
  assert.equal((await answerSigned(server, requestOf(asked, { target: `${url.pathname}?a=1` }))).status, 200);
  for (const target of [`${url.pathname}?a=2`, url.pathname, `${url.pathname}?a=1&b`, `${url.pathname}%3Fa=1`])
    assert.equal(
      codeIn(await answerSigned(server, requestOf(signed({ url: new URL(`${url.href}?a=1`) }), { target }))),
      "SIGNATURE_INVALID",
      target,
    );
  assert.equal((await answerSigned(server, requestOf(signed(), { target: `${url.pathname}?` }))).status, 200);
});

test("a header that decides must be there once: of two, each end might read another", async () => {
  const { server, taken } = stage();
  for (const name of ["Host", "content-type", "content-digest", "signature-input", "signature"]) {
    const request = requestOf(signed());
    const at = request.rawHeaders.indexOf(name);
    const twice = [...request.rawHeaders, name.toUpperCase(), request.rawHeaders[at + 1] ?? ""];
    assert.equal(
      codeIn(await answerSigned(server, { ...request, rawHeaders: twice })),
      "SIGNATURE_INVALID",
      `${name} twice`,
    );
    const none = request.rawHeaders.toSpliced(at, 2);
    assert.equal(
      codeIn(await answerSigned(server, { ...request, rawHeaders: none })),
      "SIGNATURE_INVALID",
      `no ${name}`,
    );
  }
  assert.deepEqual(taken, []);
});

test("other methods, targets and sizes are refused before any key is looked up", async () => {
  const { server } = stage({ keys: () => assert.fail("no key is needed") });
  for (const more of [
    { method: "GET" },
    { method: "post" },
    { target: "*" },
    { target: "https://brain/x" },
    { target: `/${"x".repeat(SIGNED_HTTP_LIMITS.fieldChars)}` },
  ])
    assert.equal(
      codeIn(await answerSigned(server, requestOf(signed(), more))),
      "SIGNATURE_INVALID",
      JSON.stringify(more).slice(0, 60),
    );
  const long = requestOf(signed(), { body: new Uint8Array(REGISTER_LIMITS.messageBytes + 1) });
  assert.equal(codeIn(await answerSigned(server, long)), "PAYLOAD_TOO_LARGE");
});

test("an unknown id is answered like a wrong signature, and its answer tells nothing", async () => {
  const { server } = stage();
  const unknown = signed({ keyid: "h2/k9" });
  const wrong = signed({ keys: deriveKeys(new Uint8Array(32).fill(5), "h1/k1", functions) });
  const [one, other] = [await answerSigned(server, requestOf(unknown)), await answerSigned(server, requestOf(wrong))];
  assert.deepEqual([one.status, one.body], [other.status, other.body]);
  assert.deepEqual(Object.keys(one.headers), Object.keys(other.headers), "both are signed");
  assert.throws(() => unknown.verifyReply(rawOf(one)), { code: "SIGNATURE_INVALID" });
});

test("a message is taken until it expires, to the second, and up to the skew ahead", async () => {
  const { lifeS, skewS } = SIGNED_HTTP_LIMITS;
  for (const [offset, status] of [
    [-lifeS, 200],
    [-lifeS - 1, 401],
    [skewS, 200],
    [skewS + 1, 401],
  ] as const) {
    const { server, taken } = stage();
    const asked = signed({ now: NOW + offset * 1000 });
    const reply = await answerSigned(server, requestOf(asked));
    assert.equal(taken.length, status === 200 ? 1 : 0, `${offset} s`);
    if (status !== 200) assert.equal(asked.verifyReply(rawOf(reply))["server_time"], Math.floor(NOW / 1000));
  }
});

test("a body that is no JSON object, no UTF-8, or another body is refused", async () => {
  const { server, taken } = stage();
  for (const message of [[], "text", 5, null]) {
    const asked = signed({ message: message as unknown as JsonObject });
    assert.equal(codeIn(await answerSigned(server, requestOf(asked))), "BAD_REQUEST");
  }
  const asked = signed();
  assert.equal(
    codeIn(await answerSigned(server, requestOf(asked, { body: new Uint8Array([0xff]) }))),
    "SIGNATURE_INVALID",
  );
  assert.deepEqual(taken, []);
});

test("when nonces or keys cannot be read nothing is carried out, and the cause stays inside", async () => {
  const broken = (): Promise<never> => Promise.reject(new Error("secret path"));
  for (const more of [{ isFirst: broken }, { keys: broken }]) {
    const { server, taken } = stage(more);
    const reply = await answerSigned(server, requestOf(signed()));
    assert.deepEqual([codeIn(reply), taken], ["INTERNAL_ERROR", []]);
    assert.ok(!new TextDecoder().decode(reply.body).includes("secret path"));
  }
});

test("a refusal of the message is signed, with its code, wait and details", async () => {
  const answer = (): Promise<never> =>
    Promise.reject(new Fault("RATE_LIMITED", "Slower.", { retryAfterMs: 5, detail: { extra: 1 } }));
  const { server } = stage({ answer });
  const asked = signed();
  const reply = asked.verifyReply(rawOf(await answerSigned(server, requestOf(asked))));
  assert.deepEqual(reply, { ok: false, error: "Slower.", code: "RATE_LIMITED", retry_after_ms: 5, extra: 1 });
});
