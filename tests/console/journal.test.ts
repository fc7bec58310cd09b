import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import type { ServerResponse } from "node:http";
import type { Entry, Event } from "@vidro/core";
import { started } from "../../packages/core/src/run/walk.fixture.ts";
import { begin, cursorOf, line, scriptedBrain } from "../../packages/client/src/scripted-brain.fixture.ts";
import type { ScriptedBrain } from "../../packages/client/src/scripted-brain.fixture.ts";

/* The journal of a page, without a browser: what it asks the brain for, and what it shows of the answer. */

interface View {
  readonly entries: readonly Entry[];
  readonly reply: string;
  readonly thinking: string;
  readonly output: string;
  readonly fault: string | undefined;
}

interface Journal {
  view(): View;
  subscribe(listener: () => void): () => void;
  close(): void;
}

let brain: ScriptedBrain;
let open: (id: string) => Journal;
/** What a request for events is answered with. */
let script: (response: ServerResponse, after: number) => void;

const ask = globalThis.fetch;

before(async () => {
  brain = await scriptedBrain((response, request) => {
    if (request.url.pathname === "/healthz") response.end("ok");
    else script(response, cursorOf(request));
  });
  Object.assign(globalThis, {
    location: { origin: brain.url },
    requestAnimationFrame: (draw: () => void) => setImmediate(draw),
    // A page names the brain by paths alone.
    fetch: (target: string | URL, init?: RequestInit) => ask(new URL(target, brain.url), init),
  });
  // By its address: the types of a browser are not those of the tests.
  const path = new URL("../../packages/console/src/brain/run-journal.ts", import.meta.url).href;
  const { RunJournal } = (await import(path)) as { RunJournal: new (id: string) => Journal };
  open = (id) => new RunJournal(id);
});

after(async () => {
  globalThis.fetch = ask;
  await brain.stop();
});

const entry = (seq: number, event: object): Entry => ({ seq, at: seq, event: event as Event });
const START = entry(1, started());
const CALLED = entry(2, { type: "model.called", step: 1, attempt: 1 });
const live = (event: object): string => line({ after: 2, live: event });

/** Waits until the journal shows what is looked for. */
async function shows(journal: Journal, isThere: (view: View) => boolean): Promise<View> {
  const changed = new EventTarget();
  const forget = journal.subscribe(() => changed.dispatchEvent(new globalThis.Event("changed")));
  while (!isThere(journal.view())) await once(changed, "changed");
  forget();
  return journal.view();
}

test("a reply grows by the pieces that join to it, and shows nothing behind one that is missing", async () => {
  script = (response) => {
    const delta = (text: string, from: number): string => live({ type: "model.delta", text, from });
    const lines = [line(START), line(CALLED), delta("Do not ", 0), delta("the disk.", 13)];
    begin(response).write([...lines, live({ type: "model.thinking", text: "hm", from: 0 })].join(""));
  };
  const journal = open("run_1");
  const { reply } = await shows(journal, ({ thinking }) => thinking === "hm");
  assert.equal(reply, "Do not ");
  journal.close();
});

test("a reply begins anew with each call of the model", async () => {
  script = (response) => {
    const delta = (text: string): string => live({ type: "model.delta", text, from: 0 });
    const again = entry(3, { type: "model.called", step: 1, attempt: 2 });
    begin(response).write([line(START), line(CALLED), delta("first"), line(again), delta("second")].join(""));
  };
  const journal = open("run_2");
  const { entries } = await shows(journal, ({ reply }) => reply === "second");
  assert.equal(entries.length, 3);
  journal.close();
});

test("a journal that is cut off goes on behind its last entry when the brain is back", async () => {
  const asked: number[] = [];
  script = (response, cursor) => {
    asked.push(cursor);
    const all = [START, CALLED, entry(3, { type: "run.aborted", reason: "enough" })];
    if (asked.length === 1) begin(response).write(line(all[0]), () => response.destroy());
    else begin(response).end(all.slice(cursor).map(line).join(""));
  };
  const journal = open("run_3");
  const { entries } = await shows(journal, (view) => view.entries.length === 3);
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    [1, 2, 3],
  );
  assert.deepEqual(asked, [0, 1]);
  journal.close();
});

test("a refusal is shown in the brain's words", async () => {
  script = (response) =>
    void response
      .writeHead(404, { "content-type": "application/json" })
      .end('{"code":"NOT_FOUND","error":"No such run."}');
  const journal = open("run_4");
  const { fault } = await shows(journal, (view) => view.fault !== undefined);
  assert.equal(fault, "No such run.");
  journal.close();
});
