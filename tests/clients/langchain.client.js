// @ts-nocheck The packages are installed when the tests are first run.
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const Animal = z.object({ name: z.string(), legs: z.number().int() });

/** LangChain over both APIs: an answer, a stream, a structured answer, and a tool that is called. */
export async function useLangChain(baseURL, apiKey) {
  const said = [];
  for (const useResponsesApi of [false, true]) {
    const chat = new ChatOpenAI({ model: "bunny", apiKey, configuration: { baseURL }, useResponsesApi });
    said.push((await chat.invoke("Say hello.")).text);
    let streamed = "";
    for await (const chunk of await chat.stream("Say hello.")) streamed += chunk.text;
    said.push(streamed);
    said.push(await chat.withStructuredOutput(Animal, { method: "jsonSchema" }).invoke("An animal."));
    const weather = tool(async ({ city }) => `sunny in ${city}`, {
      name: "get_weather",
      description: "The weather of a city.",
      schema: z.object({ city: z.string() }),
    });
    const armed = chat.bindTools([weather]);
    const messages = [new HumanMessage("What is the weather in Lisbon?")];
    const called = await armed.invoke(messages);
    const [call] = called.tool_calls;
    const content = await weather.invoke(call.args);
    said.push((await armed.invoke([...messages, called, new ToolMessage({ content, tool_call_id: call.id })])).text);
  }
  return said;
}
