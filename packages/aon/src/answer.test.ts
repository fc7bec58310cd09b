import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { answerBuffer, answerOfBody } from "./answer.ts";
import { BOX_LIMITS } from "./limits.ts";

describe("the body of a route's answer", () => {
  test("is parsed where it is JSON, kept where it is text, and a fault where an event cannot carry it", () => {
    for (const [type, text, expected] of [
      ["application/json", '{"a":1}', { data: { a: 1 } }],
      ["application/json; charset=utf-8", "null", { data: null }],
      ["APPLICATION/JSON", "[1]", { data: [1] }],
      ["application/problem+json", "5", { data: 5 }],
      ["application/vnd.api+json;v=2", '"x"', { data: "x" }],
      ["text/plain", "words", { data: "words" }],
      ["text/csv", "a,b", { data: "a,b" }],
      ["", "words", { data: "words" }],
      ["application/json", "", { data: null }],
      ["image/png", "", { data: null }],
      ["text/html", "<p>", "NOT_JSON"],
      ["TEXT/HTML; charset=utf-8", "<p>", "NOT_JSON"],
      ["image/png", "\u0089PNG", "NOT_JSON"],
      ["application/octet-stream", "x", "NOT_JSON"],
      ["application/json", "{", "NOT_JSON"],
      ["application/jsonp", "x()", "NOT_JSON"],
    ] as const) {
      const answer = answerOfBody(200, type, text);
      if (typeof expected === "string") {
        assert.ok("fault" in answer && answer.fault.code === expected, `${type}: ${text}`);
        assert.equal(answer.fault.status, 406);
      } else assert.deepEqual(answer, expected, `${type}: ${text}`);
    }
  });

  test("of a failure is a fault, whatever its type", () => {
    for (const [type, text] of [
      ["application/json", '{"code":"GONE_FISHING","message":"Later."}'],
      ["text/html", "<h1>Error</h1>"],
      ["application/json", "{"],
      ["", ""],
    ] as const) {
      const answer = answerOfBody(503, type, text);
      assert.ok("fault" in answer && answer.fault.status === 503, type);
      assert.ok(!answer.fault.message.includes("<h1>"), "no page leaks into an event");
    }
  });

  test("is whole in whatever pieces and encodings it is written", () => {
    const text = '{"name":"João 👩‍🚀 日本"}';
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
        const buffer = answerBuffer();
        const places = [0, ...cuts.sort((one, other) => one - other), bytes.length];
        for (const [index, from] of places.slice(0, -1).entries()) buffer.add(bytes.subarray(from, places[index + 1]));
        assert.deepEqual(buffer.read(200, "application/json"), { data: JSON.parse(text) as unknown });
      }),
    );
    for (const encoding of ["base64", "hex", "latin1"] as const) {
      const buffer = answerBuffer();
      buffer.add(Buffer.from('"abc"').toString(encoding), encoding);
      assert.deepEqual(buffer.read(200, "application/json"), { data: "abc" }, encoding);
    }
  });

  test("is not changed by a route that uses its chunk again, and what is no chunk is left out", () => {
    const buffer = answerBuffer();
    const chunk = Buffer.from('"one"');
    buffer.add(chunk);
    chunk.fill("x");
    for (const none of [undefined, null, 5, {}, () => undefined]) buffer.add(none, "utf8");
    buffer.add("", "no-such-encoding");
    assert.deepEqual(buffer.read(200, "application/json"), { data: "one" });
  });

  test("beyond the bound is a fault that says so, and is not held", () => {
    const buffer = answerBuffer();
    for (let times = 0; times < 3; times += 1) buffer.add(Buffer.alloc(BOX_LIMITS.answerBytes / 2 + 1, "x"));
    const answer = buffer.read(200, "text/plain");
    assert.ok("fault" in answer && answer.fault.code === "PAYLOAD_TOO_LARGE");
    const small = answerBuffer();
    small.add("x".repeat(BOX_LIMITS.answerBytes));
    assert.ok("data" in small.read(200, "text/plain"));
  });
});
