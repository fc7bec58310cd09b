import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeAnswer, FakeOpenAi } from "../support/fake-openai.ts";
import { useAgents } from "./agents.client.js";
import { useAiSdk } from "./ai-sdk.client.js";
import { useLangChain } from "./langchain.client.js";
import { useOpenAi } from "./openai.client.js";

/*
 * Clients of others, as they are published, drive a daemon whose model is scripted. What each of them does is in its own
 * file beside this one.
 */

const HERE = import.meta.dirname;
const HELLO = "Hello there.";
const ANIMAL = { name: "rabbit", legs: 4 };
const SUNNY = "It is sunny in Lisbon.";

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** A model that uses the tools it is offered: the weather, or a shell for the task of the coding programs. */
const scripted: FakeAnswer = (response, { body }) => {
  const { messages, tools = [] } = body as unknown as {
    messages: readonly Message[];
    tools?: readonly { function: { name: string } }[];
  };
  const names = tools.map((tool) => tool.function.name);
  const last = messages.at(-1);
  const shell = ["exec_command", "bash"].find((name) => names.includes(name));
  if (last?.role === "tool")
    return text(shell === undefined ? `It is ${String(last.content)}.` : "The file is changed.")(response);
  if (body["response_format"] !== undefined) return text(JSON.stringify(ANIMAL))(response);
  if (names.includes("get_weather"))
    return calls({ id: "w", name: "get_weather", input: '{"city":"Lisbon"}' })(response);
  if (shell === undefined) return text("Hello", " there.")(response);
  const command = "printf 'hello world' > hello.txt";
  const input = shell === "bash" ? { command, description: "Write the file" } : { cmd: command };
  return calls({ id: "s", name: shell, input: JSON.stringify(input) })(response);
};

suite("clients, unmodified", () => {
  let fake: FakeOpenAi;
  let stage: Stage;
  let daemon: DaemonProcess;
  let url: string;

  before(async () => {
    fake = await fakeOpenAi(scripted);
    stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url });
    daemon = await DaemonProcess.up(stage, { flags: ["--port", "0", "--southbound-port", "0"] });
    url = `${daemon.url}/v1`;
  });

  after(async () => {
    await daemon[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
    await fake.close();
  });

  test("openai: chat, responses, parsed answers, streams and tools", async () => {
    const each = [HELLO, HELLO, ANIMAL, SUNNY];
    assert.deepEqual(await useOpenAi(url, daemon.token), [...each, ...each]);
  });

  test("ai with @ai-sdk/openai: the default model and chat", async () => {
    const each = [HELLO, HELLO, ANIMAL, SUNNY];
    assert.deepEqual(await useAiSdk(url, daemon.token), [...each, ...each]);
  });

  test("@langchain/openai: chat and responses", async () => {
    const each = [HELLO, HELLO, ANIMAL, SUNNY];
    assert.deepEqual(await useLangChain(url, daemon.token), [...each, ...each]);
  });

  test("@openai/agents: responses and chat", async () => {
    const each = [SUNNY, HELLO, ANIMAL];
    assert.deepEqual(await useAgents(url, daemon.token), [...each, ...each]);
  });

  test("@openai/codex changes a file by its own tool and says so", async () => {
    const { folder, work } = workplace();
    const home = join(folder, "codex");
    mkdirSync(home);
    writeFileSync(
      join(home, "config.toml"),
      `model = "bunny"\nmodel_provider = "vidro"\n[model_providers.vidro]\nname = "Vidro"\nbase_url = "${url}"\nenv_key = "VIDRO_TOKEN"\nwire_api = "responses"\n`,
    );
    const program = join(HERE, "node_modules/@openai/codex/bin/codex.js");
    const flags = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    const ended = await runIn(work, [process.execPath, program, ...flags, "Make hello.txt say hello world."], {
      HOME: folder,
      CODEX_HOME: home,
      VIDRO_TOKEN: daemon.token,
    });
    assert.match(ended.stdout, /The file is changed\./, ended.stderr);
    assert.equal(readFileSync(join(work, "hello.txt"), "utf8"), "hello world");
    rmSync(folder, { recursive: true });
  });

  test("opencode changes a file by its own tool and says so", async () => {
    const { folder, work } = workplace();
    const options = { baseURL: url, apiKey: daemon.token };
    const vidro = { npm: "@ai-sdk/openai-compatible", name: "Vidro", options, models: { bunny: { name: "bunny" } } };
    const config = { model: "vidro/bunny", small_model: "vidro/bunny", autoupdate: false, share: "disabled" };
    writeFileSync(join(work, "opencode.json"), JSON.stringify({ ...config, provider: { vidro } }));
    const program = join(HERE, "node_modules/opencode-linux-x64-baseline/bin/opencode");
    const homes = ["CONFIG", "DATA", "CACHE", "STATE"].map((kind) => [`XDG_${kind}_HOME`, join(folder, kind)]);
    const ended = await runIn(work, [program, "run", "Make hello.txt say hello world."], {
      HOME: folder,
      ...Object.fromEntries(homes),
      // It would look for its list of models and its plugins on the network first.
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    });
    assert.match(ended.stdout, /The file is changed\./, ended.stderr);
    assert.equal(readFileSync(join(work, "hello.txt"), "utf8"), "hello world");
    rmSync(folder, { recursive: true });
  });
});

