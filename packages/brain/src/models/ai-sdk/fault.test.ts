import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { MODEL_LIMITS } from "@vidro/core";
import type { FaultCode, FaultReport } from "@vidro/core";
import * as fake from "../../../../../tests/support/fake-openai.ts";
import type { FakeReply } from "../../../../../tests/support/fake-openai.ts";
import { modelFault, retryDelayOf } from "./fault.ts";
import { aiSdkModel } from "../ai-sdk.ts";
import type { AiSdkModelOptions } from "../ai-sdk.ts";
import { eventsOf, terminalOf } from "../model.contract.ts";
import { openCompatible } from "../open-model.ts";

const KEY = "sk-test-5b1c";

async function faultAt(url: string, options: Partial<AiSdkModelOptions> = {}): Promise<FaultReport> {
  const load = () => openCompatible("fake-1", { url, key: KEY });
  const last = terminalOf(await eventsOf(aiSdkModel({ name: "test/fake-1", load, key: KEY, ...options })));
  assert.equal(last.type, "failed", JSON.stringify(last));
  return last.fault;
}

async function faultOf(reply: FakeReply, options: Partial<AiSdkModelOptions> = {}): Promise<FaultReport> {
  const server = await fake.fakeOpenAi(reply);
  try {
    return await faultAt(server.url, options);
  } finally {
    await server.close();
  }
}

/** For servers that hang: all others answer, however busy the machine is. */
const PATIENCE = { firstTokenMs: 150, betweenTokensMs: 50 };

const ROWS: readonly (readonly [string, FakeReply, FaultCode, RegExp])[] = [
  ["a server that hangs before the headers", fake.hang, "MODEL_TIMEOUT", /150 ms/],
  ["a server that hangs after the headers", fake.hangAfter(), "MODEL_TIMEOUT", /150 ms/],
  ["a server that hangs in mid-stream", fake.hangAfter("so"), "MODEL_TIMEOUT", /50 ms/],
  ["a connection that is reset in mid-stream", fake.cutAfter("so"), "MODEL_CUT", /test\/fake-1/],
  [
    "a connection that is reset before the headers",
    (response) => response.socket?.resetAndDestroy(),
    "MODEL_CUT",
    /broke/,
  ],
  ["a stream that ends without having finished", fake.endAfter("so"), "MODEL_CUT", /before it was finished/],
  ["a malformed chunk", fake.malformed, "MODEL_RUBBISH", /JSON/],
  ["an answer with neither words nor calls", fake.empty, "MODEL_RUBBISH", /empty/],
  ["status 429", fake.status(429, "slow down"), "MODEL_RATE_LIMITED", /429: slow down/],
  ["status 500", fake.status(500, "oh no"), "MODEL_UNAVAILABLE", /500: oh no/],
  ["status 503", fake.status(503, "busy"), "MODEL_UNAVAILABLE", /503: busy/],
  ["status 400", fake.status(400, "no such field"), "MODEL_REFUSED", /400: no such field/],
  ["status 401", fake.status(401, "who are you"), "MODEL_KEY_REFUSED", /401: who are you/],
  ["status 402", fake.status(402, "no credit"), "MODEL_UNPAID", /402: no credit/],
  ["status 403", fake.status(403, "not you"), "MODEL_KEY_REFUSED", /403: not you/],
  ["status 404", fake.status(404, "no such model"), "MODEL_REFUSED", /404: no such model/],
  ["status 409", fake.status(409, "just now"), "MODEL_UNAVAILABLE", /409: just now/],
  ["status 413", fake.status(413, "too much"), "MODEL_CONTEXT_FULL", /413/],
  ["status 529", fake.status(529, "overloaded"), "MODEL_UNAVAILABLE", /529: overloaded/],
  ["a used up quota", fake.status(429, "insufficient_quota: see your plan"), "MODEL_UNPAID", /429/],
  [
    "a prompt that is too long",
    fake.status(400, "prompt is too long: 2000 tokens > 1000 maximum"),
    "MODEL_CONTEXT_FULL",
    /too long/,
  ],
  [
    "a context that is too small",
    fake.status(400, "request (5000 tokens) exceeds the available context size (4096 tokens)"),
    "MODEL_CONTEXT_FULL",
    /4096/,
  ],
  [
    "a signature that does not hold",
    fake.status(400, "Invalid `signature` in `thinking` block."),
    "MODEL_HISTORY_REFUSED",
    /signature/,
  ],
  [
    "thinking that did not come back",
    fake.status(400, "The reasoning_content in the thinking mode must be passed back to the API."),
    "MODEL_HISTORY_REFUSED",
    /passed back/,
  ],
  ["status 408", fake.status(408, "too slow"), "MODEL_TIMEOUT", /408/],
  [
    "an error streamed with its status",
    fake.errorAfter("so", { message: "cooling", code: 429 }),
    "MODEL_RATE_LIMITED",
    /cooling/,
  ],
  [
    "an error streamed without a status",
    fake.errorAfter("so", { message: "overloaded" }),
    "MODEL_UNAVAILABLE",
    /overloaded/,
  ],
];

