import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import fc from "fast-check";
import { CLIENT_LIMITS } from "@vidro/core";
import { Vidro } from "./client.ts";
import type { RunStreamItem } from "./run-stream-item.ts";
import { answer, begin, cursorOf, cut, JOURNAL, line, linesAfter, scriptedBrain } from "./scripted-brain.fixture.ts";
import type { Script } from "./scripted-brain.fixture.ts";

const QUICK = { retries: 3, backoffMs: 1 };
const LINES = linesAfter(0);

/** Follows the run to its end. */
async function followed(url: string, after = 0): Promise<readonly RunStreamItem[]> {
  return Array.fromAsync(new Vidro({ url, ...QUICK }).attach("run_1").follow({ after }));
}

const entriesOf = (all: readonly RunStreamItem[]) => all.flatMap((one) => ("entry" in one ? [one.entry] : []));

const whole: Script = (response, request) => begin(response).end(linesAfter(cursorOf(request)).join(""));

test("a run is followed from its first entry, and from any other, to its last", async () => {
  await using brain = await scriptedBrain(whole);
  const all = await followed(brain.url);
  assert.deepEqual(entriesOf(all), JOURNAL);
  assert.deepEqual(all.at(-2), { live: { type: "model.delta", text: "fünf" }, after: 4 });
  assert.deepEqual(entriesOf(await followed(brain.url, 3)), JOURNAL.slice(3));
  assert.equal(brain.seen[0]?.headers.accept, "application/x-ndjson");
  assert.equal(brain.seen[0]?.url.search, "?after=0");
  await Array.fromAsync(new Vidro({ url: brain.url }).attach("run_1").follow({ live: false }));
  assert.equal(brain.seen.at(-1)?.url.search, "?after=0&live=false");
});

test("a connection that is cut after any line, or inside one, loses no entry and repeats none", async () => {
  for (let lines = 0; lines < LINES.length; lines++) {
    for (const inside of [0, 7]) {
      const told = LINES.slice(0, lines).join("") + (LINES[lines] ?? "").slice(0, inside);
      await using brain = await scriptedBrain((response, request, n) =>
        n === 1 ? cut(response, told) : whole(response, request, n),
      );
      const entries = entriesOf(await followed(brain.url));
      assert.deepEqual(entries, JOURNAL, `cut after ${lines} lines and ${inside} characters`);
      const had = lines > 4 ? 4 : lines;
      assert.deepEqual(brain.seen.map(cursorOf), [0, had]);
    }
  }
});

test("a brain that cuts after every single entry is followed to the end all the same", async () => {
  await using brain = await scriptedBrain((response, request) => cut(response, line(JOURNAL[cursorOf(request)])));
  // The last cut may come before or after its entry was read: either way each entry comes once.
  assert.deepEqual(entriesOf(await followed(brain.url)), JOURNAL);
});

test("lines that come in any pieces are whole lines", async () => {
  const bytes = Buffer.from(LINES.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (places) => {
      const ends = [...places, bytes.length].sort((one, other) => one - other);
      await using brain = await scriptedBrain((response) => {
        begin(response);
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        const next = (): void => {
          const piece = pieces.shift();
          if (piece === undefined) response.end();
          else if (piece.length === 0) next();
          else response.write(piece, () => setImmediate(next));
        };
        next();
      });
      assert.deepEqual(entriesOf(await followed(brain.url)), JOURNAL);
      assert.equal(brain.seen.length, 1);
    }),
    { numRuns: 40 },
  );
});

test("what comes twice is told once, and a gap is asked for again", async () => {
  await using brain = await scriptedBrain((response, request, n) => {
    if (n > 1) return whole(response, request, n);
    const [first, second, , fourth] = JOURNAL;
    begin(response).end([first, second, first, second, fourth].map(line).join(""));
  });
  assert.deepEqual(entriesOf(await followed(brain.url)), JOURNAL);
  assert.deepEqual(brain.seen.map(cursorOf), [0, 2]);
});

