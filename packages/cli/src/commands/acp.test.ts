import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { ACP_LIMITS, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { ended, Stage } from "../stage.fixture.ts";

/** An editor at the ends of `vidro acp`: it sends lines, and keeps what it is sent. */
class PlayedEditor {
  readonly heard: JsonObject[] = [];
  readonly #child: ReturnType<Stage["start"]>;
  readonly #waiting = new Set<() => void>();
  #last = 0;
  /** What the editor answers when it is asked for a permission. */
  permission: (options: readonly { readonly optionId: string; readonly kind: string }[]) => JsonObject = () => ({});
  /** What the editor answers when it is asked for a file. */
  files: (method: string) => JsonObject = () => ({});

  constructor(stage: Stage) {
    this.#child = stage.start("acp");
    this.#child.stderr.resume();
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#hear(JSON.parse(line) as JsonObject));
  }

  /** Sends a line as it is. */
  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Sends a notification. */
  tell(method: string, params: Json): void {
    this.say(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Sends a request and waits for its answer. */
  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    const id = (this.#last += 1);
    this.say(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return this.hears((one) => one["id"] === id && one["method"] === undefined);
  }

  /** The first message of a kind, when it has come. */
  async hears(isMeant: (message: JsonObject) => boolean): Promise<JsonObject> {
    for (;;) {
      const found = this.heard.find(isMeant);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** A new session in a folder. */
  async begin(cwd: string): Promise<string> {
    const { result } = await this.ask("session/new", { cwd, mcpServers: [] });
    if (!isObject(result) || typeof result["sessionId"] !== "string") throw new Error("no session");
    return result["sessionId"];
  }

  prompt(sessionId: string, text: string): Promise<JsonObject> {
    return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Closes its side; gives the exit code of the agent. */
  async leave(): Promise<number | null> {
    const end = ended(this.#child);
    this.#child.stdin.end();
    return (await end).code;
  }

  #hear(message: JsonObject): void {
    this.heard.push(message);
    if (message["method"] === "session/request_permission") {
      const { options } = message["params"] as { readonly options: never };
      this.say(JSON.stringify({ jsonrpc: "2.0", id: message["id"], ...this.permission(options) }));
    }
    const { method, id } = message;
    if (typeof method === "string" && method.startsWith("fs/"))
      this.say(JSON.stringify({ jsonrpc: "2.0", id, ...this.files(method) }));
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** The error of an answer; its message is empty when there is none. */
function errorOf(answer: JsonObject): { readonly code: Json; readonly message: string; readonly data: Json } {
  const { code = null, message, data = null } = isObject(answer["error"]) ? answer["error"] : {};
  return { code, message: typeof message === "string" ? message : "", data };
}

/** A stage whose model wants to make a file and is done. */
async function stageOf(things: AsyncDisposableStack): Promise<Stage> {
  const model = things.use(await scriptedModel(shellLine("touch made"), doneLine("all is well")));
  return things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url }));
}

describe("vidro acp", () => {
  it("answers every line: rubbish, unknown methods and wrong parameters are errors that say what is wrong", async () => {
    await using things = new AsyncDisposableStack();
    const stage = await stageOf(things);
    const editor = new PlayedEditor(stage);
    for (const line of ["no json", "[]", "7", '{"jsonrpc":"2.0"}']) editor.say(line);
    await editor.hears(
      (one) => editor.heard.filter((other) => errorOf(other).code === -32700).length >= 4 && "error" in one,
    );
    const greeted = await editor.ask("initialize", { protocolVersion: 99 });
    assert.match(JSON.stringify(greeted), /"protocolVersion":1/);
    const unknown = errorOf(await editor.ask("session/fly", {}));
    assert.deepEqual([unknown.code, unknown.message], [-32601, "There is no method session/fly."]);
    const rows: readonly (readonly [string, JsonObject, RegExp])[] = [
      ["session/new", {}, /params\.cwd must be text/],
      ["session/new", { cwd: "relative" }, /absolute path/],
      ["session/new", { cwd: "/no/such/folder" }, /no\/such\/folder/],
      ["session/load", { sessionId: "acp_none", cwd: stage.workspace }, /There is no session acp_none/],
      ["session/prompt", { sessionId: "", prompt: [] }, /params\.sessionId must be text/],
      ["session/prompt", { sessionId: "acp_none", prompt: [{ type: "text", text: "x" }] }, /There is no session/],
    ];
    for (const [method, params, message] of rows) {
      const error = errorOf(await editor.ask(method, params));
      assert.equal(error.code, -32602, method);
      assert.match(error.message, message);
      assert.match(JSON.stringify(error.data), /"next":/);
    }
    const session = await editor.begin(stage.workspace);
    for (const prompt of [[], "text", [{ type: "text", text: "  " }], [null, 7, { type: "audio" }]]) {
      const error = errorOf(await editor.ask("session/prompt", { sessionId: session, prompt }));
      assert.match(error.message, /The prompt has no words/);
    }
    assert.equal(await editor.leave(), 0);
  });

  it("is not ended by notifications that name no session or one that is not known", async () => {
    await using things = new AsyncDisposableStack();
    const editor = new PlayedEditor(await stageOf(things));
    for (const params of [{}, { sessionId: 7 }, { sessionId: "acp_none" }, { sessionId: "" }])
      editor.tell("session/cancel", params);
    editor.tell("session/unheard-of", {});
    assert.ok("result" in (await editor.ask("authenticate", {})));
    assert.equal(await editor.leave(), 0);
  });

  it("takes answers that belong to no question without harm", async () => {
    await using things = new AsyncDisposableStack();
    const editor = new PlayedEditor(await stageOf(things));
    for (const id of [1, 0, -1, "x", 1e300]) {
      editor.say(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      editor.say(JSON.stringify({ jsonrpc: "2.0", id, error: { code: 1, message: "no" } }));
    }
    assert.ok("result" in (await editor.ask("initialize", {})));
    assert.equal(await editor.leave(), 0);
  });

  it("carries out what the editor permits and tells how the turn ended", async () => {
    await using things = new AsyncDisposableStack();
    const stage = await stageOf(things);
    const editor = new PlayedEditor(stage);
    editor.permission = (options) => ({
      result: {
        outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === "allow_once")?.optionId ?? "" },
      },
    });
    const session = await editor.begin(stage.workspace);
    assert.deepEqual((await editor.prompt(session, "make it"))["result"], { stopReason: "end_turn" });
    assert.ok(existsSync(join(stage.workspace, "made")));
    assert.match(JSON.stringify(editor.heard), /all is well/);
    assert.equal(await editor.leave(), 0);
  });

  it("ends the turn with a fault when the editor cannot ask, or chooses what was not offered", async () => {
    const answers: readonly JsonObject[] = [
      { error: { code: -32601, message: "There is no such method here." } },
      { result: { outcome: { outcome: "selected", optionId: "made up" } } },
      { result: {} },
    ];
    for (const answer of answers) {
      await using things = new AsyncDisposableStack();
      const stage = await stageOf(things);
      const editor = new PlayedEditor(stage);
      editor.permission = () => answer;
      const session = await editor.begin(stage.workspace);
      const error = errorOf(await editor.prompt(session, "make it"));
      assert.match(JSON.stringify(error.data), /"code":"APPROVAL_UNASKED"/);
      assert.equal(existsSync(join(stage.workspace, "made")), false);
      assert.equal(await editor.leave(), 0);
    }
  });

  it("stops the run of a turn that is cancelled while its question is open", async () => {
    await using things = new AsyncDisposableStack();
    const stage = await stageOf(things);
    const editor = new PlayedEditor(stage);
    const session = await editor.begin(stage.workspace);
    editor.permission = () => {
      editor.tell("session/cancel", { sessionId: session });
      return { result: { outcome: { outcome: "cancelled" } } };
    };
    assert.deepEqual((await editor.prompt(session, "make it"))["result"], { stopReason: "cancelled" });
    assert.equal(existsSync(join(stage.workspace, "made")), false);
    assert.equal(await editor.leave(), 0);
  });

  it("takes a write that is answered with null as done, and answers that are none as an outcome that is unknown", async () => {
    const answers: readonly (readonly [JsonObject, RegExp])[] = [
      [{ result: null }, /Wrote 3 bytes/],
      [{ result: 7 }, /may have written.*no result that can be read/],
      [{ result: [] }, /may have written/],
      [{ error: "no" }, /may have written/],
      [{}, /may have written/],
    ];
    for (const [answer, outcome] of answers) {
      await using things = new AsyncDisposableStack();
      const args = { file_path: "new.txt", content: "new" };
      const line = JSON.stringify({ type: "use_tool", name: "write_file", args });
      const model = things.use(await scriptedModel(line, doneLine("all is well")));
      const stage = things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url }));
      const editor = new PlayedEditor(stage);
      editor.permission = ([first]) => ({
        result: { outcome: { outcome: "selected", optionId: first?.optionId ?? "" } },
      });
      editor.files = (method) =>
        method === "fs/write_text_file" ? answer : { error: { code: -32_002, message: "There is no such file." } };
      await editor.ask("initialize", { clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
      const session = await editor.begin(stage.workspace);
      await editor.prompt(session, "make it");
      assert.match(JSON.stringify(editor.heard), outcome);
      assert.equal(existsSync(join(stage.workspace, "new.txt")), false);
      assert.equal(await editor.leave(), 0);
    }
  });

  it("takes lines up to a bound that fits an image, and refuses a longer one without its end", async () => {
    await using things = new AsyncDisposableStack();
    const editor = new PlayedEditor(await stageOf(things));
    const padding = (bytes: number): JsonObject => ({ padding: "x".repeat(bytes) });
    assert.ok("result" in (await editor.ask("authenticate", padding(4 * 1024 * 1024))));
    editor.tell("session/cancel", padding(ACP_LIMITS.lineBytes));
    await editor.hears((one) => errorOf(one).code === -32700);
    assert.ok("result" in (await editor.ask("authenticate", {})));
    assert.equal(await editor.leave(), 0);
  });

  it("lists commands from files, and refuses one that holds what cannot be seen", async () => {
    await using things = new AsyncDisposableStack();
    const stage = await stageOf(things);
    const folder = join(stage.workspace, ".agents", "commands");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "good.md"), "---\ndescription: Does good\n---\nDo $ARGUMENTS well.");
    writeFileSync(join(folder, "bad.md"), "Do\u200b this.");
    const editor = new PlayedEditor(stage);
    const session = await editor.begin(stage.workspace);
    const told = await editor.hears((one) => JSON.stringify(one).includes("available_commands_update"));
    assert.match(JSON.stringify(told), /"name":"good","description":"Does good \(of the project\)"/);
    const error = errorOf(await editor.prompt(session, "/bad"));
    assert.match(error.message, /bad\.md holds characters that cannot be seen/);
    assert.equal(await editor.leave(), 0);
  });
});
