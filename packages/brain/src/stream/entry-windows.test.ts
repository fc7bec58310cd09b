import assert from "node:assert/strict";
import { test } from "node:test";
import { STREAM_LIMITS } from "@vidro/core";
import type { Entry, Event } from "@vidro/core";
import { entries, entry } from "../stores/journal.fixture.ts";
import { bytesAfter, windowEnd, windowsOf } from "./entry-windows.ts";
import type { EntryWindow } from "./entry-windows.ts";
import type { RunEncoder } from "./run-encoder.ts";

const SIZE = STREAM_LIMITS.windowEntries;
const END: Event = { type: "run.finished", result: "done" };

/** Runs whose journal is this list, with a count of its reads. */
function runsWith(journal: readonly Entry[]): {
  read(run: string, after: number, limit: number): Promise<Entry[]>;
  reads: number;
} {
  return {
    reads: 0,
    async read(_run, after, limit) {
      this.reads += 1;
      return journal.filter(({ seq }) => seq > after).slice(0, limit);
    },
  };
}

const text = (one: Entry): string => `<${one.seq}>`;
const encoder = { entry: text } as unknown as RunEncoder;

function textAfter(window: EntryWindow | undefined, seq: number): string {
  return (window?.slices ?? []).map((slice) => bytesAfter(slice, seq).toString()).join("");
}

test("a window has what comes after any place in it, and nothing else", async () => {
  const runs = runsWith(entries(1, 3 * SIZE));
  for (const seq of [0, 1, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE - 1]) {
    const window = await windowsOf(runs).after({ runs, run: "r", encoder }, seq);
    const end = windowEnd(seq);
    const expected = Array.from({ length: end - seq }, (_, index) => `<${seq + index + 1}>`).join("");
    assert.equal(textAfter(window, seq), expected, `after ${seq}`);
  }
});

test("followers at different places of a window share one read; other encoders and runs do not", async () => {
  const runs = runsWith(entries(1, SIZE));
  const windows = windowsOf(runs);
  assert.equal(windowsOf(runs), windows);
  const shared = await Promise.all([0, 5, SIZE - 1].map((seq) => windows.after({ runs, run: "r", encoder }, seq)));
  assert.equal(runs.reads, 1);
  assert.ok(shared.every((window) => window === shared[0]));
  await windows.after({ runs, run: "other", encoder }, 0);
  await windows.after({ runs, run: "r", encoder: { entry: text } as unknown as RunEncoder }, 0);
  assert.equal(runs.reads, 3);
});

test("a window that may still grow is not kept; it is whole when it is full or the run has ended", async () => {
  const open = runsWith(entries(1, SIZE - 1));
  for (let times = 1; times < 3; times++) {
    assert.equal(await windowsOf(open).after({ runs: open, run: "r", encoder }, 0), undefined);
    assert.equal(open.reads, times);
  }
  const ended = runsWith([...entries(1, 4), entry(5, END)]);
  const window = await windowsOf(ended).after({ runs: ended, run: "r", encoder }, 2);
  assert.deepEqual([textAfter(window, 2), window?.last], ["<3><4><5>", END]);
});

test("a gap in the entries, an empty read and a failing store give no window", async () => {
  const gap = runsWith([...entries(1, 10), ...entries(12, SIZE + 5)]);
  assert.equal(await windowsOf(gap).after({ runs: gap, run: "r", encoder }, 0), undefined);
  const none = runsWith([]);
  assert.equal(await windowsOf(none).after({ runs: none, run: "r", encoder }, 0), undefined);
  const failing = { read: () => Promise.reject(new Error("disk")) };
  assert.equal(await windowsOf(failing).after({ runs: failing, run: "r", encoder }, 0), undefined);
});

test("entries without text are passed over, also at the end of a slice, and the place is still found", async () => {
  const runs = runsWith(entries(1, SIZE));
  const odd = { entry: (one: Entry) => (one.seq % 2 === 1 ? `<${one.seq}>` : undefined) } as unknown as RunEncoder;
  const window = await windowsOf(runs).after({ runs, run: "r", encoder: odd }, 0);
  assert.equal(textAfter(window, SIZE - 2), `<${SIZE - 1}>`);
  assert.equal(textAfter(window, SIZE - 1), "");
  assert.equal(window?.slices.at(-1)?.seq, SIZE);
  const silent = { entry: () => undefined } as unknown as RunEncoder;
  const empty = await windowsOf(runs).after({ runs, run: "r", encoder: silent }, 0);
  assert.equal(textAfter(empty, 0), "");
  assert.ok((empty?.bytes ?? 0) > 0, "it counts although it has no text");
});

test("long entries make slices of their own, cut between entries and never in a character", async () => {
  const runs = runsWith(entries(1, SIZE));
  const long = "é".repeat(STREAM_LIMITS.batchChars / 4);
  const big = { entry: ({ seq }: Entry) => `${seq}${long}\n` } as unknown as RunEncoder;
  const window = await windowsOf(runs).after({ runs, run: "r", encoder: big }, 0);
  assert.ok((window?.slices.length ?? 0) > 10);
  const lines = textAfter(window, 0).split("\n").slice(0, -1);
  assert.deepEqual(
    lines.map((one) => Number.parseInt(one, 10)),
    Array.from({ length: SIZE }, (_, index) => index + 1),
  );
  assert.equal(textAfter(window, SIZE - 1), `${SIZE}${long}\n`);
});

test("of all windows only so many bytes are kept, and the one used least recently goes first", async () => {
  const runs = runsWith(entries(1, SIZE));
  const each = Math.floor(STREAM_LIMITS.keptBytes / 4 / SIZE);
  const heavy = { entry: () => "x".repeat(each) } as unknown as RunEncoder;
  const windows = windowsOf(runs);
  const open = (run: string): Promise<unknown> => windows.after({ runs, run, encoder: heavy }, 0);
  for (const run of ["a", "b", "c"]) await open(run);
  await open("a");
  assert.equal(runs.reads, 3);
  await open("d");
  await open("a");
  assert.equal(runs.reads, 4, "a was used after b, so b went");
  await open("b");
  assert.equal(runs.reads, 5);
});
