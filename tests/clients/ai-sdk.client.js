// @ts-nocheck The packages are installed when the tests are first run.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const Animal = z.object({ name: z.string(), legs: z.number().int() });

/** The AI SDK with its default model, which is the responses API, and with chat completions. */
export async function useAiSdk(baseURL, apiKey) {
  const openai = createOpenAI({ baseURL, apiKey });
  const said = [];
  for (const model of [openai("bunny"), openai.chat("bunny")]) {
    said.push((await generateText({ model, prompt: "Say hello." })).text);
    let streamed = "";
    for await (const part of streamText({ model, prompt: "Say hello." }).textStream) streamed += part;
    said.push(streamed);
    said.push((await generateText({ model, prompt: "An animal.", output: Output.object({ schema: Animal }) })).output);
    const get_weather = tool({
      description: "The weather of a city.",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `sunny in ${city}`,
    });
    const stopWhen = (stepCountIs ?? isStepCount)(5);
    const tools = { get_weather };
    said.push((await generateText({ model, prompt: "What is the weather in Lisbon?", tools, stopWhen })).text);
  }
  return said;
}
