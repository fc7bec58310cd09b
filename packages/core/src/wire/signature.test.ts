import assert from "node:assert/strict";
import * as crypto from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { SIGNED_HTTP_LIMITS } from "../limits.ts";
import { makeSignatureCrypto } from "./signature-crypto.ts";
import {
  isReplySignedBy,
  isRequestSignedBy,
  readReplyClaim,
  readRequestClaim,
  signReply,
  signRequest,
} from "./signature.ts";
import type { ReplyHead, RequestHead, SignatureClaim, SignatureFields, SigningKey } from "./signature.ts";

const functions = makeSignatureCrypto(crypto);
const key = new Uint8Array(32).fill(7);
const body = new TextEncoder().encode('{"method":"hello"}');
const nonce = "n".repeat(SIGNED_HTTP_LIMITS.nonceChars);
const signing: SigningKey = { crypto: functions, key, created: 1_700_000_000, nonce, keyid: "h1/k1" };
const request: RequestHead = {
  method: "POST",
  authority: "brain:3121",
  path: "/southbound/v1/messages",
  query: "?",
  contentType: "application/json",
};
const fields = signRequest(request, body, signing);
const reply: ReplyHead = { status: 200, contentType: "application/json", asked: fields.signature };
const { nonce: _, ...replySigning } = signing;

/** Header values: no line breaks, which no HTTP parser passes on. */
const value = fc.string({ unit: fc.constantFrom(..."abc/?:=;,\"()' %é☺0".split("")), maxLength: 12 });
const head = fc.record({ method: value, authority: value, path: value, query: value, contentType: value });

function withParameters(text: string): SignatureFields {
  const [, names = ""] = /^(vidro1=\([^)]*\))/.exec(fields["signature-input"]) ?? [];
  return { ...fields, "signature-input": `${names}${text}` };
}

test("a signed request is read back with its parameters, and only its own key verifies it", () => {
  fc.assert(
    fc.property(head, fc.uint8Array({ maxLength: 40 }), (any, bytes) => {
      const claim = readRequestClaim(signRequest(any, bytes, signing));
      const { created, keyid, nonce: read, expires, digest } = claim;
      assert.deepEqual([created, keyid, read], [signing.created, "h1/k1", nonce]);
      assert.equal(expires, signing.created + SIGNED_HTTP_LIMITS.lifeS);
      assert.equal(digest, functions.digest(bytes));
      assert.ok(isRequestSignedBy(any, claim, signing));
      assert.ok(!isRequestSignedBy(any, claim, { crypto: functions, key: new Uint8Array(32).fill(8) }));
    }),
  );
});

test("another value in any part of the request or reply is not what was signed", () => {
  fc.assert(
    fc.property(head, head, (one, other) => {
      const claim = readRequestClaim(signRequest(one, body, signing));
      for (const part of ["method", "authority", "path", "query", "contentType"] as const)
        assert.equal(isRequestSignedBy({ ...one, [part]: other[part] }, claim, signing), one[part] === other[part]);
    }),
  );
  const claim = readReplyClaim(signReply(reply, body, replySigning));
  assert.ok(isReplySignedBy(reply, claim, signing));
  for (const other of [{ status: 201 }, { contentType: "text/plain" }, { asked: "vidro1=:x:" }])
    assert.ok(!isReplySignedBy({ ...reply, ...other }, claim, signing), JSON.stringify(other));
});

test("parts do not run into each other: moving a character over a border is another request", () => {
  const claim = readRequestClaim(signRequest({ ...request, path: "/ab", query: "?c" }, body, signing));
  assert.ok(!isRequestSignedBy({ ...request, path: "/a", query: "b?c" }, claim, signing));
});

test("one changed character in any field is refused or no longer verifies", () => {
  const names = ["content-digest", "signature-input", "signature"] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.nat(),
      fc.constantFrom(...'Aa0=:;"( )\n'.split("")),
      (name, at, character) => {
        const text = fields[name];
        const index = at % text.length;
        const changed = text.slice(0, index) + character + text.slice(index + 1);
        fc.pre(changed !== text);
        let claim: SignatureClaim;
        try {
          claim = readRequestClaim({ ...fields, [name]: changed });
        } catch (thrown) {
          assert.equal((thrown as { code?: string }).code, "SIGNATURE_INVALID");
          return;
        }
        assert.ok(!isRequestSignedBy(request, claim, signing), `${name}: ${changed}`);
      },
    ),
    { numRuns: 400 },
  );
});

test("the parameters may stand in any order, and each exactly once", () => {
  const { created } = signing;
  const given = [
    `;created=${created}`,
    `;expires=${created + 10}`,
    `;nonce="${nonce}"`,
    ';keyid="h1/k1"',
    ';alg="hmac-sha256"',
    ';tag="vidro-southbound"',
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(given, { minLength: given.length }), (order) => {
      assert.equal(readRequestClaim(withParameters(order.join(""))).expires, created + 10);
    }),
  );
  const refuse = (text: string): void =>
    assert.throws(() => readRequestClaim(withParameters(text)), { code: "SIGNATURE_INVALID" }, text);
  for (const left of given) refuse(given.filter((one) => one !== left).join(""));
  for (const twice of given) refuse([...given, twice].join(""));
  for (const twice of given)
    for (const left of given) if (left !== twice) refuse([...given.filter((one) => one !== left), twice].join(""));
  refuse([...given, ";more=1"].join(""));
});

