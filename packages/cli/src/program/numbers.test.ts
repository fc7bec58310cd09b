import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { amount, count, cursor, port } from "./numbers.ts";

/** Texts that `Number` would take and a person would not mean. */
const STRANGE = [
  "",
  " ",
  "1 ",
  " 1",
  "+1",
  "-1",
  "-0",
  "1.0",
  "1e3",
  "0x10",
  "0b1",
  "1_000",
  "Infinity",
  "NaN",
  "null",
];
const FOREIGN = ["١٢", "１２", "½", "1\u0000", "1\n", "一", "1,000", "1.000", "5%"];

const refused = (parse: (text: string) => number, text: string, message: RegExp): void =>
  assert.throws(
    () => parse(text),
    (thrown) => thrown instanceof InvalidArgumentError && message.test(thrown.message),
    JSON.stringify(text),
  );

test("a count is a whole number from 1 up, and nothing else that Number takes", () => {
  for (const text of [...STRANGE, ...FOREIGN, "0", "00", "9007199254740992", "9".repeat(400)])
    refused(count, text, /whole number from 1 up/);
  assert.deepEqual(["1", "42", "007", "9007199254740991"].map(count), [1, 42, 7, Number.MAX_SAFE_INTEGER]);
});

test("a cursor may be 0, and what is refused is told that it may", () => {
  for (const text of [...STRANGE, ...FOREIGN, "9007199254740992"]) refused(cursor, text, /whole number from 0 up/);
  assert.deepEqual(["0", "00", "5"].map(cursor), [0, 0, 5]);
});

test("a port is a cursor of at most 65535", () => {
  assert.deepEqual(["0", "1", "3120", "65535"].map(port), [0, 1, 3120, 65_535]);
  for (const text of ["65536", "99999", "9007199254740991"]) refused(port, text, /at most 65535/);
  for (const text of STRANGE) refused(port, text, /whole number from 0 up/);
});

test("an amount is money above zero with at most six places before and behind the point", () => {
  assert.deepEqual(
    ["0.5", "0.50", "10", "999999.999999", "0.000001"].map(amount),
    [0.5, 0.5, 10, 999_999.999999, 1e-6],
  );
  for (const text of [...STRANGE.filter((one) => one !== "1.0"), "0", "0.0", "000.000", ".5", "5.", "1.2.3", "1,5"])
    refused(amount, text, /amount above 0/);
  for (const text of ["1234567", "0.0000001", "$5", "5 USD"]) refused(amount, text, /amount above 0/);
});

test("every whole number reads back as itself, and no text is read as a number that it does not spell", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (number) => {
      assert.equal(cursor(String(number)), number);
      if (number > 0) assert.equal(count(String(number)), number);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const parse of [count, cursor, port, amount]) {
        let read: number | undefined;
        try {
          read = parse(text);
        } catch (thrown) {
          assert.ok(thrown instanceof InvalidArgumentError);
        }
        if (read !== undefined) assert.match(text, /^[0-9.]+$/);
      }
    }),
  );
});
