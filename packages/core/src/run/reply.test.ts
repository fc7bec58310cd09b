import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, ModelReplied } from "../event.ts";
import { MODEL_LIMITS } from "../limits.ts";
import type { ModelReply } from "../ports.ts";
import { replyEvents } from "./reply.ts";
import { fold } from "./run.ts";
import type { ToolSpec } from "../tool.ts";
import { ECHO, entriesOf, said, started, stateOf } from "./walk.fixture.ts";

const state = stateOf({ type: "model.called", step: 1, attempt: 1 });
const events = (reply: ModelReply): readonly Event[] => replyEvents(reply, state, () => "act_new");
const replied = (reply: ModelReply): ModelReplied => {
  const [first] = events(reply);
  assert.ok(first?.type === "model.replied");
  return first;
};

test("words alone are the answer", () => {
  const reply = replied(said("The disk is half full."));
  assert.equal(reply.answer, "The disk is half full.");
  assert.equal(reply.action, undefined);
});

test("000-38 of two native calls the first is taken and the second is told back", () => {
  const reply = replied(
    said("", { id: "c1", tool: "echo", input: { text: "a" } }, { id: "c2", tool: "echo", input: { text: "b" } }),
  );
  assert.deepEqual(reply.action, { id: "act_new", tool: "echo", input: { text: "a" }, callId: "c1" });
  assert.equal(reply.told?.length, 1);
  assert.match(reply.told?.[0] ?? "", /Not run: echo .*"b".*One action at a time/);
});

test("000-38 of two actions written as lines the first is taken and the second is told back", () => {
  const reply = replied(
    said('I look.\n{"type":"use_tool","name":"echo","args":{"text":"a"}}\n{"type":"shell","command":"rm -rf x"}'),
  );
  assert.equal(reply.text, "I look.");
  assert.deepEqual(reply.action?.input, { text: "a" });
  assert.match(reply.told?.[0] ?? "", /Not run: shell/);
});

test("an answer that comes together with an action is not the end", () => {
  const reply = replied(said('{"type":"use_tool","name":"echo","args":{}}\n{"type":"done","result":"all good"}'));
  assert.equal(reply.answer, undefined);
  assert.match(reply.told?.[0] ?? "", /Not run: done/);
});

test("a plan beside an action is recorded, and the action is taken", () => {
  const [first, plan] = events(said('{"type":"plan","steps":["look","tell"]}', { id: "c1", tool: "echo", input: {} }));
  assert.ok(first?.type === "model.replied" && first.action?.tool === "echo");
  assert.deepEqual(plan, { type: "plan.made", steps: ["look", "tell"] });
});

test("a line among the words of a reply that makes a call is no order, and the model sees it again", () => {
  const line = '{"type":"shell","command":"rm -rf x"}';
  const reply = replied(said(`Not this:\n${line}\nbut that.`, { id: "c1", tool: "echo", input: {} }));
  assert.deepEqual([reply.text, reply.action?.tool, reply.written], ["Not this:\nbut that.", "echo", line]);
  assert.equal(reply.told, undefined);
});

test("a plan alone means that the model goes on", () => {
  const all = events(said('{"type":"plan","steps":["look"]}'));
  assert.deepEqual(
    all.map((event) => event.type),
    ["model.replied", "plan.made"],
  );
  assert.equal((all[0] as ModelReplied).answer, undefined);
});

test("a plan by a native call is answered under its id", () => {
  const reply = replied(said("", { id: "c9", tool: "plan", input: { steps: ["look"] } }));
  assert.equal(reply.control?.callId, "c9");
  assert.equal(reply.action, undefined);
});

test("every word of the action language is understood", () => {
  const line = (value: object) => replied(said(JSON.stringify(value)));
  assert.deepEqual(line({ type: "ask", question: "which?", options: ["a", "b"] }).question, {
    text: "which?",
    options: ["a", "b"],
  });
  assert.deepEqual(line({ type: "done", result: { files: 3 } }).answer, { files: 3 });
  assert.deepEqual(line({ type: "use_tool", name: "echo", args: { text: "x" } }).action?.input, { text: "x" });
  assert.deepEqual(line({ action: "use_tool", name: "echo", args: {} }).action?.tool, "echo");
  assert.equal(line({ type: "action", action: "shell", command: "ls" }).action?.tool, "shell");
  assert.equal(line({ type: "research", queries: ["x"], maxDocs: 2 }).action?.tool, "research");
  const note = events(said('{"type":"observe","summary":"small"}'))[1];
  assert.deepEqual(note, { type: "note.observed", note: "small" });
  const knowledge = events(said('{"type":"commit_kb","title":"t","tags":["a"],"snippet":"s","status":"sure"}'))[1];
  assert.deepEqual(knowledge, { type: "knowledge.committed", title: "t", tags: ["a"], snippet: "s", status: "sure" });
  const tool = events(
    said('{"type":"tool_spec","name":"disk","description":"d","command":"df","args":["-h","{path}"]}'),
  )[1];
  assert.ok(tool?.type === "tool.proposed");
  assert.deepEqual(tool.tool.argv, ["df", "-h", "{path}"]);
});

