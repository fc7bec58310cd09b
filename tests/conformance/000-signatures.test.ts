import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { JsonObject } from "@vidro/core";
import { signatureBase } from "@vidro/core/wire/signature";
import { createSignatureSync } from "http-message-sig";
import { httpbis } from "http-message-signatures";
import { signatureCrypto } from "../../packages/brain/src/south/agent-http/signature-crypto.ts";
import { requestBytes, sent, signedBytes, SignedBrain, signerOf } from "../support/signed-http-harness.ts";
import type { RawReply, Signable, Signer } from "../support/signed-http-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { alterStore } from "../support/store-under-test.ts";

/* Who is believed: messages that strangers made, changed, repeated or signed at another time, over real sockets. */

const HELLO = { method: "hello", agent_id: "h1", name: "host", version: "1", capabilities: [], timestamp: "now" };
const REFUSED = [401, "SIGNATURE_INVALID"];

interface Stage {
  readonly folder: string;
  readonly brain: SignedBrain;
  readonly signer: Signer;
  readonly messages: string;
  readonly tell: (what?: Partial<Signable>, signer?: Signer) => Promise<RawReply>;
}

/** A brain and a hand that it has welcomed. */
async function stage(t: TestContext): Promise<Stage> {
  const folder = temporaryFolder(t);
  const brain = await SignedBrain.open(t, folder);
  const signer = signerOf(await brain.enrol("h1"));
  const messages = `${brain.url}/southbound/v1/messages`;
  const tell: Stage["tell"] = (what = {}, by = signer) =>
    sent(brain.url, signedBytes(by, { url: messages, message: sample(), ...what }).bytes);
  assert.equal((await tell({ message: HELLO })).status, 200);
  return { folder, brain, signer, messages, tell };
}

let last = 0;

function sample(): JsonObject {
  last += 1;
  return { method: "telemetry.push", action_id: `tel_${last}`, payload: { load: last }, ts: "2026-01-01T00:00:00Z" };
}

function answered({ status, code }: RawReply): readonly unknown[] {
  return [status, code];
}

test("000-53: the signature base and MAC are those of RFC 9421, appendix B.2.5", () => {
  const key = Buffer.from(
    "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
    "base64",
  );
  const base = signatureBase(
    [
      ['"date"', "Tue, 20 Apr 2021 02:07:55 GMT"],
      ['"@authority"', "example.com"],
      ['"content-type"', "application/json"],
    ],
    '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
  );
  assert.equal(signatureCrypto.mac(key, base), "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=");
});

test("000-53, 000-47: a signed message is taken, and its reply is signed and bound to it", async (t) => {
  const { brain, signer, messages } = await stage(t);
  const { bytes, asked } = signedBytes(signer, { url: messages, message: sample() });
  const reply = await sent(brain.url, bytes);
  assert.deepEqual(asked.verifyReply(reply), { ok: true });
  assert.equal(brain.samples.length, 1);
  const other = signedBytes(signer, { url: messages, message: sample() });
  assert.throws(() => other.asked.verifyReply(reply), { code: "SIGNATURE_INVALID" }, "a reply to another request");
  const forged = { ...reply, body: Buffer.from(reply.body.toString().replace("true", "null")) };
  assert.throws(() => asked.verifyReply(forged), { code: "SIGNATURE_INVALID" }, "an altered reply");
  assert.throws(() => asked.verifyReply({ ...reply, status: 201 }), { code: "SIGNATURE_INVALID" }, "an altered status");
});

test("000-53: a signed request with any one of its signed bytes changed is refused, and nothing comes of it", async (t) => {
  const { brain, signer, messages } = await stage(t);
  const { bytes } = signedBytes(signer, { url: `${messages}?a=1`, message: sample() });
  const text = bytes.toString("latin1");
  const unsigned = /^(?:connection|content-length): .*\r\n|^[a-z-]+: |\r\n| HTTP\/1\.1\r\n|^POST (?=\/)/gm;
  const skipped = new Set(
    [...text.matchAll(unsigned)].flatMap(({ index, 0: part }) => Array.from(part, (_, at) => index + at)),
  );
  let flipped = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (skipped.has(at)) continue;
    for (const bit of [0x01, 0x80]) {
      const changed = Buffer.from(bytes);
      changed[at] = bytes[at]! ^ bit;
      const { status } = await sent(brain.url, changed);
      assert.ok(status >= 400, `byte ${at} of ${JSON.stringify(text.slice(at - 20, at + 5))}`);
      flipped += 1;
    }
  }
  assert.ok(flipped > 900, String(flipped));
  assert.deepEqual(brain.samples, []);
  assert.equal((await sent(brain.url, bytes)).status, 200, "the original was good all the time");
});

