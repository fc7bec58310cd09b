import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "@vidro/core";
import type { FaultCode, FaultReport, JsonObject } from "@vidro/core";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "../../packages/brain/src/config.ts";
import { fakeOpenAi } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { ollama } from "./ollama.ts";
import { responses } from "./responses.ts";
import type { Vendor } from "./vendor.ts";

/* Every error of every vendor, in the vendor's own form, has a name and a next step that fits. */

/** A vendor, and the body of its errors. */
type Form = (status: number, message: string) => JsonObject;
const openaiForm: Form = (_, message) => ({
  error: { message, type: "invalid_request_error", param: null, code: null },
});
const VENDORS: readonly (readonly [Vendor, Form])[] = [
  [anthropic, (status, message) => ({ type: "error", error: { type: `error_${status}`, message }, request_id: "r" })],
  [gemini, (code, message) => ({ error: { code, message, status: "SOME_STATUS", details: [] } })],
  [responses, openaiForm],
  [compatible("reasoning_content"), openaiForm],
  [ollama, (_, message) => ({ error: message })],
];

/** What a person can do about a fault of that name. */
const NEXT: { readonly [code in FaultCode]?: RegExp } = {
  MODEL_REFUSED: /model's name|choose another/,
  MODEL_KEY_REFUSED: /key/,
  MODEL_UNPAID: /limit at the vendor/,
  MODEL_TIMEOUT: /Try again/,
  MODEL_CUT: /Try again/,
  MODEL_RUBBISH: /Try again/,
  MODEL_UNAVAILABLE: /Try again.*VIDRO_MODEL=first,second/,
  MODEL_CONTEXT_FULL: /smaller task/,
  MODEL_RATE_LIMITED: /Wait/,
};

const STATUSES: readonly (readonly [status: number, code: FaultCode])[] = [
  [400, "MODEL_REFUSED"],
  [401, "MODEL_KEY_REFUSED"],
  [402, "MODEL_UNPAID"],
  [403, "MODEL_KEY_REFUSED"],
  [404, "MODEL_REFUSED"],
  [408, "MODEL_TIMEOUT"],
  [409, "MODEL_UNAVAILABLE"],
  [413, "MODEL_CONTEXT_FULL"],
  [429, "MODEL_RATE_LIMITED"],
  [500, "MODEL_UNAVAILABLE"],
  [503, "MODEL_UNAVAILABLE"],
  [529, "MODEL_UNAVAILABLE"],
];

const streamed =
  (body: string): FakeReply =>
  (response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).end(body);

const BROKEN: readonly (readonly [what: string, reply: FakeReply, codes: readonly FaultCode[]])[] = [
  ["cut", (response) => void response.socket?.resetAndDestroy(), ["MODEL_CUT"]],
  [
    "slow",
    (response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
    ["MODEL_TIMEOUT"],
  ],
  ["empty", streamed(""), ["MODEL_CUT", "MODEL_RUBBISH"]],
  ["rubbish", streamed("data: {not json\n\n"), ["MODEL_RUBBISH"]],
];

async function faultOf(vendor: Vendor, reply: FakeReply, patience?: string): Promise<FaultReport> {
  const server = await fakeOpenAi(reply);
  try {
    const env = { ...vendor.env(server.url), ...(patience === undefined ? {} : { VIDRO_MODEL_TIMEOUT_MS: patience }) };
    const model = await chooseModel(readConfig({ env }));
    const request = { system: "Be brief.", turns: [{ role: "user", text: "hello" }], tools: [] } as const;
    const last = (await Array.fromAsync(model.call(request, new AbortController().signal))).at(-1);
    assert.equal(last?.type, "failed", JSON.stringify(last));
    return (last as { readonly fault: FaultReport }).fault;
  } finally {
    await server.close();
  }
}

function assertNamed(fault: FaultReport, codes: readonly FaultCode[], what: string): void {
  assert.ok(codes.includes(fault.code), `${what}: ${fault.code}: ${fault.message}`);
  assert.match(FAULTS[fault.code].next, NEXT[fault.code] ?? /$^/, what);
}

for (const [vendor, form] of VENDORS) {
  const refused =
    (status: number, headers: { readonly [name: string]: string } = {}, more: JsonObject = {}): FakeReply =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify({ ...form(status, "these are its words"), ...more }));
    };

  test(`each error of ${vendor.name} is a named fault with what to do next`, async () => {
    for (const [status, code] of STATUSES) {
      const fault = await faultOf(vendor, refused(status));
      assertNamed(fault, [code], `status ${status}`);
      assert.match(fault.message, new RegExp(`${status}.*these are its words`), "the server's words are told");
      assert.equal(fault.retryAfterMs, undefined);
    }
    for (const [what, reply, codes] of BROKEN)
      assertNamed(await faultOf(vendor, reply, what === "slow" ? "300" : undefined), codes, what);
  });

  test(`a pause that ${vendor.name} asks for is kept`, async () => {
    const paused = await faultOf(vendor, refused(429, { "retry-after": "3" }));
    assert.deepEqual([paused.code, paused.retryAfterMs], ["MODEL_RATE_LIMITED", 3000]);
    if (vendor !== gemini) return;
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" }];
    const body = { error: { code: 429, message: "slow down", status: "RESOURCE_EXHAUSTED", details } };
    assert.equal((await faultOf(vendor, refused(429, {}, body))).retryAfterMs, 34_400);
  });
}
