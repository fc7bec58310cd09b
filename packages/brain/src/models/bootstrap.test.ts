import assert from "node:assert/strict";
import { test } from "node:test";
import { DIGEST_TITLE } from "@vidro/core/run";
import type { Model, ModelCall, ModelEvent, ToolSpec, Turn } from "@vidro/core";
import { bootstrapModel } from "./bootstrap.ts";

const ANSWER: ModelEvent = {
  type: "replied",
  reply: { model: "inner", text: "answer", calls: [], usage: { inputTokens: 1, outputTokens: 1 } },
};
const inner: Model = {
  name: "inner",
  async *call() {
    yield ANSWER;
  },
};
const model = bootstrapModel(inner);
const tool = (name: string): ToolSpec => ({ name, description: "", parameters: {}, idempotent: true });
const ALL = ["working_directory", "read_folder", "read_file", "shell"].map(tool);
const TASK: Turn = { role: "user", text: "do it" };

/** What the model says to a conversation: a call, or that of the model inside. */
async function next(turns: readonly Turn[], tools = ALL): Promise<ModelCall | "inner"> {
  const events = await Array.fromAsync(model.call({ system: "", turns, tools }, new AbortController().signal));
  const [event] = events;
  assert.equal(events.length, 1);
  assert.ok(event?.type === "replied");
  return event === ANSWER ? "inner" : event.reply.calls[0]!;
}

/** The turns of one call and its outcome. */
function turnsOf({ id, tool: name, input }: ModelCall, text: string, failed = false): readonly Turn[] {
  assert.ok(typeof input === "object");
  return [
    { role: "assistant", text: "", action: { id: "act", tool: name, input, callId: id } },
    { role: "tool", callId: id, tool: name, text, failed },
  ];
}

/** Walks through the looks; what each sees is in `sights`, a failure when it is missing. */
async function walk(sights: { readonly [tool: string]: string }, tools = ALL): Promise<readonly Turn[]> {
  let turns: readonly Turn[] = [TASK];
  for (;;) {
    const call = await next(turns, tools);
    if (call === "inner") return turns;
    const seen = sights[call.tool];
    turns = [...turns, ...turnsOf(call, seen ?? "TOOL_FAILED: no", seen === undefined)];
  }
}

const called = (turns: readonly Turn[]): readonly string[] =>
  turns.flatMap((turn) => (turn.role === "tool" ? [turn.tool] : []));

test("it is named after the model that it leads to", () => {
  assert.equal(model.name, "bootstrap:inner");
});

test("004-07 004-08 it looks where it is and what is there, then at what the listing shows", async () => {
  const listing = "drwxr-xr-x 4096 2026-01-01 10:00 .git/\ndrwxr-xr-x 4096 2026-01-01 10:00 .codegen/";
  const sights = { working_directory: "/p", read_folder: listing, read_file: "plan", shell: "log", command: "log" };
  const looks = ["working_directory", "read_folder", "read_file"];
  assert.deepEqual(called(await walk(sights)), [...looks, "shell"]);
  assert.deepEqual(called(await walk(sights, [...ALL, tool("command")])), [...looks, "command"]);
  for (const shown of ['[".git",".codegen"]', ".git\n.codegen", "a .git .codegen b"])
    assert.equal(called(await walk({ ...sights, read_folder: shown })).length, 4, shown);
  for (const other of [".github/ .codegenx x.git .gitignore", "[the folder is empty]"])
    assert.deepEqual(called(await walk({ ...sights, read_folder: other })), looks.slice(0, 2), other);
});

test("it calls only what is in the toolbelt, and goes on when a look fails", async () => {
  assert.deepEqual(called(await walk({}, [])), []);
  assert.deepEqual(called(await walk({}, [tool("read_folder")])), ["read_folder"]);
  assert.deepEqual(called(await walk({ read_folder: ".git" })), ["working_directory", "read_folder", "shell"]);
});

test("it leaves everything to the model inside for ever, once something else was said", async () => {
  const looked = await walk({ working_directory: "/p", read_folder: "a" });
  const [first] = [await next([TASK])];
  assert.ok(first !== "inner");
  const half = [TASK, ...turnsOf(first, "/p")];
  assert.equal(await next([...half, { role: "assistant", text: "a plan" }, { role: "user", text: "Noted." }]), "inner");
  assert.equal(await next([...looked, { role: "assistant", text: "x" }, { role: "user", text: "Noted." }]), "inner");
  const compacted: Turn = { role: "user", text: `do it\n\n${DIGEST_TITLE}\n- looked` };
  assert.equal(await next([compacted]), "inner");
});

test("a conversation that goes on from an earlier one is looked around in anew", async () => {
  const history: readonly Turn[] = [TASK, { role: "assistant", text: "done" }];
  const call = await next([...history, { role: "user", text: "and now?" }]);
  assert.ok(call !== "inner" && call.tool === "working_directory");
});
