// @ts-nocheck The packages are installed when the tests are first run.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";

/** The vendor's agents over both APIs: a tool loop, a handoff, a structured answer, and a stream. */
export async function useAgents(baseURL, apiKey) {
  setTracingDisabled(true);
  const said = [];
  for (const useResponses of [true, false]) {
    const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses }) });
    const weather = tool({
      name: "get_weather",
      description: "The weather of a city.",
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => `sunny in ${city}`,
    });
    const agent = new Agent({
      name: "forecaster",
      instructions: "Tell the weather.",
      model: "bunny",
      tools: [weather],
    });
    said.push((await runner.run(agent, "What is the weather in Lisbon?")).finalOutput);
    const streamed = await runner.run(new Agent({ name: "greeter", model: "bunny" }), "Say hello.", { stream: true });
    let words = "";
    for await (const piece of streamed.toTextStream()) words += piece;
    said.push(words);
    const outputType = z.object({ name: z.string(), legs: z.number() });
    said.push((await runner.run(new Agent({ name: "zoo", model: "bunny", outputType }), "An animal.")).finalOutput);
  }
  return said;
}
