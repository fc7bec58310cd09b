import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, ModelReply } from "@vidro/core";
import { startAgentServer, readFrameData, linesOf } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { startExecutorServer } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";
import { scriptedModel } from "../support/scenario.ts";

/* What a person is asked to approve is the whole plan, on every wire, in the language of the task. */

const said = (words: string): ModelReply => ({
  model: "scripted",
  text: words,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const TOOLS = ["GetWorkingDirectory", "ReadFolder", "ReadFile", "WriteFile", "Shell"];
const look = folderOf({ "main.py": "print(1)" });
const order = (command: string): ModelReply => said(JSON.stringify({ type: "shell", command }));
/** A line whose harm is at its end, behind more than anybody would show on one line. */
const LONG = `echo ${"x".repeat(2500)}; echo THE-END >> effects.txt`;

async function generate(end: AgentServer, prompt: string, accept: string): Promise<Response> {
  const body = { session_id: await end.session(), prompt };
  return end.ask("POST", "/agent/generate", { body, headers: { accept } });
}

test("000 an ask carries the whole plan: command, folder, access, host and action, however long", async (t) => {
  const end = await startAgentServer(t, scriptedModel([order(LONG), said("Fine.")]));
  const response = await generate(end, "make the effect", "text/event-stream");
  const run = response.headers.get("x-run-id") ?? "";
  const all = await readFrameData(response, (data) =>
    data["type"] === "ask"
      ? end.ask("POST", `/v1/runs/${run}/answers`, { body: { answer: "no", question: data["question_id"] ?? "" } })
      : undefined,
  );
  const ask = all.find(({ type }) => type === "ask") ?? {};
  const words = ask["question"] as string;
  for (const part of [LONG, end.workspace, "access: host", "host: local", ask["action_id"] as string, "why: "])
    assert.ok(words.includes(part), `${part.slice(-40)} is shown`);
  const plan = ask["plan"] as JsonObject;
  assert.deepEqual([plan["command"], plan["cwd"], ask["hand"]], [LONG, end.workspace, "local"]);
  const started = all.find(({ type }) => type === "action");
  assert.equal(started, undefined);
});

test("through the glass box the question is whole, too", async (t) => {
  const end = await startAgentServer(t, scriptedModel([order(LONG), said("Fine.")]));
  const response = await generate(end, "make the effect", "application/x-ndjson, application/json;q=0.1");
  const run = response.headers.get("x-run-id") ?? "";
  for await (const followed of end.runs.follow(run)) {
    if ("entry" in followed && followed.entry.event.type === "question.asked")
      await end.runs.answer(run, { text: "no", by: "test", question: followed.entry.event.id });
  }
  const lines = await linesOf(response);
  const asked = lines.find(({ event }) => event === "question.asked");
  assert.match(JSON.stringify(asked?.["message"]), /THE-END/);
});

test("a question is asked in the language of its task, and what it is about stays as it is", async (t) => {
  const words: string[] = [];
  for (const task of ["por favor, apague os arquivos da pasta", "por favor, borra los archivos de la carpeta"]) {
    const end = await startAgentServer(t, scriptedModel([order("rm -r build")]));
    const asked = (await (await generate(end, task, "application/json")).json()) as JsonObject;
    words.push(asked["result"] as string);
  }
  assert.match(words[0]!, /^Isto pode ser feito\?\nshell: rm -r build\nem: /);
  assert.match(words[1]!, /^¿Se puede hacer esto\?\nshell: rm -r build\nen: /);
});

test("000 a file's whole new content is shown before it is written", async (t) => {
  const content = `${"line\n".repeat(600)}THE-END`;
  const write = JSON.stringify({ type: "use_tool", name: "write_file", args: { file_path: "/etc/motd", content } });
  const end = await startAgentServer(t, scriptedModel([said(write)]));
  const asked = (await (await generate(end, "write it", "application/json")).json()) as JsonObject;
  assert.match(asked["result"] as string, /THE-END/);
});

test("004 a tool_call_request previews the whole plan", async (t) => {
  const end = await startExecutorServer(
    t,
    calls({ id: "m1", name: "shell", input: JSON.stringify({ command: LONG }) }),
    text("Fine."),
  );
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(look).shake({ initial_prompt: "make the effect", known_tools: TOOLS });
  const { payload } = await executor.hears("tool_call_request");
  assert.ok((payload["preview"] as string).includes(LONG));
  assert.ok((payload["preview"] as string).includes(payload["tool_call_id"] as string));
});
