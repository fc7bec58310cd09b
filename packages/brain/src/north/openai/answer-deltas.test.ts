import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Entry, Event } from "@vidro/core";
import { AnswerDeltas } from "./answer-deltas.ts";
import type { AnswerDelta } from "./answer-deltas.ts";
import { AnswerText } from "./answer.ts";

/* What a client that heeds voided characters has at the end is the text of the whole answer. */

const replied = (text: string): Event => ({
  type: "model.replied",
  model: "m",
  text,
  usage: { inputTokens: 1, outputTokens: 1 },
});
const failed: Event = { type: "model.failed", attempt: 1, fault: { code: "MODEL_CUT", message: "cut" } };
const entry = (event: Event): Entry => ({ seq: 1, at: 0, event });

/** A client: takes back the characters that became void and adds the new ones. */
class Client {
  text = "";

  take(delta: AnswerDelta | undefined): void {
    if (delta === undefined) return;
    assert.ok(delta.voided <= this.text.length, "no more is void than was sent");
    this.text = this.text.slice(0, this.text.length - delta.voided) + delta.words;
  }
}

/** One reply: its attempts that broke off with what was streamed of each, and its text with how it was streamed. */
interface Reply {
  readonly broken: readonly string[];
  readonly text: string;
  /** Where its text is cut into deltas; a delta that is `lost` never comes. */
  readonly cuts: readonly { readonly at: number; readonly lost: boolean }[];
}

const words = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n"), maxLength: 8 });
const reply: fc.Arbitrary<Reply> = fc.record({
  broken: fc.array(words, { maxLength: 3 }),
  text: words,
  cuts: fc.array(fc.record({ at: fc.nat(8), lost: fc.boolean() }), { maxLength: 4 }),
});

function stream(deltas: AnswerDeltas, client: Client, text: string, cuts: Reply["cuts"]): void {
  const places = [...new Set([0, ...cuts.map(({ at }) => Math.min(at, text.length)), text.length])].sort(
    (a, b) => a - b,
  );
  for (const [index, from] of places.slice(0, -1).entries()) {
    const piece = text.slice(from, places[index + 1]);
    if (cuts[index]?.lost === true) continue;
    client.take(deltas.live({ type: "model.delta", text: piece, from }));
  }
}

test("whatever breaks off or is lost on the way, a client ends with the whole answer", () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 4 }), fc.option(words, { nil: undefined }), (replies, last) => {
      const [deltas, client, whole] = [new AnswerDeltas(), new Client(), new AnswerText()];
      for (const { broken, text, cuts } of replies) {
        for (const part of broken) {
          stream(deltas, client, part, []);
          client.take(deltas.entry(entry(failed)));
        }
        stream(deltas, client, text, cuts);
        const event = replied(text);
        client.take(deltas.entry(entry(event)));
        whole.add({ event });
      }
      client.take(deltas.endWith(last));
      assert.equal(client.text, whole.wholeText(last ?? ""));
    }),
    { numRuns: 1000 },
  );
});

test("an answer that ends in the words of the last reply is not said twice", () => {
  const [deltas, client] = [new AnswerDeltas(), new Client()];
  client.take(deltas.live({ type: "model.delta", text: "It is ", from: 0 }));
  client.take(deltas.entry(entry(replied("It is done."))));
  assert.equal(deltas.endWith("It is done."), undefined);
  assert.equal(client.text, "It is done.");
});

test("words that were streamed and belong to no reply are void at the end", () => {
  const [deltas, client] = [new AnswerDeltas(), new Client()];
  client.take(deltas.live({ type: "model.delta", text: "half a th", from: 0 }));
  client.take(deltas.entry(entry(failed)));
  assert.equal(client.text, "half a th", "what the next reply repeats need not be sent again");
  client.take(deltas.endWith(undefined));
  assert.equal(client.text, "");
});
