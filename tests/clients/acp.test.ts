import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, hang, text } from "../support/fake-openai.ts";
import type { FakeAnswer, FakeOpenAi } from "../support/fake-openai.ts";
import { openEditor } from "./acp.client.js";

/* An editor that speaks the Agent Client Protocol drives an agent, by the official client. */

interface Update {
  readonly sessionUpdate: string;
  readonly content?:
    | { readonly text?: string }
    | readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly status?: string;
  readonly kind?: string;
  readonly toolCallId?: string;
  readonly locations?: readonly { readonly path: string }[];
}

interface Permission {
  readonly toolCall: { readonly toolCallId: string; readonly content?: readonly { readonly type: string }[] };
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}

/** A model that edits a file, asks for a colour, never answers, or greets, as its task says. */
const scripted: FakeAnswer = (response, { body }) => {
  const { messages } = body as unknown as { messages: readonly { role: string; content: unknown }[] };
  const task = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
  if (task.includes("wait")) return hang(response);
  if (messages.at(-1)?.role === "tool") return text("The greeting ", "is changed.")(response);
  if (task.includes("greeting")) {
    const input = { file_path: "greeting.txt", old_string: "hello", new_string: "good day" };
    return calls({ id: "e", name: "edit", input: JSON.stringify(input) })(response);
  }
  if (task.includes("colour")) return calls({ id: "a", name: "ask", input: '{"question":"Which one?"}' })(response);
  return text("Hello ", "there.")(response);
};

suite("vidro acp", () => {
  let fake: FakeOpenAi;
  let stage: Stage;
  let daemon: DaemonProcess;
  const asked: Permission[] = [];
  let choice = "allow_once";

  const permit = async (params: Permission): Promise<object> => {
    asked.push(params);
    const option = params.options.find(({ kind }) => kind === choice);
    return { outcome: { outcome: "selected", optionId: option?.optionId } };
  };
  const open = () => {
    const { argv, env } = stage.command;
    return openEditor({ argv: [...argv, "acp"], env, cwd: stage.workspace, permit });
  };
  const words = (updates: readonly Update[], kind: string): string =>
    updates
      .filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map(({ content }) => (content !== undefined && "text" in content ? content.text : ""))
      .join("");

  before(async () => {
    fake = await fakeOpenAi(scripted);
    stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
    daemon = await DaemonProcess.up(stage, { flags: ["--port", "0", "--southbound-port", "0"] });
    writeFileSync(join(stage.workspace, "greeting.txt"), "hello world");
    mkdirSync(join(stage.workspace, ".claude/commands"), { recursive: true });
    writeFileSync(join(stage.workspace, ".claude/commands/salute.md"), "---\ndescription: Salutes\n---\nSalute $1.");
  });

  after(async () => {
    await daemon[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
    await fake.close();
  });

  test("the official client drives a task with an edit and a permission, cancels one, and loads the session again", async () => {
    const editor = open();
    const about = await editor.initialize();
    assert.equal(about.agentCapabilities.loadSession, true);
    const { sessionId } = await editor.begin();
    const edited = await editor.prompt(sessionId, "Change the greeting.");
    assert.equal(edited.stopReason, "end_turn");
    assert.equal(readFileSync(join(stage.workspace, "greeting.txt"), "utf8"), "good day world");
    const updates: readonly Update[] = editor.updates;
    const call = updates.find(({ sessionUpdate }) => sessionUpdate === "tool_call");
    const path = join(stage.workspace, "greeting.txt");
    assert.deepEqual(call?.content, [{ type: "diff", path, oldText: "hello", newText: "good day" }]);
    assert.deepEqual([call?.kind, call?.locations?.[0]?.path], ["edit", path]);
    assert.deepEqual(
      updates.filter(({ toolCallId }) => toolCallId === call?.toolCallId).map(({ status }) => status),
      ["pending", "in_progress", "completed"],
    );
    assert.equal(asked[0]?.toolCall.toolCallId, call?.toolCallId);
    assert.equal(asked[0]?.toolCall.content?.[0]?.type, "diff");
    assert.equal(words(updates, "agent_message_chunk"), "The greeting is changed.");

    const waiting = editor.prompt(sessionId, "Please wait.");
    await until("the run is under way", async () => (await runs()).some(({ task }) => task === "Please wait."));
    await editor.cancel(sessionId);
    assert.equal((await waiting).stopReason, "cancelled");
    await until("the run is stopped", async () => (await runs())[0]?.status === "aborted");
    assert.equal(await editor.close(), 0);

    const again = open();
    await again.initialize();
    await again.load(sessionId);
    assert.equal(words(again.updates, "user_message_chunk"), "Change the greeting.Please wait.");
    assert.equal(words(again.updates, "agent_message_chunk"), "The greeting is changed.");
    assert.ok((again.updates as readonly Update[]).some(({ status }) => status === "completed"));
    assert.equal((await again.prompt(sessionId, "Say hello.")).stopReason, "end_turn");
    assert.match(words(again.updates, "agent_message_chunk"), /Hello there\.$/);
    const [latest, , first] = await runs();
    assert.equal(latest?.thread, first?.thread, "the session is one conversation");
    assert.equal(await again.close(), 0);
  });

  test("a refused permission leaves the file; a question is answered by the next prompt; a wrong session is refused", async () => {
    writeFileSync(join(stage.workspace, "greeting.txt"), "hello world");
    choice = "reject_once";
    const editor = open();
    await editor.initialize();
    const { sessionId } = await editor.begin();
    assert.equal((await editor.prompt(sessionId, "Change the greeting.")).stopReason, "end_turn");
    assert.equal(readFileSync(join(stage.workspace, "greeting.txt"), "utf8"), "hello world");
    assert.equal((await editor.prompt(sessionId, "Choose a colour.")).stopReason, "end_turn");
    assert.match(words(editor.updates, "agent_message_chunk"), /Which one\?$/);
    assert.equal((await editor.prompt(sessionId, "Green.")).stopReason, "end_turn");
    assert.equal((await runs()).filter(({ task }) => task === "Green.").length, 0, "it was an answer and no task");
    await assert.rejects(editor.prompt("acp_none", "hello"), /There is no session acp_none/);
    const listed = (editor.updates as readonly Update[]).find(
      (one) => one.sessionUpdate === "available_commands_update",
    );
    assert.match(JSON.stringify(listed), /"name":"salute","description":"Salutes \(of the project\)"/);
    assert.equal((await editor.prompt(sessionId, "/salute Ada")).stopReason, "end_turn");
    assert.match(
      (await runs())[0]?.task ?? "",
      /^Salute Ada\.\n\n\[These words are the command \/salute of the project/,
    );
    const image = { type: "image", mimeType: "image/gif", data: "R0lGODlhAwACAIAAAP8AAAAAACwAAAAAAwACAAACAoRRADs=" };
    assert.equal((await editor.prompt(sessionId, "Look at this picture.", image)).stopReason, "end_turn");
    assert.match(JSON.stringify(fake.requests.at(-1)?.body), /image\/gif is not shown/);
    const broken = { ...image, data: "bm8=" };
    await assert.rejects(editor.prompt(sessionId, "Look at this picture.", broken), /not an image/);
    await editor.close();
  });

  async function runs(): Promise<readonly { task: string; status: string; thread: string }[]> {
    const { runs: heads } = (await (await daemon.ask("/v1/runs?limit=20")).json()) as {
      runs: { task: string; status: string; thread: string }[];
    };
    return heads;
  }
});