test("a stream that never comes to the run's end is an error after the last try", async () => {
  await using brain = await scriptedBrain((response) => begin(response).end(line(JOURNAL[0])));
  await assert.rejects(followed(brain.url), { name: "VidroError", code: "CONNECTION_LOST", message: /after entry 1,/ });
  assert.deepEqual(brain.seen.map(cursorOf), [0, 1, 1, 1]);
});

test("a brain that goes away for good is an error, and one that comes back in time is not", async () => {
  const first = await scriptedBrain((response) => begin(response).write(LINES.slice(0, 2).join("")));
  const following = followed(first.url);
  await once(
    setUntil(() => first.seen.length === 1),
    "abort",
  );
  await first.stop();
  await using second = await scriptedBrain(whole, first.port);
  assert.deepEqual(entriesOf(await following), JOURNAL);
  await second.stop();
  await assert.rejects(followed(second.url), {
    code: "BRAIN_UNREACHABLE",
    message: /cannot be reached: .*ECONNREFUSED/,
  });
});

test("a token that is revoked while the run is followed ends it with the brain's own code", async () => {
  await using brain = await scriptedBrain((response, _request, n) => {
    if (n === 1) cut(response, LINES.slice(0, 2).join(""));
    else answer(response, 401, { ok: false, error: "The token was revoked.", code: "INVALID_TOKEN" });
  });
  await assert.rejects(followed(brain.url), { code: "INVALID_TOKEN", message: "The token was revoked.", status: 401 });
  assert.equal(brain.seen.length, 2);
});

test("a fault in the stream ends it, and so does a run that is no longer what was seen of it", async () => {
  const lines = [line({ fault: { code: "JOURNAL_CORRUPT", message: "Entry 3 is broken." } }), line({ resync: 1 })];
  await using brain = await scriptedBrain((response, _request, n) => begin(response).end(lines[n - 1]));
  await assert.rejects(followed(brain.url), { code: "JOURNAL_CORRUPT", message: "Entry 3 is broken." });
  await assert.rejects(followed(brain.url, 9), { code: "CONFLICT" });
  assert.equal(brain.seen.length, 2);
});

test("a reader whose cursor is at the end gets nothing more", async () => {
  await using brain = await scriptedBrain((response) => response.writeHead(204).end());
  assert.deepEqual(await followed(brain.url, 5), []);
});

test("a line that is longer than any entry is refused, not held", async () => {
  await using brain = await scriptedBrain((response) =>
    begin(response).end(Buffer.alloc(CLIENT_LIMITS.lineBytes + 1, "x")),
  );
  await assert.rejects(followed(brain.url), { code: "PAYLOAD_TOO_LARGE" });
});

test("a signal ends following at once, in a stream and in a rest, with its own reason", async () => {
  await using brain = await scriptedBrain((response, _request, n) => {
    if (n === 1) begin(response).write(line(JOURNAL[0]));
    else response.destroy();
  });
  const vidro = new Vidro({ url: brain.url, retries: 99, backoffMs: 60_000 });
  const inStream = new AbortController();
  const reading = async (): Promise<void> => {
    for await (const _ of vidro.attach("run_1").follow({ signal: inStream.signal }))
      inStream.abort(new Error("enough"));
  };
  await assert.rejects(reading(), { message: "enough" });
  const inRest = new AbortController();
  const resting = Array.fromAsync(vidro.attach("run_1").follow({ signal: inRest.signal }));
  await once(
    setUntil(() => brain.seen.length === 2),
    "abort",
  );
  inRest.abort(new Error("no more"));
  await assert.rejects(resting, { message: "no more" });
});

test("a reader that stops closes the connection", async () => {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  await using brain = await scriptedBrain((response) => {
    begin(response).write(line(JOURNAL[0]));
    response.on("close", resolve);
  });
  for await (const _ of new Vidro({ url: brain.url }).attach("run_1")) break;
  await gone;
});

/** A signal that fires when something has become true. */
function setUntil(isTrue: () => boolean): AbortSignal {
  const controller = new AbortController();
  const look = (): void => (isTrue() ? controller.abort() : void setImmediate(look));
  setImmediate(look);
  return controller.signal;
}