for (const [what, reply, code, words] of ROWS) {
  test(`F25: ${what} is ${code}`, async () => {
    const fault = await faultOf(reply, what.includes("hangs") ? PATIENCE : {});
    assert.equal(fault.code, code, fault.message);
    assert.match(fault.message, words);
  });
}

test("F25: an answer of 10 MB is MODEL_RUBBISH and the rest of it is not fetched", async () => {
  const server = await fake.fakeOpenAi(fake.huge(10 * 1024 * 1024));
  try {
    const fault = await faultAt(server.url);
    assert.equal(fault.code, "MODEL_RUBBISH");
    assert.equal(await server.requests[0]?.over, "cut");
  } finally {
    await server.close();
  }
});

test("a line that never ends is given up before it fills the memory", async () => {
  const fault = await faultOf((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, "x")));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  });
  assert.equal(fault.code, "MODEL_RUBBISH");
  assert.match(fault.message, new RegExp(`${MODEL_LIMITS.eventBytes} bytes`));
});

test("a port without a listener is MODEL_UNAVAILABLE", async () => {
  const gone = await fake.fakeOpenAi();
  await gone.close();
  const fault = await faultAt(gone.url);
  assert.equal(fault.code, "MODEL_UNAVAILABLE");
  assert.match(fault.message, /cannot be reached: .*ECONNREFUSED/);
});

test("a host that has no address is MODEL_UNAVAILABLE", async () => {
  const fault = await faultAt("http://no-such-host.invalid/v1");
  assert.equal(fault.code, "MODEL_UNAVAILABLE");
});

test("a vendor's package that cannot be loaded is MODEL_UNAVAILABLE", async () => {
  const fault = await faultAt("", { load: () => Promise.reject(new Error("no such package")) });
  assert.deepEqual([fault.code, fault.message], ["MODEL_UNAVAILABLE", "test/fake-1 failed: no such package"]);
});

test("a server that says when to come back in milliseconds or in the body is heard", async () => {
  const inHeader = await faultOf(fake.status(429, "slow", { "retry-after-ms": "1500", "retry-after": "9" }));
  assert.equal(inHeader.retryAfterMs, 1500);
  const body = { error: { code: 429, message: "slow", details: [{ retryDelay: "34.4s" }] } };
  const inBody = await faultOf((response) => response.writeHead(429).end(JSON.stringify(body)));
  assert.equal(inBody.retryAfterMs, 34_400);
});

test("a server that says when to come back is heard, in seconds and in dates", async () => {
  const soon = await faultOf(fake.status(429, "slow", { "retry-after": "3" }));
  assert.equal(soon.retryAfterMs, 3000);
  const now = Date.UTC(2030, 0, 1);
  assert.equal(retryDelayOf("Tue, 01 Jan 2030 00:00:07 GMT", now), 7000);
  assert.equal(retryDelayOf("Tue, 01 Jan 2019 00:00:07 GMT", now), 0);
  assert.equal(retryDelayOf("0.5", now), 500);
  assert.equal(retryDelayOf("whenever", now), undefined);
  assert.equal(retryDelayOf(undefined, now), undefined);
});

test("a server that repeats the key does not get it into the fault", async () => {
  const fault = await faultOf(fake.status(401, `no: ${KEY} ${"x".repeat(5000)}`));
  assert.match(fault.message, /no: \[key\]/);
  assert.ok(!fault.message.includes(KEY));
  assert.ok(fault.message.length <= MODEL_LIMITS.wordsChars);
});

test("an error page that is no JSON is quoted", async () => {
  const fault = await faultOf((response) => response.writeHead(502).end("<h1>Bad gateway</h1>"));
  assert.equal(fault.code, "MODEL_UNAVAILABLE");
  assert.match(fault.message, /Bad gateway/);
});

test("a redirect is not followed, so the key stays with its server", async (t) => {
  const other = await fake.fakeOpenAi(fake.text("stolen"));
  t.after(() => other.close());
  const fault = await faultOf((response) =>
    response.writeHead(307, { location: `${other.url}/chat/completions` }).end(),
  );
  assert.equal(fault.code, "MODEL_UNAVAILABLE");
  assert.equal(other.requests.length, 0);
});

test("only the server's silence counts, not the pauses of the reader", async (t) => {
  const server = await fake.fakeOpenAi(fake.text("a", "b"));
  t.after(() => server.close());
  const load = () => openCompatible("m", { url: server.url });
  const model = aiSdkModel({ name: "test", load, betweenTokensMs: 20 });
  const seen: string[] = [];
  for await (const event of model.call({ system: "", turns: [], tools: [] }, new AbortController().signal)) {
    seen.push(event.type);
    await delay(40);
  }
  assert.deepEqual(seen, ["delta", "delta", "replied"]);
});

test("anything else that is thrown is MODEL_UNAVAILABLE in its own words", async () => {
  assert.equal((await modelFault("plain words", { name: "m" })).message, "m answered with an error: plain words");
  assert.equal((await modelFault(undefined, { name: "m" })).code, "MODEL_UNAVAILABLE");
});
