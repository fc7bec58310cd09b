import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { NEGOTIATION_LIMITS } from "./limits.ts";
import { negotiate, varyWithAccept } from "./negotiate.ts";

const CASES: readonly (readonly [accept: string | undefined, sight: "glass" | "black" | undefined])[] = [
  [undefined, "black"],
  ["", "black"],
  ["application/json", "black"],
  ["*/*", "black"],
  ["application/*", "black"],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "black"],
  ["application/json, text/plain, */*", "black"],
  ["application/x-ndjson", "glass"],
  ["APPLICATION/X-NDJSON", "glass"],
  ["application/x-ndjson;charset=utf-8", "glass"],
  ['application/x-ndjson; charset="UTF-8"', "glass"],
  ["application/json; charset=utf-8", "black"],
  ["application/x-ndjson, */*", "glass"],
  ["*/*, application/x-ndjson", "glass"],
  ["application/x-ndjson, application/json", "glass"],
  ["application/json, application/x-ndjson", "black"],
  ["application/json;q=0.5, application/x-ndjson", "glass"],
  ["application/x-ndjson;q=0.5, application/json", "black"],
  ["application/x-ndjson;q=0.001, application/json;q=0", "glass"],
  ["application/x-ndjson;q=0, application/json", "black"],
  ["application/x-ndjson;q=0, */*", "black"],
  ["application/x-ndjson; Q=0.0 , */*;q=0.1", "black"],
  ["application/json;q=0, */*", "glass"],
  ["application/json;q=0, application/*;q=0.2", "glass"],
  ["application/*;q=0.9, application/x-ndjson;q=0.2", "black"],
  ["application/x-ndjson;q=0", undefined],
  ["application/json;q=0", undefined],
  ["*/*;q=0", undefined],
  ["text/html", undefined],
  ["text/*", undefined],
  ["application/x-ndjson-other", undefined],
  ["text/x-application/x-ndjson, application/json", "black"],
  ["application/xx-ndjson, application/json", "black"],
  ['text/plain;note="application/x-ndjson, application/x-ndjson", application/json', "black"],
  ["application/x-ndjson;version=2", undefined],
  ["application/x-ndjson;version=2, application/json;q=0.1", "black"],
  ["application/x-ndjson;q=0.9;extension=1", "glass"],
  ["application/x-ndjson;q=7, application/json", "black"],
  ["application/x-ndjson;q=0.1234, application/json;q=0.1", "black"],
  ["nonsense", "black"],
  ["*/json", "black"],
  [", ,application/x-ndjson,,", "glass"],
];

test("001-01, 001-04, 001-26: Accept is read as RFC 9110 reads it, not as a substring", () => {
  for (const [accept, sight] of CASES) assert.equal(negotiate(accept), sight, `Accept: ${accept}`);
});

const weight = fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000);

test("001-26: the higher weight wins, wherever it stands, and a weight of zero refuses", () => {
  fc.assert(
    fc.property(weight, weight, fc.boolean(), (glass, black, isGlassFirst) => {
      const ranges = [`application/x-ndjson;q=${glass}`, `application/json;q=${black}`];
      const accept = (isGlassFirst ? ranges : ranges.toReversed()).join(", ");
      if (glass === 0 && black === 0) assert.equal(negotiate(accept), undefined);
      else if (glass === black) assert.equal(negotiate(accept), isGlassFirst ? "glass" : "black");
      else assert.equal(negotiate(accept), glass > black ? "glass" : "black");
    }),
  );
});

test("001-26: an exact name decides over a wildcard, whatever their weights", () => {
  fc.assert(
    fc.property(weight, weight, (exact, wild) => {
      const accept = `*/*;q=${wild}, application/x-ndjson;q=${exact}, application/json;q=0`;
      assert.equal(negotiate(accept), exact > 0 ? "glass" : undefined);
    }),
  );
});

test("001-26: case and white space change nothing", () => {
  const space = fc.constantFrom("", " ", "\t", "  ");
  fc.assert(
    fc.property(
      fc.constantFrom(...CASES),
      fc.array(space, { minLength: 2, maxLength: 2 }),
      ([accept], [before, after]) => {
        const spaced = accept?.replaceAll(/(?<=^[^"]*)[,;](?=[^"]*$)/g, (sign) => `${before}${sign}${after}`);
        assert.equal(negotiate(spaced?.toUpperCase()), negotiate(accept));
      },
    ),
  );
});

test("any text at all is read without a fault, and only a range that fits gives a glass box", () => {
  const piece = fc.constantFrom(
    "application/x-ndjson",
    "application/json",
    "*/*",
    ";q=",
    "0",
    "1",
    ".5",
    ",",
    ";",
    '"',
    "\\",
    " ",
    "/",
    "=",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((some) => some.join("")),
      ),
      (accept) => {
        const sight = negotiate(accept);
        assert.ok(sight === "black" || sight === "glass" || sight === undefined);
        if (!/ndjson|\*/i.test(accept)) assert.notEqual(sight, "glass");
      },
    ),
  );
});

test("a header of many ranges is read no further than its bound", () => {
  const many = Array.from({ length: NEGOTIATION_LIMITS.ranges }, (_, at) => `text/x-${at}`).join(",");
  assert.equal(negotiate(`${many},application/x-ndjson`), undefined);
  const startedAt = performance.now();
  negotiate('"\\'.repeat(500_000));
  // In time that grows with the square of its length it would take minutes.
  assert.ok(performance.now() - startedAt < 20_000);
});

test("Vary keeps what it has and gets Accept once", () => {
  assert.equal(varyWithAccept(""), "Accept");
  assert.equal(varyWithAccept("Origin"), "Origin, Accept");
  assert.equal(varyWithAccept("origin, ACCEPT"), "origin, ACCEPT");
  assert.equal(varyWithAccept("Accept-Encoding"), "Accept-Encoding, Accept");
  assert.equal(varyWithAccept("*"), "*");
});
