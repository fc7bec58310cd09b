import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { ACP_LIMITS } from "@vidro/core";
import type { Action, Entry, JsonObject } from "@vidro/core";
import { chunk, editorToolCall, RunUpdates } from "./run-updates.ts";

/** An entry with an event. */
function entryOf(event: object): Entry {
  return { seq: 1, at: 0, event } as unknown as Entry;
}

/** A call of a tool. */
function call(tool: string, input: JsonObject, id = "act_1"): Action {
  return { id, tool, input, callId: "c" };
}

/** The words of message chunks, joined as an editor joins them. */
function wordsOf(updates: readonly JsonObject[]): string {
  return updates
    .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
    .map(({ content }) => (content as { readonly text: string }).text)
    .join("");
}

const delta = (from: number, text: string) => ({ type: "model.delta", from, text }) as never;
const replied = (text: string, action?: Action): Entry =>
  entryOf({ type: "model.replied", text, ...(action === undefined ? {} : { action }) });

describe("the words of a run in an editor", () => {
  it("come as they are said, and the entry adds what is left of them", () => {
    const updates = new RunUpdates("/w");
    assert.deepEqual(updates.live(delta(0, "Hel")), [chunk("agent_message_chunk", "Hel")]);
    assert.deepEqual(updates.live(delta(3, "lo")), [chunk("agent_message_chunk", "lo")]);
    assert.deepEqual(updates.entry(replied("Hello there")), [chunk("agent_message_chunk", " there")]);
    assert.deepEqual(updates.entry(entryOf({ type: "run.finished", result: "Hello there" })), []);
  });

  it("are said once when all of them came live", () => {
    const updates = new RunUpdates("/w");
    const shown = [...updates.live(delta(0, "Done.")), ...updates.entry(replied("Done."))];
    assert.equal(wordsOf(shown), "Done.");
  });

  it("that do not follow those before are left out until the entry has all", () => {
    const updates = new RunUpdates("/w");
    assert.deepEqual(updates.live(delta(4, "late")), [], "the beginning was missed");
    assert.deepEqual(updates.entry(replied("the late")), [chunk("agent_message_chunk", "the late")]);
  });

  it("of a reply that failed end with a line break, and the next reply is shown as a whole", () => {
    const updates = new RunUpdates("/w");
    assert.deepEqual(updates.entry(entryOf({ type: "model.failed" })), [], "nothing was shown yet");
    updates.live(delta(0, "I am go"));
    assert.deepEqual(updates.entry(entryOf({ type: "model.failed" })), [chunk("agent_message_chunk", "\n")]);
    assert.deepEqual(updates.live(delta(0, "I did")), [chunk("agent_message_chunk", "I did")]);
    assert.deepEqual(updates.entry(replied("I did it.")), [chunk("agent_message_chunk", " it.")]);
  });

  it("of a reply that differs from what came live stand below it", () => {
    const updates = new RunUpdates("/w");
    updates.live(delta(0, "secret: hunter2"));
    assert.deepEqual(updates.entry(replied("secret: …")), [chunk("agent_message_chunk", "\nsecret: …")]);
  });

  it("of the answer are left out when the last reply had them, and shown when it did not", () => {
    const updates = new RunUpdates("/w");
    updates.entry(replied("  The answer.\n"));
    assert.deepEqual(updates.entry(entryOf({ type: "run.finished", result: "The answer." })), []);
    const other = new RunUpdates("/w");
    assert.equal(wordsOf(other.entry(entryOf({ type: "run.finished", result: { a: 1 } }))), '{"a":1}');
    assert.deepEqual(new RunUpdates("/w").entry(entryOf({ type: "run.finished", result: "" })), []);
  });

  it("are those of the model, however they are cut on the way", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat(40), { maxLength: 5 }), (text, cuts) => {
        const updates = new RunUpdates("/w");
        const places = [...new Set(cuts.map((cut) => Math.min(cut, text.length)))].sort((one, other) => one - other);
        const shown: JsonObject[] = [];
        let from = 0;
        for (const to of places) {
          shown.push(...updates.live(delta(from, text.slice(from, to))));
          from = to;
        }
        shown.push(...updates.entry(replied(text)));
        assert.equal(wordsOf(shown), text);
      }),
    );
  });

  it("are thoughts apart from the answer", () => {
    const shown = new RunUpdates("/w").live({ type: "model.thinking", text: "hm" } as never);
    assert.deepEqual(shown, [chunk("agent_thought_chunk", "hm")]);
    assert.deepEqual(new RunUpdates("/w").live({ type: "action.output" } as never), []);
  });
});

