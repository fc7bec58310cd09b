import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { JsonObject } from "@vidro/core";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { calls, counting, status, text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* Servers on one's own machine: models without tools, calls written into the text, and windows that the server names. */

/** A local server: its addresses beside the chat, and what it says to a chat. */
interface LocalServer {
  readonly facts?: { readonly [path: string]: JsonObject };
  readonly chat: (body: JsonObject, step: number) => FakeReply;
}

interface LocalRun {
  readonly bodies: readonly JsonObject[];
  readonly events: readonly JsonObject[];
}

async function runAgainst(t: TestContext, { facts = {}, chat }: LocalServer, kill?: number): Promise<LocalRun> {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "note.txt"), "the word is kestrel\n");
  const bodies: JsonObject[] = [];
  let accepted = 0;
  let child: ReturnType<typeof spawn> | undefined;
  const answer = (response: ServerResponse, path: string, body: JsonObject): void => {
    const known = facts[path];
    if (known !== undefined) return void response.end(JSON.stringify(known));
    if (path !== "/v1/chat/completions") return void response.writeHead(404).end();
    bodies.push(body);
    if (bodies.length === kill) return void child?.kill("SIGKILL");
    const reply = chat(body, accepted + 1);
    response.on("finish", () => (accepted += response.statusCode === 200 ? 1 : 0));
    counting(2000, reply)(response);
  };
  const server = createServer((request, response) => {
    let sent = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (sent += chunk));
    request.on("end", () => answer(response, request.url ?? "", sent === "" ? {} : (JSON.parse(sent) as JsonObject)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1`;
  const live = async (...args: string[]): Promise<string> => {
    child = spawn(bundledCommands().launcher, args, {
      cwd: workspace,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        VIDRO_HOME: join(folder, "home"),
        VIDRO_MODEL: "local",
        VIDRO_MODEL_URL: url,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await once(child, "close");
    return output;
  };
  let output = await live("run", "--json", "which word is in note.txt?");
  if (kill !== undefined) output = await live("attach", "--json", "--last");
  const events = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
  return { bodies, events };
}

const named = ({ events }: LocalRun, name: string): readonly JsonObject[] =>
  events.filter(({ event }) => event === name);
const endOf = ({ events }: LocalRun): string => JSON.stringify(events.at(-1));
const READ = '{"type":"use_tool","name":"read_file","args":{"file_path":"note.txt"}}';

for (const [what, code, message] of [
  ["Ollama", 400, "registry.ollama.ai/library/gemma:2b does not support tools"],
  ["llama.cpp", 500, "tools param requires --jinja flag"],
  ["vLLM", 400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
] as const) {
  test(`a server that has no tools (${what}) is asked in words, once and for all, also after a kill`, async (t) => {
    const refused = (response: ServerResponse): void => status(code, message)(response);
    const run = await runAgainst(
      t,
      {
        chat: (body, step) => {
          if (body["tools"] !== undefined) return refused;
          return step === 1 ? text(READ) : text("The word is kestrel.");
        },
      },
      3,
    );
    assert.match(endOf(run), /run\.finished.*The word is kestrel\./);
    assert.equal(run.bodies.filter(({ tools }) => tools !== undefined).length, 1, "tools are sent once");
    assert.match(JSON.stringify(named(run, "heal.tried")), /tools_in_text/);
    const last = JSON.stringify(run.bodies.at(-1));
    assert.match(last, /The tools:.*read_file/, "the tools are described");
    assert.match(last, /Result of read_file:.*kestrel/, "results are words");
    assert.ok(!last.includes("tool_calls"), "no native calls in the conversation");
  });
}

test("a call that a model writes between tags is carried out", async (t) => {
  const call = '<think>read it</think><tool_call>{"name":"read_file","arguments":{"file_path":"note.txt"}}</tool_call>';
  const run = await runAgainst(t, { chat: (_, step) => (step === 1 ? text(call) : text("It is kestrel.")) });
  assert.match(endOf(run), /run\.finished.*It is kestrel\./);
  assert.match(JSON.stringify(named(run, "action.finished")), /kestrel/);
});

for (const [what, facts] of [
  ["llama.cpp", { "/props": { default_generation_settings: { n_ctx: 6144 } } }],
  ["Ollama, in memory", { "/api/ps": { models: [{ name: "local:latest", context_length: 6144 }] } }],
  [
    "Ollama, by its parameters",
    { "/api/show": { parameters: "stop x\nnum_ctx 6144", model_info: { "gemma.context_length": 131_072 } } },
  ],
  [
    "vLLM",
    {
      "/v1/models": {
        data: [
          { id: "other", max_model_len: 9 },
          { id: "local", max_model_len: 6144 },
        ],
      },
    },
  ],
] as const) {
  test(`the window of a model is learnt from its server: ${what}`, async (t) => {
    const call = { id: "c1", name: "read_file", input: '{"file_path":"note.txt"}' };
    const run = await runAgainst(t, { facts, chat: (_, step) => (step === 1 ? calls(call) : text("kestrel")) });
    assert.match(endOf(run), /run\.finished/);
    const windows = named(run, "model.replied").map(({ body }) => (body as JsonObject)["window"]);
    assert.deepEqual(windows, [6144, undefined], "recorded once");
  });
}
