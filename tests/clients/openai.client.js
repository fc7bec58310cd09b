// @ts-nocheck The packages are installed when the tests are first run.
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const Animal = z.object({ name: z.string(), legs: z.number().int() });
const ask = [{ role: "user", content: "Say hello." }];
const weather = [{ role: "user", content: "What is the weather in Lisbon?" }];
const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** The vendor's own client: whole answers, streams, parsed answers and tool loops of both endpoints. */
export async function useOpenAi(baseURL, apiKey) {
  const client = new OpenAI({ baseURL, apiKey });
  const model = "bunny";
  const said = [];
  said.push((await client.chat.completions.create({ model, messages: ask })).choices[0].message.content);
  said.push(await client.chat.completions.stream({ model, messages: ask }).finalContent());
  const response_format = zodResponseFormat(Animal, "animal");
  said.push((await client.chat.completions.parse({ model, messages: ask, response_format })).choices[0].message.parsed);
  const tool = {
    type: "function",
    function: { name: "get_weather", parameters: city, function: weatherIn, parse: JSON.parse },
  };
  said.push(await client.chat.completions.runTools({ model, messages: weather, tools: [tool] }).finalContent());
  said.push((await client.responses.create({ model, input: "Say hello." })).output_text);
  said.push((await client.responses.stream({ model, input: "Say hello." }).finalResponse()).output_text);
  const text = { format: zodTextFormat(Animal, "animal") };
  said.push((await client.responses.parse({ model, input: "Say hello.", text })).output_parsed);
  said.push(await responsesLoop(client, model));
  return said;
}

function weatherIn({ city: place }) {
  return `sunny in ${place}`;
}

async function responsesLoop(client, model) {
  const tools = [{ type: "function", name: "get_weather", parameters: city, strict: true }];
  const first = await client.responses.create({ model, input: weather, tools });
  const call = first.output.find(({ type }) => type === "function_call");
  const output = weatherIn(JSON.parse(call.arguments));
  const next = { type: "function_call_output", call_id: call.call_id, output };
  return (await client.responses.create({ model, tools, input: [next], previous_response_id: first.id })).output_text;
}