test("000-54, F17: a request that is replayed is refused, also by a brain that was started again", async (t) => {
  const folder = temporaryFolder(t);
  const before = await SignedBrain.open(t, folder);
  const signer = signerOf(await before.enrol("h1"));
  const url = "http://brain.example/southbound/v1/messages";
  const { bytes } = signedBytes(signer, { url, message: HELLO });
  assert.equal((await sent(before.url, bytes)).status, 200);
  assert.deepEqual(answered(await sent(before.url, bytes)), REFUSED);
  await before.close();
  const after = await SignedBrain.open(t, folder);
  assert.deepEqual(answered(await sent(after.url, bytes)), REFUSED);
});

test("000-54: when nonces cannot be kept, nothing is taken", async (t) => {
  const { folder, brain, tell } = await stage(t);
  await alterStore(folder, "DROP TABLE record_change");
  const reply = await tell();
  assert.deepEqual([reply.status, reply.code], [500, "STORE_UNREADABLE"]);
  assert.deepEqual(brain.samples, []);
});

test("000-54, F19: a message that has not expired and was signed at most 300 s ahead is taken; beyond that, the answer carries our time", async (t) => {
  const { brain, signer, messages, tell } = await stage(t);
  const at = Date.now();
  brain.clock = () => at;
  for (const offS of [-60, -59, 299, 300]) assert.equal((await tell({ now: at + offS * 1000 })).status, 200);
  for (const offS of [-61, -300, 301, -3600, 3600]) {
    const { bytes, asked } = signedBytes(signer, { url: messages, message: sample(), now: at + offS * 1000 });
    const reply = await sent(brain.url, bytes);
    assert.deepEqual(answered(reply), [401, "CLOCK_SKEW"]);
    assert.equal(asked.verifyReply(reply)["server_time"], Math.floor(at / 1000));
  }
  assert.equal(brain.samples.length, 4);
});

test("000-53: the key of another hand, an unknown key and the key of the other direction are refused alike", async (t) => {
  const { brain, signer, tell } = await stage(t);
  const other = signerOf(await brain.enrol("h2"));
  const strangers: Signer[] = [
    { keyid: signer.keyid, keys: other.keys },
    { keyid: "h1/unknown", keys: signer.keys },
    { keyid: "nobody/unknown", keys: signer.keys },
    { keyid: signer.keyid, keys: { toBrain: signer.keys.toHand, toHand: signer.keys.toBrain } },
  ];
  const replies = await Promise.all(strangers.map((stranger) => tell({}, stranger)));
  for (const reply of replies) assert.deepEqual(answered(reply), REFUSED);
  assert.equal(new Set(replies.map(({ rawHeaders }) => rawHeaders.filter((_, at) => at % 2 === 0).join())).size, 1);
  const asH1 = await tell({ message: HELLO }, other);
  assert.deepEqual(answered(asH1), [403, "FORBIDDEN"]);
  assert.deepEqual(brain.samples, []);
});

