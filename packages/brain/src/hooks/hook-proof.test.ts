import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { HOOK_LIMITS } from "@vidro/core";
import { newWebhookSecret } from "../webhooks/signature.ts";
import { isProven } from "./hook-proof.ts";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok?").toString("base64")}`;
const NOW = 1_800_000_000_000;
const BODY = '{"a":1}';

/** Signs as the specification "Standard Webhooks" has it, without the code under test. */
function signed({
  secret = SECRET,
  id = "msg_1",
  seconds = NOW / 1000,
  body = BODY,
}: { secret?: string; id?: string; seconds?: number | string; body?: string } = {}): { [name: string]: string } {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": `v1,${signature}` };
}

const proven = (headers: { [name: string]: string }, raw = BODY, now = NOW): boolean =>
  isProven(SECRET, { headers, raw, now });

test("a signature over id, time and body proves a call, and a change of any of them does not", () => {
  const headers = signed();
  assert.equal(proven(headers), true);
  assert.equal(proven(headers, '{"a":2}'), false);
  assert.equal(proven(headers, `${BODY} `), false);
  assert.equal(proven({ ...headers, "webhook-id": "msg_2" }), false);
  assert.equal(proven({ ...headers, "webhook-timestamp": String(NOW / 1000 + 1) }), false);
  assert.equal(proven(signed({ secret: newWebhookSecret() })), false);
});

test("for any id and body, the right signature is taken and one of another body is not", () => {
  const id = fc.string({ minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(id, fc.string(), fc.string(), (one, body, other) => {
      assert.equal(proven(signed({ id: one, body }), body), true);
      if (other !== body) assert.equal(proven(signed({ id: one, body }), other), false);
    }),
  );
});

test("the time of a signature may be as far from now as the bound says, before and behind, and no further", () => {
  const bound = HOOK_LIMITS.clockMs / 1000;
  for (const [offset, isTaken] of [
    [-bound, true],
    [bound, true],
    [-bound - 1, false],
    [bound + 1, false],
  ] as const)
    assert.equal(proven(signed({ seconds: NOW / 1000 + offset })), isTaken, `${offset} s`);
  const headers = signed();
  assert.equal(proven(headers, BODY, NOW + HOOK_LIMITS.clockMs), true);
  assert.equal(proven(headers, BODY, NOW + HOOK_LIMITS.clockMs + 1), false);
});

test("a time that is not digits is refused, though its signature is right", () => {
  for (const seconds of [
    "",
    " ",
    "-1",
    "1e9",
    "0x6b49d200",
    "1800000000.0",
    "１８００００００００",
    "NaN",
    "1".repeat(13),
  ])
    assert.equal(proven(signed({ seconds })), false, JSON.stringify(seconds));
  // Leading zeros are digits; the signature is over the time as it is read.
  assert.equal(proven(signed({ seconds: `0${NOW / 1000}` })), false);
});

test("of several signatures one has to fit, within the number that is looked at", () => {
  const { "webhook-signature": right = "", ...rest } = signed();
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;
  const withSignatures = (...all: readonly string[]) => ({ ...rest, "webhook-signature": all.join(" ") });
  assert.equal(proven(withSignatures(wrong, right)), true);
  assert.equal(proven(withSignatures(right, wrong)), true);
  const before = Array.from({ length: HOOK_LIMITS.signatures - 1 }, () => wrong);
  assert.equal(proven(withSignatures(...before, right)), true);
  assert.equal(proven(withSignatures(...before, wrong, right)), false);
  for (const none of ["", " ", "v1,", right.replace("v1,", "v1a,"), right.replace("v1,", ""), right.toLowerCase()])
    assert.equal(proven(withSignatures(none)), false, none);
});

test("the secret itself as a bearer token proves a call of any body", () => {
  for (const scheme of ["Bearer", "bearer", "BEARER"])
    assert.equal(proven({ authorization: `${scheme} ${SECRET}` }, "anything"), true);
  for (const authorization of [
    "",
    SECRET,
    `Basic ${SECRET}`,
    `Bearer${SECRET}`,
    `Bearer  ${SECRET}`,
    `Bearer ${SECRET} `,
    `Bearer ${SECRET}x`,
    `Bearer ${SECRET.slice(0, -1)}`,
    `Bearer ${SECRET.replace("whsec_", "")}`,
    `Bearer ${"x".repeat(100_000)}`,
  ])
    assert.equal(proven({ authorization }), false, authorization.slice(0, 60));
});

test("a signature that is wrong is not made good by a bearer token", () => {
  const headers = { ...signed({ body: "other" }), authorization: `Bearer ${SECRET}` };
  assert.equal(proven(headers), false);
});

test("a signature with a part missing is none, so that only the bearer token counts", () => {
  const whole = signed();
  for (const name of Object.keys(whole)) {
    const { [name]: _, ...headers } = whole;
    assert.equal(proven(headers), false, `without ${name}`);
    assert.equal(proven({ ...headers, authorization: `Bearer ${SECRET}` }), true, `without ${name}`);
  }
  assert.equal(proven({}), false);
});