suite("the OpenAPI document", () => {
  const bin = (name: string): string => join(HERE, "node_modules/.bin", name);
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "vidro-openapi-"));
    await using stage = await Stage.set();
    await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0", "--southbound-port", "0"] });
    writeFileSync(join(folder, "openapi.json"), await (await daemon.ask("/openapi.json")).text());
  });

  after(() => rmSync(folder, { recursive: true }));

  test("redocly and spectral find no error in it", async () => {
    writeFileSync(join(folder, ".spectral.json"), '{ "extends": ["spectral:oas"] }');
    const lint = { redocly: ["lint", "openapi.json"], spectral: ["lint", "openapi.json", "--fail-severity", "error"] };
    for (const [name, words] of Object.entries(lint)) {
      const ended = await runIn(folder, [process.execPath, bin(name), ...words], { HOME: folder });
      assert.equal(ended.code, 0, ended.stdout + ended.stderr);
      assert.doesNotMatch(ended.stdout, /\berror\b(?! 0)[^s]*\s{2}/);
    }
  });

  test("openapi-typescript makes types of it with which a program of openapi-fetch compiles", async () => {
    symlinkSync(join(HERE, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "program.ts"), PROGRAM);
    const made = await runIn(
      folder,
      [process.execPath, bin("openapi-typescript"), "openapi.json", "-o", "api.d.ts"],
      {},
    );
    assert.equal(made.code, 0, made.stderr);
    const flags = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
    const compiled = await runIn(folder, [process.execPath, bin("tsc"), ...flags, "program.ts"], {});
    assert.equal(compiled.code, 0, compiled.stdout);
  });
});

/** Uses answers, faults and bodies by their types; each marked line must not compile. */
const PROGRAM = `
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1:3120" });
const started = await client.POST("/v1/runs", { body: { task: "how much disk is free?" } });
const id: string | undefined = started.data?.id;
const code: string | undefined = started.error?.code;
const chat = await client.POST("/v1/chat/completions", {
  body: { messages: [{ role: "user", content: "hello" }], stop: ["END"], tool_choice: "auto" },
});
const model: string | undefined = chat.data?.model;
const message: string | undefined = chat.error?.error.message;
const param: string | null | undefined = chat.error?.error.param;
const response = await client.POST("/v1/responses", { body: { input: [{ role: "user" }], conversation: { id: "x" } } });
const status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled" | undefined =
  response.data?.status;
const agents = await client.POST("/v1/agents", { body: { name: "doc" } });
const uuid: string | undefined = agents.data?.uuid;
const ready = await client.GET("/readyz");
const health: string | undefined = ready.data?.status;
// @ts-expect-error A run needs a task.
await client.POST("/v1/runs", { body: {} });
// @ts-expect-error Stop is text or a list of texts.
await client.POST("/v1/chat/completions", { body: { messages: [{ role: "user" }], stop: 7 } });
console.log(id, code, model, message, param, status, uuid, health);
`;

function workplace(): { readonly folder: string; readonly work: string } {
  const folder = mkdtempSync(join(tmpdir(), "vidro-clients-"));
  const work = join(folder, "work");
  mkdirSync(work);
  writeFileSync(join(work, "hello.txt"), "hello");
  return { folder, work };
}

async function runIn(
  cwd: string,
  [program = "", ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const { PATH } = process.env;
  const child = spawn(program, words, {
    cwd,
    env: { PATH, LANG: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