test("a native use_tool is a call of the tool that it names, under the id of the model's call", () => {
  const reply = replied({
    ...said("", { id: "c1", tool: "use_tool", input: { name: "echo", args: { text: "a" } } }),
    parts: { items: [{ kind: "call", callId: "c1", tool: "use_tool", input: { name: "echo" }, opaque: { v: {} } }] },
  });
  assert.deepEqual(reply.action, { id: "act_new", tool: "echo", input: { text: "a" }, callId: "c1" });
  assert.deepEqual(reply.parts?.items[0], {
    kind: "call",
    callId: "c1",
    tool: "use_tool",
    input: { name: "echo" },
    opaque: { v: {} },
  });
});

test("a proposal that would replace a tool of the hand, or has no proper name, is told back", () => {
  for (const name of ["echo", "Disk Free", ""]) {
    const all = events(said(JSON.stringify({ type: "tool_spec", name, description: "d", command: "df" })));
    assert.equal(all.length, 1);
    assert.match((all[0] as ModelReplied).told?.[0] ?? "", /Not proposed/);
  }
});

test("a control tool that was not offered does not exist, and without tools every line is prose", () => {
  const inRun = (tools: readonly ToolSpec[], reply: ModelReply): ModelReplied => {
    const called = { type: "model.called", step: 1, attempt: 1 } as const;
    const [first, ...others] = replyEvents(reply, fold(entriesOf([started({ tools }), called]))!, () => "act_new");
    assert.ok(first?.type === "model.replied");
    assert.deepEqual(others, [], "nothing is proposed, planned or kept");
    return first;
  };
  const spec = { name: "touch_it", description: "d", command: "touch", args: ["x"] };
  const line = JSON.stringify({ type: "tool_spec", ...spec });
  const asCall = said("", { id: "c1", tool: "tool_spec", input: spec });
  for (const reply of [said(line), asCall]) assert.equal(inRun([ECHO], reply).refusal?.code, "UNKNOWN_TOOL");
  assert.equal(inRun([], said("", { id: "c1", tool: "plan", input: {} })).refusal?.code, "UNKNOWN_TOOL");
  assert.equal(inRun([], said(line)).answer, line);
});

test("a tool that is not in the belt is refused by name, with the names that are", () => {
  const reply = replied(said("", { id: "c1", tool: "fly", input: {} }));
  assert.equal(reply.refusal?.code, "UNKNOWN_TOOL");
  assert.match(reply.refusal?.message ?? "", /"fly".*echo/);
});

test("arguments that are no JSON object are refused and told", () => {
  assert.equal(replied(said("", { id: "c1", tool: "echo", input: '{"text":' })).refusal?.code, "BAD_ARGUMENTS");
});

test("an empty answer and an endless one are rubbish", () => {
  for (const text of ["", "  \n ", "x".repeat(MODEL_LIMITS.replyChars + 1)]) {
    const [only] = events(said(text));
    assert.ok(only?.type === "model.failed" && only.fault.code === "MODEL_RUBBISH");
  }
});

test("JSON that is not of the action language is prose, fenced actions leave no fence behind", () => {
  const prose = 'The file says:\n{"name":"vidro","type":"module"}';
  assert.equal(replied(said(prose)).answer, prose);
  const fenced = replied(said('Now:\n```json\n{"type":"use_tool","name":"echo","args":{}}\n```'));
  assert.equal(fenced.text, "Now:");
  assert.equal(fenced.action?.tool, "echo");
});

test("arguments in a wrong form are put right by the schema, which is a healing, and go back as the model gave them", () => {
  const parameters = {
    type: "object",
    properties: {
      lines: { type: "integer" },
      all: { type: "boolean" },
      paths: { type: "array", items: { type: "string" } },
      where: { type: "object", properties: { depth: { type: "integer" } } },
      name: { type: "string" },
      limit: { type: "integer" },
    },
  };
  const called = { type: "model.called", step: 1, attempt: 1 } as const;
  const tools = [{ ...ECHO, name: "list", parameters }];
  const inRun = (reply: ModelReply) =>
    replyEvents(reply, fold(entriesOf([started({ tools }), called]))!, () => "act_new");
  const input = { lines: "20", all: "True", paths: "a.txt", where: '{"depth":"2"}', name: 7, limit: null };
  const right = { lines: 20, all: true, paths: ["a.txt"], where: { depth: 2 }, name: "7" };
  const parts = {
    items: [{ kind: "call", callId: "c1", tool: "list", input, opaque: { v: { signature: "s" } } }],
  } as const;
  const [reply, heal, ...others] = inRun({ ...said("", { id: "c1", tool: "list", input }), parts });
  assert.ok(heal?.type === "heal.tried" && heal.healing === "coerce_arguments" && reply?.type === "model.replied");
  assert.deepEqual([reply.action?.input, reply.refusal, others], [right, undefined, []]);
  assert.deepEqual(reply.parts?.items[0], parts.items[0], "the signature is over what the model gave");
  const fenced = inRun(said("", { id: "c1", tool: "list", input: '```json\n{"lines": 3,}\n```' }));
  assert.deepEqual(
    fenced.map(({ type }) => type),
    ["model.replied", "heal.tried"],
  );
  for (const fine of [{ lines: 1 }, { other: "1" }, { lines: "many" }])
    assert.deepEqual(
      inRun(said("", { id: "c1", tool: "list", input: fine })).map(
        (event) => event.type === "model.replied" && event.action?.input,
      ),
      [fine],
      "what is right or in doubt stays",
    );
});
