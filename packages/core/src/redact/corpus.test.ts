import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { cutInto, sizes } from "../codec/chunks.fixture.ts";
import { percentFinder } from "./percent.ts";
import { redactor } from "./redact.ts";
import { scan } from "./scan.ts";
import { shapeFinder } from "./shapes.ts";
import { PLANTED } from "./corpus.fixture.ts";
import type { Planted } from "./corpus.fixture.ts";
import { ORDINARY } from "./ordinary.fixture.ts";

/** Of every hundred secrets of the corpus so many are found, and of every hundred findings so many are secrets. */
const RECALL = 98;
const PRECISION = 98;
/** A piece of a secret that is as long as this is worth something. */
const PIECE_CHARS = 12;

const redact = redactor([]);

function isCaught({ text, secret }: Planted, pieceChars = PIECE_CHARS): boolean {
  const shown = redact.text(text);
  const chars = Math.min(pieceChars, secret.length);
  for (let at = 0; at + chars <= secret.length; at++) if (shown.includes(secret.slice(at, at + chars))) return false;
  return true;
}

test("secrets of every form that public lists of rules name are found, also inside JSON, and ordinary lines stay", (t) => {
  const missed = PLANTED.filter((planted) => !isCaught(planted));
  const mistaken = ORDINARY.filter((line) => redact.text(line) !== line);
  const found = PLANTED.length - missed.length;
  const recall = (found / PLANTED.length) * 100;
  const precision = (found / (found + mistaken.length)) * 100;
  t.diagnostic(`recall ${found} of ${PLANTED.length}, ${recall.toFixed(1)} %`);
  t.diagnostic(`ordinary lines kept ${ORDINARY.length - mistaken.length} of ${ORDINARY.length}`);
  t.diagnostic(`precision ${precision.toFixed(1)} %`);
  assert.ok(recall >= RECALL, `missed: ${missed.map(({ name }) => name).join("; ")}`);
  assert.ok(precision >= PRECISION, `mistaken: ${mistaken.map((line) => redact.text(line)).join("\n")}`);
});

/** Texts percent-encoded as addresses have them, and each byte. */
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => encodeURIComponent(text),
  (text) =>
    Buffer.from(text)
      .toString("hex")
      .replaceAll(/../g, (pair) => `%${pair}`),
];
const ENCODED: readonly Planted[] = PLANTED.filter(({ name }) => !name.endsWith("twice")).flatMap((planted) =>
  ENCODINGS.map((encode) => ({
    name: planted.name,
    text: `curl example.org/?q=${encode(planted.text)} -v`,
    secret: encode(planted.secret),
  })),
);

test("percent-encoded secrets are found, and ordinary lines are mistaken no more often than without that", (t) => {
  // Of a secret with each byte encoded, three characters are one.
  const missed = ENCODED.filter((planted, at) => !isCaught(planted, at % 2 === 0 ? PIECE_CHARS : 3 * PIECE_CHARS));
  const lines = ORDINARY.flatMap((line) => ENCODINGS.map((encode) => encode(line)));
  const mistaken = lines.filter((line) => percentFinder.find(scan(shapeFinder, line), 0) !== undefined);
  const found = ENCODED.length - missed.length;
  t.diagnostic(`recall ${found} of ${ENCODED.length}, mistaken ${mistaken.length} of ${lines.length}`);
  assert.ok((found / ENCODED.length) * 100 >= RECALL, `missed: ${missed.map(({ name }) => name).join("; ")}`);
  assert.deepEqual(mistaken, []);
});

test("ordinary lines stay also as one text, and in pieces", () => {
  const text = ORDINARY.join("\n");
  const stream = redact.stream();
  const streamed = [...cutInto(text, [7, 1, 64]).map((piece) => stream.push(piece)), stream.end()].join("");
  assert.equal(streamed, redact.text(text));
  const changed = redact.text(text).match(/\[redacted\]/g)?.length ?? 0;
  assert.ok(changed <= ORDINARY.length * (1 - PRECISION / 100), `${changed} places`);
});

test("secrets of the corpus give in pieces what they give as a whole", () => {
  for (const { name, text } of [...PLANTED, ...ENCODED]) {
    const stream = redact.stream();
    const streamed = [...cutInto(text, [5, 1, 11]).map((piece) => stream.push(piece)), stream.end()].join("");
    assert.equal(streamed, redact.text(text), name);
  }
});

test("parts of the corpus in any order give in any pieces what they give as a whole", () => {
  const texts = [...[...PLANTED, ...ENCODED].map(({ text }) => text), ...ORDINARY];
  const part = fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.nat())
    .map(([text, from, to]) => text.slice(from % text.length, to % (text.length + 1)));
  const glue = fc.constantFrom("\n", " ", "", '"', "=", ": ", "\\n", "password", "-", "%20");
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...texts), part, glue), { maxLength: 8 }), sizes, (parts, cuts) => {
      const text = parts.join("");
      const stream = redact.stream();
      const streamed = [...cutInto(text, cuts).map((piece) => stream.push(piece)), stream.end()].join("");
      assert.equal(streamed, redact.text(text));
    }),
    { numRuns: 1000 },
  );
});
