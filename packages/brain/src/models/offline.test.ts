import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Turn } from "@vidro/core";
import * as fc from "fast-check";
import { converse, eventsOf, replyTo, toolsNamed } from "./offline/conversation.fixture.ts";
import { INTENTS } from "./offline/want.ts";
import { exampleOf } from "./offline/classifier.ts";
import { offlineModel } from "./offline.ts";

const TOOLS = toolsNamed(
  "command",
  "shell",
  "read_file",
  "read_folder",
  "find_files",
  "search_text",
  "working_directory",
  "os_info",
  "processes",
);

/** A phrase for each intent and language, and some that ask for none. */
const PHRASES = [
  ...INTENTS.flatMap((intent) => (["en", "pt", "es"] as const).map((language) => exampleOf(intent, language))),
  "write me a poem",
  "traduza isto",
  "df -h",
];

const user = (text: string): Turn => ({ role: "user", text });

describe("the built-in model", () => {
  it("tells its plan and makes one call in its first reply", async () => {
    const reply = await replyTo([user("how much disk and memory are free?")], TOOLS);
    assert.deepEqual(JSON.parse(reply.text), { type: "plan", steps: ["Measure the disks", "Measure the memory"] });
    assert.deepEqual(reply.calls, [{ id: "offline-1-1", tool: "command", input: { command: "df", args: ["-kP"] } }]);
    assert.deepEqual(reply.usage, { inputTokens: 0, outputTokens: 0 });
    assert.equal(reply.model, "offline");
  });

  it("streams its answer word by word and replies with the same words", async () => {
    const events = await eventsOf(offlineModel(), [user("quem é você?")], TOOLS);
    const last = events.at(-1);
    const streamed = events.flatMap((event) => (event.type === "delta" ? [event.text] : []));
    assert.ok(streamed.length > 20);
    assert.ok(last?.type === "replied" && last.reply.text === streamed.join(""));
    assert.match(streamed.join(""), /não um modelo de linguagem/);
  });

  it("says what it is, what it can do and how to connect a model when it does not understand", async () => {
    for (const [task, words] of [
      [
        "write me a poem",
        /^I did not.*not a language model.*The nearest that I can do:(\n- .*){3}\n\n.*Ollama.*VIDRO_MODEL/s,
      ],
      ["escreva um poema", /^Não entendi.*não um modelo de linguagem.*O mais próximo.*(\n- .*){3}\n\n.*Ollama/s],
      ["escribe un poema sobre la luna", /^No lo entendí.*no un modelo de lenguaje.*(\n- .*){3}\n\n.*Ollama/s],
    ] as const) {
      const reply = await replyTo([user(task)], TOOLS);
      assert.deepEqual(reply.calls, []);
      assert.match(reply.text, words);
      assert.equal(reply.text.split("\n").filter((line) => line.startsWith("- ")).length, 3);
    }
  });

  it("understands every example that it gives", async () => {
    for (const task of ["help", "ajuda", "ayuda"]) {
      const { text } = await replyTo([user(task)], TOOLS);
      const examples = text.split("\n").filter((line) => line.startsWith("- "));
      assert.ok(examples.length >= 8);
      for (const example of examples) {
        assert.equal((await replyTo([user(example.slice(2))], TOOLS)).calls.length, 1, example);
      }
    }
  });

  it("looks back to the earlier task of a conversation", async () => {
    const history: Turn[] = [user("largest files here"), { role: "assistant", text: "…" }];
    const reply = await replyTo([...history, user("and in /var/log?")], TOOLS);
    assert.match(JSON.stringify(reply.calls[0]?.input), /"find","args":\["\/var\/log"/);
  });

  it("calls nothing that the hand does not offer", async () => {
    for (const tools of [toolsNamed(), toolsNamed("os_info"), toolsNamed("shell"), toolsNamed("command")]) {
      for (const phrase of PHRASES) {
        for (const call of (await replyTo([user(phrase)], tools)).calls) {
          assert.ok(
            tools.some((tool) => tool.name === call.tool),
            `${phrase}: ${call.tool}`,
          );
        }
      }
    }
  });

  it("says that it has no tool for a question rather than guess", async () => {
    const { answer, calls } = await converse("who is listening on port 22?", () => assert.fail(), {
      tools: toolsNamed("os_info"),
    });
    assert.deepEqual(calls, []);
    assert.match(answer, /None of the tools/);
  });

  it("ends an aborted call with a fault", async () => {
    const events = await eventsOf(offlineModel(), [user("help")], TOOLS, AbortSignal.abort());
    assert.equal(events.at(-1)?.type, "failed");
    assert.equal(events.length, 1);
  });

  it("ends with exactly one terminal event and at most one call, whatever the conversation", async () => {
    const phrase = fc.constantFrom(...PHRASES);
    const text = fc.oneof(phrase, fc.string({ unit: "binary", maxLength: 200 }));
    const callId = fc.oneof(
      fc.tuple(fc.nat(20), fc.nat(9)).map(([a, b]) => `offline-${a}-${b}`),
      fc.string(),
    );
    const turn: fc.Arbitrary<Turn> = fc.oneof(
      fc.record({ role: fc.constant("user" as const), text }),
      fc.record({ role: fc.constant("assistant" as const), text }),
      fc.record({ role: fc.constant("tool" as const), callId, tool: text, text, failed: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 12 }), fc.subarray([...TOOLS]), async (turns, tools) => {
        const events = await eventsOf(offlineModel(), turns, tools);
        const terminal = events.filter((event) => event.type === "replied" || event.type === "failed");
        assert.equal(terminal.length, 1);
        const last = events.at(-1);
        assert.ok(last?.type === "replied", JSON.stringify(last));
        assert.ok(last.reply.calls.length <= 1);
        assert.ok(last.reply.calls.length === 1 || last.reply.text.trim() !== "");
      }),
      { numRuns: 300 },
    );
  });
});