test("values of another type or outside their bounds are refused", () => {
  const { created } = signing;
  const text = (changed: Readonly<Record<string, string>>): string =>
    Object.entries({
      created: `${created}`,
      expires: `${created + 10}`,
      nonce: `"${nonce}"`,
      keyid: '"h1/k1"',
      alg: '"hmac-sha256"',
      tag: '"vidro-southbound"',
      ...changed,
    })
      .map(([name, given]) => `;${name}=${given}`)
      .join("");
  assert.equal(readRequestClaim(withParameters(text({}))).keyid, "h1/k1");
  const { lifeS, nonceChars, nonceCharsAtMost } = SIGNED_HTTP_LIMITS;
  for (const changed of [
    { created: `"${created}"` },
    { created: "-1" },
    { created: "1.5" },
    { created: "1".repeat(16) },
    { expires: `${created}` },
    { expires: `${created + lifeS + 1}` },
    { expires: `"${created + 10}"` },
    { nonce: `"${"n".repeat(nonceChars - 1)}"` },
    { nonce: `"${"n".repeat(nonceCharsAtMost + 1)}"` },
    { nonce: `"${"n".repeat(nonceChars)} "` },
    { nonce: "1".repeat(nonceChars) },
    { keyid: '"h1"' },
    { keyid: '"h1/k1/k2"' },
    { keyid: '"/k1"' },
    { keyid: '"h1/"' },
    { keyid: '"h 1/k1"' },
    { alg: '"rsa-pss-sha512"' },
    { alg: '"HMAC-SHA256"' },
    { tag: '"another"' },
  ])
    assert.throws(() => readRequestClaim(withParameters(text(changed))), { code: "SIGNATURE_INVALID" }, text(changed));
  assert.equal(readRequestClaim(withParameters(text({ expires: `${created + lifeS}` }))).expires, created + lifeS);
  for (const length of [nonceChars, nonceCharsAtMost])
    readRequestClaim(withParameters(text({ nonce: `"${"n".repeat(length)}"` })));
});

test("a request is not taken for a reply, nor a reply for a request", () => {
  const signed = signReply(reply, body, replySigning);
  assert.throws(() => readReplyClaim(fields), { code: "SIGNATURE_INVALID" });
  assert.throws(() => readRequestClaim(signed), { code: "SIGNATURE_INVALID" });
});

test("other components, labels, second members and other spellings of a hash are refused", () => {
  const input = fields["signature-input"];
  for (const changed of [
    { "signature-input": input.replace('"@query" ', "") },
    { "signature-input": input.replace('"@path" "@query"', '"@query" "@path"') },
    { "signature-input": input.replace("vidro1", "other") },
    { "signature-input": `${input}, ${input}` },
    { "signature-input": "" },
    { signature: `${fields.signature}, ${fields.signature}` },
    { signature: fields.signature.replace("vidro1", "vidro2") },
    { signature: fields.signature.replace("=:", ":=") },
    { signature: "vidro1=::" },
    { "content-digest": fields["content-digest"].replace("sha-256", "sha-512") },
    { "content-digest": `${fields["content-digest"]}, md5=:AAAA:` },
    { "content-digest": "" },
  ])
    assert.throws(() => readRequestClaim({ ...fields, ...changed }), { code: "SIGNATURE_INVALID" });
});

test("a field over its bound is refused before it is parsed", () => {
  const long = `${fields["signature-input"]};a="${"x".repeat(SIGNED_HTTP_LIMITS.fieldChars)}"`;
  const before = performance.now();
  assert.throws(() => readRequestClaim({ ...fields, "signature-input": long }), { code: "SIGNATURE_INVALID" });
  assert.ok(performance.now() - before < 200);
});

test("the refusal of a signature gives no reason", () => {
  const messages = [{ signature: "" }, { "content-digest": "" }, { "signature-input": "" }].map((changed) => {
    try {
      return readRequestClaim({ ...fields, ...changed });
    } catch (thrown) {
      return (thrown as Error).message;
    }
  });
  assert.equal(new Set(messages).size, 1);
});

test("the comparison knows equal texts only, whatever their lengths", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
      assert.ok(functions.same(one, one));
      assert.equal(functions.same(one, other), one === other);
    }),
  );
  assert.ok(!functions.same("a", "ab"));
  assert.ok(!functions.same("é", "e"));
});

test("keys are derived with HKDF as RFC 5869 has it, and root, salt and info all count", () => {
  // Test case 1 of the RFC, its first 32 bytes; info is text on this wire.
  const info = String.fromCharCode(...Array.from({ length: 10 }, (_unused, index) => 0x30 + index));
  const [root, salt] = [new Uint8Array(22).fill(0x0b), Uint8Array.from({ length: 13 }, (_unused, index) => index)];
  const derived = functions.derive(root, salt, info);
  const expected = expand(crypto.createHmac("sha256", salt).update(root).digest(), info);
  assert.deepEqual(Buffer.from(derived), expected);
  for (const other of [
    functions.derive(new Uint8Array(22), salt, info),
    functions.derive(root, new Uint8Array(13), info),
    functions.derive(root, salt, `${info}x`),
  ])
    assert.notDeepEqual(other, derived);
});

/** HKDF-Expand for one block. */
function expand(pseudorandom: Uint8Array, info: string): Buffer {
  return crypto.createHmac("sha256", pseudorandom).update(`${info}\u0001`).digest();
}
