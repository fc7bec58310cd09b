import assert from "node:assert/strict";
import { test } from "node:test";
import { aonEntry, aonLive } from "@vidro/core/wire/aon";
import type { Entry } from "@vidro/core";
import { entryLine, liveLine } from "./json-lines.ts";

const RUN = "run_1";

test("an entry is one line that reads back as the AON event, and a terminal finds nothing in it to obey", () => {
  const entry: Entry = { seq: 7, at: 1234, event: { type: "note.observed", note: "two\nlines \u009b2J\u001b[2J" } };
  const line = entryLine(RUN, entry);
  assert.equal(line.indexOf("\n"), line.length - 1);
  assert.ok(!line.includes("\u001b") && !line.includes("\u009b"));
  assert.deepEqual(JSON.parse(line), aonEntry(RUN, entry));
});

test("what is live is a line, too", () => {
  const live = { type: "model.delta", text: "so", from: 0 } as const;
  assert.equal(liveLine(RUN, live, 5), `${JSON.stringify(aonLive(RUN, live, 5))}\n`);
});
