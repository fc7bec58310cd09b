import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, FilePart, RunStarted, Turn } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import { fold } from "@vidro/core/run";
import { startedEvent } from "../stores/journal.fixture.ts";
import { keptEvent, momentIn, openingEntries } from "./opening-entries.ts";

const SECRET = "hunter2-hunter2-hunter2";
const RULES = { redactor: redactor([SECRET]), model: { name: "m", takesPdfs: true } } as const;
const FILE: FilePart = { mediaType: "image/png", data: "aHVudGVyMi1odW50ZXIyLWh1bnRlcjI=", name: `${SECRET}.png` };
const deps = (more: { generation?: number } = {}) => ({ now: () => 1000, chance: () => 0, ...RULES, ...more });
const started = (more: Partial<RunStarted> = {}): RunStarted => ({
  ...(startedEvent("look") as RunStarted),
  summarises: true,
  ...more,
});

/** Whether a secret is anywhere in a value. */
const leaks = (value: unknown): boolean => JSON.stringify(value).includes(SECRET);

test("a run begins with its start, and with what follows from the start alone, at one time", () => {
  const { entries, state } = openingEntries("run_1", started(), deps());
  assert.deepEqual(
    entries.map(({ seq, at, event }) => [seq, at, event.type]),
    [
      [1, 1000, "run.started"],
      [2, 1000, "model.called"],
    ],
  );
  assert.deepEqual(fold(entries), state, "the state is the fold of the entries");
  assert.equal(state.phase.name, "calling-model");
});

test("a run whose budget is spent before it begins ends in its first entries", () => {
  const none = { steps: 0, actions: 1, tokens: 1, wallMs: 1 };
  const { entries, state } = openingEntries("run_1", started({ budget: none }), deps());
  assert.equal(state.phase.name, "ended");
  assert.equal(entries.at(-1)?.event.type, "run.failed");
});

test("a moment is of the first generation and shares no costs unless it is told otherwise", () => {
  assert.deepEqual(momentIn("r", deps()), { run: "r", now: 1000, chance: 0, generation: 1, shared: [] });
  assert.equal(momentIn("r", deps({ generation: 3 })).generation, 3);
});

test("no text of a start keeps a secret: task, history, forked turns, names of files", () => {
  const turns: readonly Turn[] = [
    { role: "user", text: `the key is ${SECRET}`, files: [FILE] },
    { role: "assistant", text: `thanks for ${SECRET}` },
  ];
  const event = started({
    task: `use ${SECRET}`,
    files: [FILE],
    history: turns,
    forked: { run: "run_0", seq: 1, turns, digest: `they said ${SECRET}` },
  });
  const clean = keptEvent(event, RULES);
  assert.equal(leaks(clean), false, JSON.stringify(clean));
  assert.deepEqual(Object.keys(clean).sort(), Object.keys(event).sort());
  assert.equal(clean.files?.[0]?.data, FILE.data, "the bytes are not touched");
  assert.equal(clean.history[0]?.role, "user");
  const { entries } = openingEntries("run_1", event, deps());
  assert.equal(leaks(entries), false);
});

test("an outcome keeps the bytes of its files and no secret in their names or its words", () => {
  const event = {
    type: "action.finished",
    action: "act_1",
    outcome: { kind: "value", value: { text: SECRET }, files: [FILE, { ...FILE, name: undefined }] },
  } as unknown as Event;
  const clean = keptEvent(event, RULES);
  assert.equal(leaks(clean), false, JSON.stringify(clean));
  assert.match(JSON.stringify(clean), new RegExp(FILE.data));
});

test("a signature of a vendor that looks like a secret stays, and the words beside it are clean", () => {
  const parts = {
    from: "a/b",
    items: [
      { kind: "text", text: `say ${SECRET}` },
      { kind: "call", callId: "c", tool: "shell", input: { command: "ls" }, opaque: { v: { signature: SECRET } } },
    ],
  };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const event = { type: "model.replied", model: "m", text: `say ${SECRET}`, usage, parts } as unknown as Event;
  const clean = keptEvent(event, RULES) as unknown as { text: string; parts: typeof parts };
  assert.doesNotMatch(clean.text, new RegExp(SECRET));
  assert.deepEqual(clean.parts.items.at(-1), parts.items[1]);
  assert.equal(leaks(clean.parts.items[0]), false);
});

test("an event without a secret is the same event", () => {
  const events: readonly Event[] = [
    started({ files: [{ mediaType: "image/png", data: "AAAA" }] }),
    { type: "note.observed", note: "plain" },
    { type: "run.finished", result: { a: [1, null, "x"] } },
  ];
  for (const event of events) assert.deepEqual(keptEvent(event, RULES), event);
});

test("a PDF is kept for a model that takes it, unless its text has a secret; other files stay", () => {
  const pdf: FilePart = { mediaType: "application/pdf", data: "JVBERi0=" };
  const image: FilePart = { mediaType: "image/png", data: "AAAA" };
  const filesAfter = (task: string, takesPdfs: boolean): readonly FilePart[] | undefined =>
    keptEvent(started({ task, files: [pdf, image] }), { ...RULES, model: takesPdfs ? RULES.model : { name: "m" } })
      .files;
  assert.deepEqual(filesAfter("read it", true), [pdf, image]);
  assert.deepEqual(filesAfter("read it", false), [image]);
  assert.deepEqual(filesAfter(`its text: ${SECRET}`, true), [image]);
});
