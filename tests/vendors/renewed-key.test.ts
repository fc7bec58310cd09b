import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { FAULTS } from "@vidro/core";
import type { ModelEvent } from "@vidro/core";
import { doneLine, shellLine } from "../../packages/cli/src/scripted-model.fixture.ts";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { keySourceOf } from "../../packages/brain/src/models/key-source.ts";
import { readConfig } from "../../packages/brain/src/config.ts";
import { fakeOpenAi, status, text } from "../support/fake-openai.ts";
import type { FakeAnswer } from "../support/fake-openai.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* Tokens that end: a server refuses one, the next is read from its file or command, and the model is asked once more. */

const REQUEST = { system: "Be brief.", turns: [{ role: "user", text: "hello" }], tools: [] } as const;

/** A server that takes one token at a time; it takes the next one from its `uses`-th request on. */
async function serverWithTokens(t: TestContext, tokens: readonly string[], uses: number, answer: FakeAnswer) {
  let taken = 0;
  const server = await fakeOpenAi((response, request) => {
    if (request.path.endsWith("/models")) return status(404, "no list")(response);
    const valid = tokens[Math.min(Math.floor(taken / uses), tokens.length - 1)];
    if (request.headers.authorization !== `Bearer ${valid}`)
      return status(401, `the token ${request.headers.authorization ?? ""} has expired`)(response);
    taken += 1;
    answer(response, request);
  });
  t.after(() => server.close());
  return server;
}

/** A command that prints the first line of a file and removes it; the last line stays. */
function commandOver(folder: string, tokens: readonly string[]): string {
  const file = join(folder, "tokens");
  writeFileSync(file, tokens.map((token) => `${token}\n`).join(""));
  return `head -1 ${file}; test $(wc -l < ${file}) -gt 1 && sed -i 1d ${file}; true`;
}

async function callOnce(env: { readonly [name: string]: string }): Promise<readonly ModelEvent[]> {
  const model = await chooseModel(readConfig({ env }));
  return Array.fromAsync(model.call(REQUEST, AbortSignal.timeout(20_000)));
}

test("a run goes on when its token ends: the next is read, told as a healing, and kept in no journal", async (t) => {
  const tokens = ["tok-first-4711-aaaa", "tok-second-4712-bbbb", "tok-third-4713-cccc"];
  const steps = [shellLine("echo one", "read"), shellLine("echo two", "read"), doneLine("well")];
  let step = 0;
  const server = await serverWithTokens(t, tokens, 1, (response) => text(steps[step++] ?? "")(response));
  const command = commandOver(temporaryFolder(t), tokens);
  await using stage = await Stage.set({
    VIDRO_MODEL: "m",
    VIDRO_MODEL_URL: server.url,
    VIDRO_MODEL_KEY_COMMAND: command,
  });
  const { code, stdout, stderr } = await stage.run("run", "--json", "look twice");
  assert.equal(code, 0, stderr);
  const healings = lines(stdout).filter(({ type }) => type === "healing");
  assert.equal(healings.length, 2, stdout);
  assert.match(JSON.stringify(healings[0]), /refresh_token[^]*model_key_command gave another one/);
  assert.equal(server.requests.filter(({ path }) => path.endsWith("/chat/completions")).length, 5);
  const journal = readFileSync(join(stage.command.env["VIDRO_HOME"] ?? "", "journal.db")).toString("latin1");
  for (const token of tokens) assert.ok(!stdout.includes(token) && !stderr.includes(token) && !journal.includes(token));
});

test("a token file that was changed on disk is read again", async (t) => {
  const file = join(temporaryFolder(t), "token");
  writeFileSync(file, "tok-old-1\n");
  const server = await serverWithTokens(t, ["tok-old-1", "tok-new-2"], 1, (response) => text("hello")(response));
  const config = readConfig({ env: { VIDRO_MODEL: "m", VIDRO_MODEL_URL: server.url, VIDRO_MODEL_KEY_FILE: file } });
  const model = await chooseModel(config);
  const call = () => Array.fromAsync(model.call(REQUEST, AbortSignal.timeout(20_000)));
  assert.equal((await call()).at(-1)?.type, "replied");
  const unchanged = (await call()).at(-1);
  assert.ok(unchanged?.type === "failed" && unchanged.fault.code === "MODEL_KEY_REFUSED");
  assert.match(unchanged.fault.message, /401[^]*still gives the same key/);
  writeFileSync(file, "tok-new-2\n");
  // Two calls that are refused at once read the file once.
  const both = await Promise.all([call(), call()]);
  for (const events of both) assert.equal(events.at(-1)?.type, "replied");
  assert.deepEqual(keySourceOf(config)?.keys, ["tok-old-1", "tok-new-2"]);
});

test("a new key that is refused, too, is not read again and again", async (t) => {
  const server = await serverWithTokens(t, ["never"], 1, (response) => text("hello")(response));
  const command = commandOver(temporaryFolder(t), ["tok-a", "tok-b", "tok-c"]);
  const events = await callOnce({ VIDRO_MODEL: "m", VIDRO_MODEL_URL: server.url, VIDRO_MODEL_KEY_COMMAND: command });
  assert.deepEqual(
    events.map(({ type }) => type),
    ["healed", "failed"],
  );
  assert.equal(server.requests.length, 2);
  assert.ok(!JSON.stringify(events).includes("tok-"), "no message tells a token");
});

test("a command or file without a key is a fault that says what to do", async (t) => {
  const server = await serverWithTokens(t, ["k"], 1, (response) => text("hello")(response));
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ["VIDRO_MODEL_KEY_COMMAND", "echo 'log in first' >&2; exit 3", /ended with 3: log in first/],
    ["VIDRO_MODEL_KEY_COMMAND", "true", /gave no key/],
    ["VIDRO_MODEL_KEY_COMMAND", "yes", /took too long or printed too much|ended with/],
    ["VIDRO_MODEL_KEY_FILE", "/nowhere/token", /cannot be read: ENOENT/],
  ];
  for (const [variable, value, words] of wrong) {
    const [last] = await callOnce({ VIDRO_MODEL: "m", VIDRO_MODEL_URL: server.url, [variable]: value });
    assert.ok(last?.type === "failed" && last.fault.code === "MODEL_KEY_MISSING", JSON.stringify(last));
    assert.match(last.fault.message, words);
  }
  assert.match(FAULTS.MODEL_KEY_MISSING.next, /Set the key/);
  assert.equal(server.requests.length, 0);
});

test("a vendor without a key of its own takes the token, too", async (t) => {
  const server = await serverWithTokens(t, ["tok-x"], 9, (response) => text("hello")(response));
  const env = { VIDRO_MODEL: "groq/m", GROQ_BASE_URL: server.url, VIDRO_MODEL_KEY_COMMAND: "echo tok-x" };
  assert.equal((await callOnce(env)).at(-1)?.type, "replied");
});
