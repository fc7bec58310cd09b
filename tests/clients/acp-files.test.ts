import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, suite, test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeAnswer, FakeOpenAi } from "../support/fake-openai.ts";
import { openEditor } from "./acp.client.js";

/* The official client as an editor whose buffers are not saved: an agent reads and writes them through the editor. */

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** A model that reads, edits or undoes, as its task says, and then repeats what it was told. */
const scripted: FakeAnswer = (response, { body }) => {
  const { messages } = body as unknown as { messages: readonly Message[] };
  const task = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
  const last = messages.at(-1);
  if (last?.role === "tool") return text(`Told: ${JSON.stringify(last.content)}`)(response);
  const call = (name: string, input: object): void => calls({ id: "c", name, input: JSON.stringify(input) })(response);
  const action = /act_[\w-]+/.exec(task)?.[0];
  if (action !== undefined) return call("undo", { action });
  if (task.includes("read")) return call("read_file", { file_path: "greeting.txt" });
  return call("edit", { file_path: "greeting.txt", old_string: "hello", new_string: "good day" });
};

suite("files of an editor that vidro acp works for", () => {
  let fake: FakeOpenAi;
  let stage: Stage;
  let file: string;
  /** Texts of the editor by path. */
  const buffers = new Map<string, string>();
  const asked: { readonly toolCall: { readonly title?: string } }[] = [];

  const permit = async (
    params: (typeof asked)[number] & { options: readonly { optionId: string; kind: string }[] },
  ) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: params.options[0]?.optionId } };
  };
  const read = ({ path }: { path: string }): string => {
    const shown = buffers.get(path);
    if (shown === undefined) throw new Error(`no buffer ${path}`);
    return shown;
  };
  const write = ({ path, content }: { path: string; content: string }): unknown => buffers.set(path, content) && {};
  const open = (files: object, { flags = [] as readonly string[], cwd = stage.workspace } = {}) => {
    const { argv, env } = stage.command;
    return openEditor({ argv: [...argv, "acp", ...flags], env, cwd, permit, files });
  };
  /** The words of an editor's agent, and what its actions came to. */
  const told = ({ updates }: { updates: readonly object[] }): string => JSON.stringify(updates);
  /** The actions of an editor's agent. */
  const actionsOf = ({ updates }: { updates: readonly { sessionUpdate: string; toolCallId: string }[] }) =>
    updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call").map(({ toolCallId }) => toolCallId);

  before(async () => {
    fake = await fakeOpenAi(scripted);
    stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
    file = join(stage.workspace, "greeting.txt");
  });

  beforeEach(() => {
    writeFileSync(file, "saved: hello");
    buffers.clear();
    buffers.set(file, "unsaved: hello");
    asked.length = 0;
  });

  after(async () => {
    await stage[Symbol.asyncDispose]();
    await fake.close();
  });

  test("an unsaved text is read, a permitted edit comes into the buffer and not to the disk, and undo puts it back", async () => {
    const editor = open({ read, write });
    await editor.initialize();
    const { sessionId } = await editor.begin();
    await editor.prompt(sessionId, "Please read it.");
    assert.match(told(editor), /unsaved: hello/);
    assert.equal(asked.length, 0, "reading is allowed by policy");
    await editor.prompt(sessionId, "Please change it.");
    assert.equal(asked.length, 1, "policy asks as it does for files on disk");
    assert.equal(buffers.get(file), "unsaved: good day");
    assert.equal(readFileSync(file, "utf8"), "saved: hello");
    await editor.prompt(sessionId, `Please undo ${actionsOf(editor).at(-1)}.`);
    assert.equal(buffers.get(file), "unsaved: hello");
    assert.equal(readFileSync(file, "utf8"), "saved: hello");
    assert.equal(await editor.close(), 0);
  });

  test("an editor that offers no files, or only to write, leaves them to the disk; one that only reads is not overtaken", async () => {
    for (const files of [{}, { write }]) {
      const editor = open(files);
      await editor.initialize();
      await editor.prompt((await editor.begin()).sessionId, "Please change it.");
      assert.equal(readFileSync(file, "utf8"), "saved: good day");
      assert.equal(buffers.get(file), "unsaved: hello");
      await editor.close();
      writeFileSync(file, "saved: hello");
    }
    const reader = open({ read });
    await reader.initialize();
    await reader.prompt((await reader.begin()).sessionId, "Please change it.");
    assert.match(told(reader), /changes in the editor that are not saved/);
    assert.equal(readFileSync(file, "utf8"), "saved: hello");
    await reader.close();
  });

  test("the editor is asked for paths under the folder that it gave, also when that is a link", async () => {
    const linked = join(stage.home, "..", "linked");
    symlinkSync(stage.workspace, linked);
    buffers.set(join(linked, "greeting.txt"), "by the link: hello");
    const editor = open({ read, write }, { cwd: linked });
    await editor.initialize();
    await editor.prompt((await editor.begin()).sessionId, "Please change it.");
    assert.equal(buffers.get(join(linked, "greeting.txt")), "by the link: good day");
    assert.equal(buffers.get(file), "unsaved: hello");
    await editor.close();
  });

  test("an editor that fails in the middle of a write leaves the outcome unknown, and a person is asked about it", async () => {
    const broken = ({ path, content }: { path: string; content: string }): never => {
      buffers.set(path, content.slice(0, 3));
      throw new Error("the buffer is locked");
    };
    const editor = open({ read, write: broken });
    await editor.initialize();
    await editor.prompt((await editor.begin()).sessionId, "Please change it.");
    assert.match(told(editor), /The editor may have written/);
    assert.equal(asked.length, 2, "one question about the edit, one about its outcome");
    assert.equal(readFileSync(file, "utf8"), "saved: hello");
    await editor.close();
  });

  test("an editor that refuses a read or a write and changes nothing makes the action fail, and the agent is told", async () => {
    const refuse = (): never => {
      throw new Error("no such buffer today");
    };
    const deaf = open({ read: refuse, write });
    await deaf.initialize();
    await deaf.prompt((await deaf.begin()).sessionId, "Please read it.");
    assert.match(told(deaf), /The editor did not give/);
    await deaf.close();
    const still = open({ read, write: refuse });
    await still.initialize();
    await still.prompt((await still.begin()).sessionId, "Please change it.");
    assert.match(told(still), /The editor did not write/);
    assert.deepEqual([buffers.get(file), readFileSync(file, "utf8")], ["unsaved: hello", "saved: hello"]);
    await still.close();
  });

  test("an editor that never answers a write is stopped with its turn, and one that goes away ends the command", async () => {
    let writing = Promise.withResolvers<void>();
    const never = (): Promise<never> => (writing.resolve(), new Promise(() => undefined));
    const editor = open({ read, write: never });
    await editor.initialize();
    const { sessionId } = await editor.begin();
    const turn = editor.prompt(sessionId, "Please change it.");
    await writing.promise;
    await editor.cancel(sessionId);
    assert.equal((await turn).stopReason, "cancelled");
    writing = Promise.withResolvers<void>();
    const lost = editor.prompt(sessionId, "Please change it.").catch(() => "lost");
    await writing.promise;
    assert.equal(await editor.close(), 0);
    await lost;
    const [left = "", stopped = ""] = await runs();
    assert.match((await stage.run("runs", "show", stopped, "--json")).stdout, /OUTCOME_UNKNOWN/);
    const attached = await stage.run("attach", left);
    assert.match(attached.stderr, /its outcome cannot be known/, "the order is not carried out again on disk");
    assert.match((await stage.run("runs", "show", left, "--json")).stdout, /The editor is gone/);
    assert.equal(readFileSync(file, "utf8"), "saved: hello");
  });

  test("beside a daemon runs are the daemon's and files those on disk; with --own both are the command's", async () => {
    await using things = new AsyncDisposableStack();
    things.use(await DaemonProcess.up(stage, { flags: ["--southbound-port", "0"] }));
    const plain = open({ read, write });
    await plain.initialize();
    await plain.prompt((await plain.begin()).sessionId, "Please change it.");
    assert.deepEqual([buffers.get(file), readFileSync(file, "utf8")], ["unsaved: hello", "saved: good day"]);
    await plain.close();
    const own = open({ read, write }, { flags: ["--own"] });
    await own.initialize();
    await own.prompt((await own.begin()).sessionId, "Please change it.");
    assert.deepEqual([buffers.get(file), readFileSync(file, "utf8")], ["unsaved: good day", "saved: good day"]);
    await own.close();
    const verified = await stage.run("audit", "verify");
    assert.equal(verified.code, 0, `two brains wrote one journal: ${verified.stderr}`);
  });

  /** The ids of the runs, newest first. */
  async function runs(): Promise<readonly string[]> {
    const { stdout } = await stage.run("runs", "list", "--json");
    return stdout.match(/(?<="run_id":")[^"]+/g) ?? [];
  }
});
