import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { REST_MS, TOKENS } from "../contest/tokens.ts";

/*
 * A server of OpenAI's kind whose model thinks for no time at all: it says its first token at once and, after a rest,
 * all others, each in a chunk and in a turn of the event loop of its own. It says its port on stdout.
 */

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "quick" };
const [FIRST = "", ...REST] = TOKENS.map((token) => chunk({ content: token }));
const BEGIN = chunk({ role: "assistant", content: "" }) + FIRST;
const USAGE = { prompt_tokens: 100, completion_tokens: TOKENS.length, total_tokens: 100 + TOKENS.length };
const END = `${chunk({}, "stop")}${data({ ...HEAD, choices: [], usage: USAGE })}data: [DONE]\n\n`;

function chunk(delta: object, finish: string | null = null): string {
  return data({ ...HEAD, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.endsWith("/models") === true) {
    response.end(JSON.stringify({ object: "list", data: [{ id: HEAD.model, object: "model" }] }));
    return;
  }
  for await (const _ of request); // A real one reads its question, too.
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(BEGIN);
  await setTimeout(REST_MS);
  for (const words of REST) {
    response.write(words);
    await setImmediate();
  }
  response.end(END);
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
