import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { codeOfStatus, faultOfAnswer, faultOfThrown } from "./fault-of.ts";
import { aonFetch } from "./fetch.ts";
import { HEALING_LIMITS } from "./limits.ts";
import { stage, watch } from "./stage.fixture.ts";

/** Numbers that errors of other protocols have in the place of a status. */
const FOREIGN = [0, 1, 200, 399, 600, 999, 1006, 10_061, 404.5, -1, Number.NaN, Infinity, "404", null, {}];

describe("what a route throws", () => {
  test("has the status of HTTP that the error names, under either name, and 500 for any other number", () => {
    for (const status of [400, 404, 418, 451, 499, 500, 503, 599]) {
      assert.equal(faultOfThrown(Object.assign(new Error("x"), { status }), false).status, status);
      assert.equal(faultOfThrown(Object.assign(new Error("x"), { statusCode: status }), false).status, status);
    }
    for (const status of FOREIGN) {
      assert.equal(faultOfThrown({ status }, false).status, 500, JSON.stringify(status));
      assert.equal(faultOfThrown({ status, statusCode: 404 }, false).status, 404, JSON.stringify(status));
    }
  });

  test("with a number of another protocol is answered as a fault of the server, in both boxes", async () => {
    const thrown = Object.assign(new Error("closed abnormally"), { status: 1006 });
    const answer = aonFetch(() => Promise.reject(thrown));
    const black = await answer(new Request("http://here/"));
    assert.equal(black.status, 500);
    assert.equal(((await black.json()) as { code: string }).code, "INTERNAL_ERROR");
    const glass = await answer(new Request("http://here/", { headers: { Accept: "application/x-ndjson" } }));
    assert.match(await glass.text(), /"type":"error".*"code":"INTERNAL_ERROR"/);
    await using server = await stage(() => Promise.reject(thrown));
    assert.equal((await fetch(server.url)).status, 500);
    assert.equal((await watch(server.url)).at(-1)?.type, "error");
  });

  test("has its own code only where that is a plain name", () => {
    for (const [code, shown] of [
      ["DB_DOWN", "DB_DOWN"],
      ["E_1.2-x", "E_1.2-x"],
      ["x", "CONFLICT"],
      ["", "CONFLICT"],
      ["has blank", "CONFLICT"],
      ["a\nb", "CONFLICT"],
      ["9LIVES", "CONFLICT"],
      ["A".repeat(65), "CONFLICT"],
      [5, "CONFLICT"],
    ] as const)
      assert.equal(faultOfThrown({ code, status: 409 }, false).code, shown, String(code));
  });

  test("hides in production the words of a fault that is the server's own, unless it exposes them", () => {
    const words = (thrown: unknown, isProduction = true): string => faultOfThrown(thrown, isProduction).message;
    const error = (about: object = {}): Error => Object.assign(new Error("the words"), about);
    assert.equal(words(error(), false), "the words");
    assert.doesNotMatch(words(error()), /the words/);
    assert.doesNotMatch(words(error({ status: 503 })), /the words/);
    assert.equal(words(error({ status: 404 })), "the words");
    assert.equal(words(error({ status: 503, expose: true })), "the words");
    assert.doesNotMatch(words("the words"), /the words/);
    assert.doesNotMatch(words(error({ status: 1404 })), /the words/, "a foreign number exposes nothing");
  });

  test("may be anything, and its words are bounded", () => {
    fc.assert(
      fc.property(fc.anything(), fc.boolean(), (thrown, isProduction) => {
        const { code, message, status } = faultOfThrown(thrown, isProduction);
        assert.match(code, /^[A-Za-z][\w.-]{1,63}$/);
        assert.ok(message.length > 0 && message.length <= HEALING_LIMITS.messageChars);
        assert.ok(status >= 400 && status < 600);
      }),
    );
    assert.equal(faultOfThrown(new Error("x".repeat(1e6)), false).message.length, HEALING_LIMITS.messageChars);
  });
});

describe("an answer with a status of failure", () => {
  test("has the code and the words that its body gives, wherever they are", () => {
    for (const [body, code, message] of [
      [{ code: "TAKEN", message: "It is taken." }, "TAKEN", "It is taken."],
      [{ error: { code: "TAKEN", message: "It is taken." } }, "TAKEN", "It is taken."],
      [{ error: { message: "It is taken." }, code: "TAKEN" }, "TAKEN", "It is taken."],
      [{ error: "It is taken." }, "CONFLICT", "It is taken."],
      ["It is taken.", "CONFLICT", "It is taken."],
      [{ code: "not a name", message: 5 }, "CONFLICT", "The route answered with status 409."],
      [[], "CONFLICT", "The route answered with status 409."],
      [null, "CONFLICT", "The route answered with status 409."],
      [undefined, "CONFLICT", "The route answered with status 409."],
      ["", "CONFLICT", "The route answered with status 409."],
    ] as const) {
      const fault = faultOfAnswer(409, body);
      assert.deepEqual([fault.code, fault.message, fault.status], [code, message, 409], JSON.stringify(body));
    }
  });

  test("keeps a body that is an object as its detail, and no other", () => {
    assert.deepEqual(faultOfAnswer(422, { fields: ["a"] }).detail, { fields: ["a"] });
    for (const body of ["x", [1], null, undefined]) assert.ok(!("detail" in faultOfAnswer(422, body)));
  });

  test("has a name for every status", () => {
    assert.deepEqual([400, 401, 429, 504, 418, 599].map(codeOfStatus), [
      "BAD_REQUEST",
      "UNAUTHORIZED",
      "RATE_LIMITED",
      "TIMEOUT",
      "HTTP_418",
      "HTTP_599",
    ]);
  });
});
