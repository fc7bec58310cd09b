// @ts-nocheck
import { Agent, BACKGROUND_CONTEXT } from "@earendil-works/pi-agent-core";
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import { createNodeSqliteFactory, SqliteSessionRepo } from "@earendil-works/pi-session-backend-sqlite-node";
import { ANSWER, callAt, inputAt, OUTPUT, TASK, TOOL, wordsAt } from "../contest/script.ts";

/** pi's agent loop, in memory. */
export async function inMemory() {
  return {
    run: (steps, called) => prompt(agent(steps, called)),
    close: async () => undefined,
  };
}

/** pi's agent loop with each message kept in its SQLite session before the loop goes on. */
export async function durable(folder) {
  const repository = new SqliteSessionRepo({ directory: folder, databaseFactory: createNodeSqliteFactory() });
  return {
    async run(steps, called) {
      const session = await repository.create({}, BACKGROUND_CONTEXT);
      const branch = await session.createBranch("main", null, BACKGROUND_CONTEXT);
      const running = agent(steps, called);
      running.subscribe(async (event) => {
        if (event.type === "message_end") await branch.appendMessage(event.message, BACKGROUND_CONTEXT);
      });
      await prompt(running);
      await session.close(BACKGROUND_CONTEXT);
    },
    close: () => repository.close(BACKGROUND_CONTEXT),
  };
}

async function prompt(running) {
  await running.prompt(TASK);
  const last = running.state.messages.at(-1);
  if (last.content[0]?.text !== ANSWER) throw new Error(`The run did not come to its end: ${last.errorMessage}`);
}

function agent(steps, called) {
  const tool = {
    ...TOOL,
    label: TOOL.name,
    execute: async () => ({ content: [{ type: "text", text: OUTPUT }], details: {} }),
  };
  return new Agent({
    initialState: { systemPrompt: "You read files.", model: MODEL, tools: [tool] },
    streamFn: scriptedStream(steps, called),
  });
}

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const MODEL = {
  id: "scripted",
  name: "scripted",
  api: "scripted",
  provider: "scripted",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: COST,
  contextWindow: 1_000_000_000,
  maxTokens: 4096,
};
const USAGE = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost: { ...COST, total: 0 } };

function scriptedStream(steps, called) {
  let step = 0;
  return () => {
    step += 1;
    called?.(step);
    const isLast = step > steps;
    const text = isLast ? ANSWER : wordsAt(step);
    const call = { type: "toolCall", id: callAt(step), name: TOOL.name, arguments: inputAt(step) };
    const message = {
      role: "assistant",
      content: isLast ? [{ type: "text", text }] : [{ type: "text", text }, call],
      api: MODEL.api,
      provider: MODEL.provider,
      model: MODEL.id,
      usage: USAGE,
      stopReason: isLast ? "stop" : "toolUse",
      timestamp: Date.now(),
    };
    const stream = createAssistantMessageEventStream();
    stream.push({ type: "start", partial: message });
    stream.push({ type: "text_delta", contentIndex: 0, delta: text, partial: message });
    stream.push({ type: "done", reason: message.stopReason, message });
    stream.end(message);
    return stream;
  };
}