test("000-53: fields that are not exactly as the profile has them are refused", async (t) => {
  const { brain, signer, messages } = await stage(t);
  const url = new URL(messages);
  const { asked } = signedBytes(signer, { url: messages, message: sample() });
  const { headers, body } = asked;
  const input = String(headers["signature-input"]);
  const signature = String(headers["signature"]);
  const digest = String(headers["content-digest"]);
  const inputs = [
    input.replace('"@query" ', ""),
    input.replace('"@method"', '"@method" "@method"'),
    input.replace('"@method" "@authority"', '"@authority" "@method"'),
    input.replace(";alg=", ";Alg="),
    input.replace("hmac-sha256", "hmac-sha512"),
    input.replace("vidro-southbound", "other"),
    input.replace(/;expires=\d+/, ""),
    input.replace(/;expires=\d+/, ";expires=99999999999"),
    input.replace(/;nonce="[^"]+"/, ""),
    input.replace(/nonce="[^"]+"/, 'nonce="short"'),
    `${input};extra=1`,
    `${input};keyid="h2/x"`,
    `${input}, vidro1=("@method");created=1`,
    `${input}, other=("@method");created=1`,
    input.replace("vidro1", "sig1"),
    ` ${input} ;`,
  ];
  const changes: JsonObject[] = [
    ...inputs.map((changed) => ({ "signature-input": changed })),
    { signature: signature.replace("vidro1", "sig1") },
    { signature: `${signature}, other=:AAAA:` },
    { signature: signature.replace("=:", "") },
    { "content-digest": `${digest}, sha-512=:AAAA:` },
    { "content-digest": digest.replace("sha-256", "sha-512") },
    { "signature-input": `${input}${" ".repeat(2000)}x` },
  ];
  for (const change of changes) {
    const changed = { ...headers, ...(change as { [name: string]: string }) };
    assert.deepEqual(
      answered(await sent(brain.url, requestBytes(url, changed, body))),
      REFUSED,
      JSON.stringify(change),
    );
  }
  const names = ["content-type", "content-digest", "signature-input", "signature"] as const;
  for (const name of names) {
    const { [name]: value, ...rest } = headers;
    assert.deepEqual(answered(await sent(brain.url, requestBytes(url, rest, body))), REFUSED, `without ${name}`);
    const twice = { ...headers, [name.toUpperCase()]: String(value) };
    assert.deepEqual(answered(await sent(brain.url, requestBytes(url, twice, body))), REFUSED, `two of ${name}`);
  }
  assert.deepEqual(brain.samples, []);
});

const FIELDS = ["@method", "@authority", "@path", "@query", "content-type", "content-digest"];

test("000-53: messages that two independent signers signed are taken", async (t) => {
  const { brain, signer, messages } = await stage(t);
  const { keyid, keys } = signer;
  const created = Math.floor(Date.now() / 1000);
  const parameters = () => ({ created, expires: created + 60, nonce: randomBytes(16).toString("base64url"), keyid });
  const mac = (data: Uint8Array): Buffer => createHmac("sha256", keys.toBrain).update(data).digest();
  const plain = (body: Buffer) => ({
    "content-type": "application/json",
    "content-digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
    "content-length": String(body.length),
  });

  const first = Buffer.from(JSON.stringify(sample()));
  const { expires, ...values } = parameters();
  const { headers } = await httpbis.signMessage(
    {
      key: { id: keyid, alg: "hmac-sha256", sign: async (data) => mac(data) },
      name: "vidro1",
      fields: FIELDS,
      params: ["created", "expires", "nonce", "keyid", "alg", "tag"],
      paramValues: {
        ...values,
        created: new Date(created * 1000),
        expires: new Date(expires * 1000),
        tag: "vidro-southbound",
      },
    },
    { method: "POST", url: messages, headers: plain(first) },
  );
  assert.equal(
    (await sent(brain.url, requestBytes(new URL(messages), headers as { [name: string]: string }, first))).status,
    200,
  );

  const second = Buffer.from(JSON.stringify(sample()));
  const fields = Object.entries(plain(second)).map(([name, value]) => ({ name, value }));
  const made = createSignatureSync(
    { kind: "request", method: "POST", targetUri: `${messages}?a=b`, fields },
    {
      label: "vidro1",
      components: FIELDS,
      parameters: { tag: "vidro-southbound", alg: "hmac-sha256", ...parameters() },
      signer: { algorithm: "hmac-sha256", sign: mac },
    },
  );
  const signed = { ...plain(second), "signature-input": made.signatureInput, signature: made.signature };
  assert.equal((await sent(brain.url, requestBytes(new URL(`${messages}?a=b`), signed, second))).status, 200);
  assert.equal(brain.samples.length, 2);
});
