import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HEALING_LIMITS } from "../limits.ts";
import { backoffMs, handleRateLimit, retryWithBackoff } from "./backoff.ts";
import { coerce, isOfType } from "./coerce.ts";
import { recoverDbConnection } from "./database.ts";
import { beforeEffect, failureOf, retryAfterMs } from "./failure.ts";
import { foldName, meaningOf } from "./names.ts";

const errorWith = (fields: object, message = "it failed"): Error => Object.assign(new Error(message), fields);
const OPERATION = { operation: { name: "op" }, input: undefined };

describe("a failure", () => {
  it("is named by the error's own code, else by its status, else by its name", () => {
    assert.equal(failureOf(errorWith({ code: "ECONNRESET", status: 503 })).code, "ECONNRESET");
    assert.equal(failureOf(errorWith({ statusCode: 503 })).code, "HTTP_503");
    assert.equal(failureOf(errorWith({ response: { status: 404 } })).code, "HTTP_404");
    assert.equal(failureOf(new TypeError("x")).code, "TypeError");
    assert.equal(failureOf("just words").code, "Error");
  });

  it("is read through the errors that wrap it, however deep, and not for ever", () => {
    const inner = errorWith({ code: "ECONNREFUSED", port: 5432 });
    const wrapped = new Error("outer", { cause: new Error("middle", { cause: inner }) });
    assert.deepEqual([failureOf(wrapped).code, failureOf(wrapped).port], ["ECONNREFUSED", 5432]);
    const circle = errorWith({});
    Object.assign(circle, { cause: circle });
    assert.equal(failureOf(circle).code, "Error");
  });

  it("has a bounded message, also for what is no error", () => {
    assert.equal(failureOf(new Error("x".repeat(100_000))).message.length, HEALING_LIMITS.messageChars);
    for (const thrown of [undefined, null, 5, {}, Symbol("s"), () => 1])
      assert.equal(typeof failureOf(thrown).message, "string");
  });

  it("is certainly before any effect only where that is certain", () => {
    for (const fields of [{ code: "ECONNREFUSED" }, { status: 429 }, { status: 401 }, { code: "JWT_EXPIRED" }])
      assert.equal(failureOf(errorWith(fields)).isBeforeEffect, true, JSON.stringify(fields));
    for (const fields of [
      {},
      { code: "ECONNRESET" },
      { status: 500 },
      { status: 503 },
      { status: 404 },
      { code: "ETIMEDOUT" },
    ])
      assert.equal(failureOf(errorWith(fields)).isBeforeEffect, false, JSON.stringify(fields));
    assert.equal(failureOf(beforeEffect(new Error("x"))).isBeforeEffect, true);
  });

  it("has the delay that the other side asked for, in every form in which it is said", () => {
    const rows: readonly (readonly [object, number | undefined])[] = [
      [{ retryAfterMs: 250 }, 250],
      [{ retryAfterMs: -5 }, 0],
      [{ headers: { "retry-after": "2" } }, 2000],
      [{ headers: { "Retry-After": 3 } }, 3000],
      [{ headers: new Headers({ "retry-after": "0.5" }) }, 500],
      [{ response: { headers: { "retry-after": "4" } } }, 4000],
      [{ retryAfter: 1 }, 1000],
      [{ headers: { "retry-after": "soon" } }, undefined],
      [{}, undefined],
    ];
    for (const [fields, expected] of rows)
      assert.equal(failureOf(errorWith(fields)).askedDelayMs, expected, JSON.stringify(fields));
  });

  it("reads a date in Retry-After from now on, and never as a time that has passed", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    assert.equal(retryAfterMs("Thu, 01 Jan 2026 00:00:10 GMT", now), 10_000);
    assert.equal(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now), 0);
    for (const text of ["", "-1", "1e9", "never", "0x10"]) assert.equal(retryAfterMs(text, now), undefined, text);
  });
});

