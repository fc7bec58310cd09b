import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeOpenAi } from "../support/fake-openai.ts";

/*
 * A conversation of three tasks: the first reads a file, the second is about something else, and the third can only be
 * answered from the tool's output of the first.
 */

const TASKS = ["read the note", "say hello", "which number was in the note?"] as const;
const NUMBER = "71934";

/** A model that knows only what stands in its prompt. */
async function readingModel(t: TestContext): Promise<FakeOpenAi> {
  const server = await fakeOpenAi((response, { body }) => {
    const messages = messagesIn(body);
    const task = messages.findLastIndex(({ role }) => role === "user");
    const asked = wordsOf(messages[task]);
    const isOutput = (message: JsonObject): boolean => message["role"] === "tool" && wordsOf(message).includes(NUMBER);
    const isCalled = messages.slice(task).some(isOutput);
    const output = messages.find(isOutput);
    if (asked.startsWith(TASKS[0]) && !isCalled)
      return calls({ id: "c1", name: "read_file", input: `{"file_path":"note.txt"}` })(response);
    if (asked.startsWith(TASKS[2])) return text(output === undefined ? "I do not know" : `It was ${NUMBER}.`)(response);
    text(asked.startsWith(TASKS[0]) ? "I have read it." : "Hello.")(response);
  });
  t.after(() => server.close());
  return server;
}

function messagesIn(body: JsonObject): readonly JsonObject[] {
  return Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : [];
}

function wordsOf(message: JsonObject | undefined): string {
  return typeof message?.["content"] === "string" ? message["content"] : "";
}

async function stageOf(model: FakeOpenAi): Promise<Stage> {
  const stage = await Stage.set({ VIDRO_MODEL: "compatible/remembering", VIDRO_MODEL_URL: model.url });
  writeFileSync(join(stage.workspace, "note.txt"), `The number is ${NUMBER}.\n`);
  return stage;
}

test("vidro alone answers the third task from the tool's output of the first", async (t) => {
  const model = await readingModel(t);
  await using stage = await stageOf(model);
  const terminal = stage.terminal();
  await terminal.sees("› ");
  for (const [task, answer] of [
    [TASKS[0], "I have read it."],
    [TASKS[1], "Hello."],
    [TASKS[2], `It was ${NUMBER}.`],
  ] as const) {
    terminal.type(`${task}\r`);
    await terminal.sees(answer);
    await terminal.sees("› ");
  }
  terminal.type("exit\r");
  assert.equal(await terminal.ends(), 0);
});

test("vidro code answers the third task from the tool's output of the first, also in a new process", async (t) => {
  const model = await readingModel(t);
  await using stage = await stageOf(model);
  const [first, second, third] = TASKS;
  assert.equal((await stage.run("code", first)).stdout, "I have read it.\n");
  const terminal = stage.terminal("code", "--continue");
  await terminal.sees("› ");
  terminal.type(`${second}\r`);
  await terminal.sees("Hello.");
  await terminal.sees("› ");
  terminal.type(`${third}\r`);
  await terminal.sees(`It was ${NUMBER}.`);
  await terminal.sees("› ");
  terminal.type("exit\r");
  assert.equal(await terminal.ends(), 0);
});

test("a stored conversation remembers a tool's output when the brain is killed between its tasks", async (t) => {
  const model = await readingModel(t);
  await using stage = await stageOf(model);
  const answers: unknown[] = [];
  let thread: string | undefined;
  for (const task of TASKS) {
    await using daemon = await DaemonProcess.up(stage);
    thread ??= ((await (await post(daemon, "/v1/conversations", {})).json()) as { thread_uuid: string }).thread_uuid;
    const body = { model: "bunny", messages: [{ role: "user", content: task }] };
    const reply = (await (await post(daemon, `/v1/conversations/${thread}/messages`, body)).json()) as {
      choices?: { message: { content: string } }[];
    };
    answers.push(reply.choices?.[0]?.message.content ?? reply);
    assert.equal(await daemon.end("SIGKILL"), null);
  }
  assert.deepEqual(answers, ["I have read it.", "Hello.", `It was ${NUMBER}.`]);
  const prompts = model.requests.map(({ body }) => JSON.stringify(messagesIn(body)).slice(0, -1));
  for (const [index, prompt] of prompts.slice(1).entries())
    assert.ok(prompt.startsWith(prompts[index]!), `prompt ${index + 2} begins with the one before it`);
});

function post(daemon: DaemonProcess, path: string, body: unknown): Promise<Response> {
  return daemon.ask(path, { method: "POST", body: JSON.stringify(body) });
}

test("the next task of a thread begins with the same facts, and is told what has changed since", async (t) => {
  const model = await readingModel(t);
  await using stage = await stageOf(model);
  writeFileSync(join(stage.workspace, "AGENTS.md"), "Speak of numbers only.\n");
  const git = (...args: readonly string[]): Buffer =>
    execFileSync("git", ["-C", stage.workspace, "-c", "user.name=a", "-c", "user.email=a@example.org", ...args]);
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "first");
  const [first] = lines((await stage.run("run", "--json", TASKS[0])).stdout);
  const { thread } = (first?.["body"] ?? {}) as { readonly thread: string };
  git("checkout", "-q", "-b", "topic");
  assert.equal((await stage.run("run", "--thread", thread, TASKS[2])).stdout, `It was ${NUMBER}.\n`);
  const [before = [], after = []] = [model.requests[0], model.requests.at(-1)].map((one) =>
    messagesIn(one?.body ?? {}),
  );
  const system = wordsOf(before[0]);
  assert.match(
    system,
    /Where you work:\n- System: .+\n- Shell: .+\n- Day .+\n- Git .+: main[^]*Speak of numbers only\./,
  );
  assert.equal(wordsOf(after[0]), system);
  assert.match(wordsOf(after.at(-1)), /^which number[^]*What has changed since[^]*topic/);
});