describe("the plan and the end of a run in an editor", () => {
  it("shows the steps as pending and then as completed", () => {
    const updates = new RunUpdates("/w");
    const [made] = updates.entry(entryOf({ type: "plan.made", steps: ["one", "two"] }));
    const entries = (status: string): readonly object[] =>
      ["one", "two"].map((content) => ({ content, priority: "medium", status }));
    assert.deepEqual(made, { sessionUpdate: "plan", entries: entries("pending") });
    const ended = updates.entry(entryOf({ type: "run.finished", result: "ok" }));
    assert.deepEqual(ended.at(-1), { sessionUpdate: "plan", entries: entries("completed") });
  });

  it("tells the fault of a run that failed, and of entries that an editor does not know nothing", () => {
    const fault = { code: "STEP_LIMIT", message: "Too many steps." };
    const failed = new RunUpdates("/w").entry(entryOf({ type: "run.failed", fault }));
    assert.equal(wordsOf(failed), "STEP_LIMIT: Too many steps.");
    for (const type of ["run.started", "question.asked", "something.newer"])
      assert.deepEqual(new RunUpdates("/w").entry(entryOf({ type })), []);
  });
});

describe("a call of a tool in an editor", () => {
  it("is pending, in progress, and then completed with its output or failed with its fault", () => {
    const updates = new RunUpdates("/w");
    const [made] = updates.entry(replied("", call("shell", { command: "ls" })));
    assert.deepEqual([made?.["sessionUpdate"], made?.["status"], made?.["kind"]], ["tool_call", "pending", "execute"]);
    const [begun] = updates.entry(entryOf({ type: "action.started", action: call("shell", {}) }));
    assert.deepEqual(begun, { sessionUpdate: "tool_call_update", toolCallId: "act_1", status: "in_progress" });
    const outcome = { kind: "value", text: "x".repeat(ACP_LIMITS.outputChars + 10), data: null };
    const [done] = updates.entry(entryOf({ type: "action.finished", action: "act_1", outcome }));
    assert.equal(done?.["status"], "completed");
    const [, text = ""] = /"text":"(x*)"/.exec(JSON.stringify(done)) ?? [];
    assert.equal(text.length, ACP_LIMITS.outputChars, "an editor is not flooded");
    for (const type of ["action.failed", "action.unknown"]) {
      const [failed] = updates.entry(entryOf({ type, action: "act_1", fault: { code: "TOOL_FAILED", message: "no" } }));
      assert.equal(failed?.["status"], "failed");
      assert.match(JSON.stringify(failed), /"text":"no"/);
    }
  });

  it("names the place that it is about by an absolute path", () => {
    const locations = (input: JsonObject) => editorToolCall(call("read_file", input), "/w")["locations"];
    assert.deepEqual(locations({ file_path: "a/b.txt" }), [{ path: "/w/a/b.txt" }]);
    assert.deepEqual(locations({ path: "/etc/hosts" }), [{ path: "/etc/hosts" }]);
    assert.deepEqual(locations({ file_path: "../x" }), [{ path: "/x" }]);
    for (const file_path of [7, null, {}]) assert.equal(locations({ file_path }), undefined);
    assert.equal(locations({}), undefined);
  });

  it("shows the change that an edit or a new file makes", () => {
    const change = (tool: string, input: JsonObject) => editorToolCall(call(tool, input), "/w")["content"];
    assert.deepEqual(change("edit", { file_path: "a", old_string: "x", new_string: "y" }), [
      { type: "diff", path: "/w/a", oldText: "x", newText: "y" },
    ]);
    assert.deepEqual(change("write_file", { file_path: "a", content: "all" }), [
      { type: "diff", path: "/w/a", oldText: null, newText: "all" },
    ]);
    assert.equal(change("edit", { file_path: "a", old_string: 1, new_string: "y" }), undefined);
    assert.equal(change("edit", { old_string: "x", new_string: "y" }), undefined, "without a place there is no change");
    assert.equal(change("shell", { path: "a", content: "x" }), undefined);
  });

  it("has a kind for every tool, also one whose name is that of a property of objects", () => {
    const kind = (tool: string) => editorToolCall(call(tool, {}), "/w")["kind"];
    assert.deepEqual(["shell", "read_file", "search_text", "edit", "web_fetch"].map(kind), [
      "execute",
      "read",
      "search",
      "edit",
      "fetch",
    ]);
    for (const tool of ["", "mine", "constructor", "__proto__", "toString"]) assert.equal(kind(tool), "other", tool);
  });
});