describe("trying again", () => {
  it("fits what may pass, and no bug", () => {
    const fits = (error: unknown): boolean => retryWithBackoff().fits(failureOf(error), OPERATION);
    for (const fields of [{ code: "ECONNRESET" }, { status: 503 }, { status: 408 }, { name: "TimeoutError" }, {}])
      assert.equal(fits(errorWith(fields)), true, JSON.stringify(fields));
    for (const error of [
      new TypeError("x"),
      new RangeError("x"),
      errorWith({ status: 404 }),
      errorWith({ status: 400 }),
    ])
      assert.equal(fits(error), false, String(error));
  });

  it("waits at least as long as it was asked to", async () => {
    const rests: number[] = [];
    const rest = async (ms: number): Promise<void> => void rests.push(ms);
    const signal = new AbortController().signal;
    const context = { ...OPERATION, attempt: 1, signal, rest, hide: () => undefined };
    await retryWithBackoff().mend({ ...context, failure: failureOf(errorWith({ retryAfterMs: 9000 })) });
    await handleRateLimit().mend({ ...context, failure: failureOf(errorWith({ retryAfterMs: 10 })) });
    await handleRateLimit().mend({ ...context, failure: failureOf(errorWith({})) });
    assert.equal(rests[0], 9000);
    assert.equal(rests[1], 10);
    assert.ok((rests[2] ?? 0) >= HEALING_LIMITS.backoffMs / 2);
  });

  it("is for rate limits by status and by name", () => {
    const fits = (fields: object): boolean => handleRateLimit().fits(failureOf(errorWith(fields)), OPERATION);
    assert.deepEqual(
      [{ status: 429 }, { code: "RATE_LIMITED" }, { code: "TOO_MANY_REQUESTS" }, { status: 503 }].map(fits),
      [true, true, true, false],
    );
  });

  it("never waits longer than the cap, whatever the chance", () => {
    for (const attempt of [1, 2, 3, 4, 10, 1000])
      for (const chance of [0, 0.5, 0.999]) {
        const ms = backoffMs(attempt, chance);
        assert.ok(ms > 0 && ms <= HEALING_LIMITS.backoffCapMs, `${attempt} ${chance}`);
      }
  });
});

describe("a lost database", () => {
  it("is known by the codes and ports of the usual drivers", () => {
    const fits = (error: unknown): boolean =>
      recoverDbConnection({ reconnect: async () => undefined }).fits(failureOf(error), OPERATION);
    const named = (name: string): Error => Object.assign(new Error("x"), { name });
    for (const error of [
      errorWith({ code: "57P01" }),
      errorWith({ code: "08006" }),
      errorWith({ code: "P1001" }),
      errorWith({ code: "ECONNREFUSED", port: 5432 }),
      named("MongoNetworkTimeoutError"),
      named("SequelizeConnectionRefusedError"),
    ])
      assert.equal(fits(error), true, String(error));
    for (const error of [errorWith({ code: "ECONNREFUSED", port: 8080 }), errorWith({ code: "23505" }), new Error("x")])
      assert.equal(fits(error), false);
  });
});

describe("a value of another type", () => {
  it("is converted only where nothing is lost or made up", () => {
    const rows: readonly (readonly [Parameters<typeof coerce>[0], string, unknown])[] = [
      [" 42 ", "integer", 42],
      ["4.5", "number", 4.5],
      ["4.5", "integer", undefined],
      ["9007199254740993", "integer", undefined],
      ["", "number", undefined],
      ["1,5", "number", undefined],
      ["1e3", "number", 1000],
      ["1e999", "number", undefined],
      ["-1e400", "number", undefined],
      ["1e999", "integer", undefined],
      ["5e-400", "number", undefined],
      ["0e999", "number", 0],
      ["-0.000", "number", -0],
      ["0x10", "number", undefined],
      ["Infinity", "number", undefined],
      ["NaN", "number", undefined],
      ["١٢", "number", undefined],
      ["sim", "boolean", true],
      ["não", "boolean", false],
      [2, "boolean", undefined],
      [1, "boolean", true],
      [5, "string", "5"],
      [{}, "string", undefined],
      ["a", "array", ["a"]],
      [null, "array", undefined],
      ["", "null", null],
      ["x", "null", undefined],
      ["x", "object", undefined],
    ];
    for (const [value, type, expected] of rows)
      assert.deepEqual(coerce(value, type), expected, `${JSON.stringify(value)} as ${type}`);
  });

  it("is of one type only", () => {
    assert.equal(isOfType(5, "integer"), true);
    assert.equal(isOfType(5.5, "integer"), false);
    assert.equal(isOfType(null, "object"), false);
    assert.equal(isOfType([], "object"), false);
    assert.equal(isOfType([], "array"), true);
  });
});

describe("a name that another one means", () => {
  it("is found by its spelling, then by a synonym, then by a slip of the pen", () => {
    const meant = (given: string, ...wanted: string[]) => meaningOf(given, wanted, []);
    assert.deepEqual(meant("First-Name", "first_name", "name"), { name: "first_name", likeness: "spelling" });
    assert.deepEqual(meant("correo", "email"), { name: "email", likeness: "synonym" });
    assert.deepEqual(meant("quantiyt", "quantity"), { name: "quantity", likeness: "misspelling" });
    assert.equal(meant("color", "size"), undefined);
  });

  it("is none when two could be meant, or when it is short, empty or too long", () => {
    assert.equal(meaningOf("nome", ["name", "full_name"], []), undefined);
    assert.equal(meaningOf("abc", ["abd"], []), undefined);
    assert.equal(meaningOf("", ["a"], []), undefined);
    assert.equal(meaningOf("x".repeat(10_000), ["x"], []), undefined);
  });

  it("is compared without case, accents and separators", () => {
    assert.equal(foldName("Código_Postal-2"), "codigopostal2");
  });
});
