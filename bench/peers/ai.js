// @ts-nocheck
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { ANSWER, callAt, inputAt, OUTPUT, TASK, TOOL, wordsAt } from "../contest/script.ts";

const USAGE = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

/** `generateText` with a tool, in memory. */
export async function inMemory() {
  const tools = {
    [TOOL.name]: tool({
      description: TOOL.description,
      inputSchema: jsonSchema(TOOL.parameters),
      execute: async () => OUTPUT,
    }),
  };
  return {
    async run(steps, called) {
      const { text } = await generateText({
        model: scriptedModel(steps, called),
        prompt: TASK,
        tools,
        stopWhen: isStepCount(steps + 1),
      });
      if (text !== ANSWER) throw new Error("The run did not come to its end.");
    },
    close: async () => undefined,
  };
}

function scriptedModel(steps, called) {
  let step = 0;
  const answer = (content, unified) => ({
    content,
    finishReason: { unified, raw: undefined },
    usage: USAGE,
    warnings: [],
  });
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate() {
      step += 1;
      called?.(step);
      if (step > steps) return answer([{ type: "text", text: ANSWER }], "stop");
      const call = { toolCallId: callAt(step), toolName: TOOL.name, input: JSON.stringify(inputAt(step)) };
      return answer(
        [
          { type: "text", text: wordsAt(step) },
          { type: "tool-call", ...call },
        ],
        "tool-calls",
      );
    },
  };
}
