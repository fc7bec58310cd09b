import { setTimeout } from "node:timers/promises";
import type { FakeReply } from "./fake-openai.ts";

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: unknown, finish: string | null = null): string =>
  event({
    id: "c1",
    object: "chat.completion.chunk",
    model: "fake",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** Waits for a word to go, then says a word, rests, says the next, and so on: a model that many talk to at once. */
export const talkingModel =
  (words: readonly string[], restMs: number, go: Promise<void>): FakeReply =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const talk = async (): Promise<void> => {
      await go;
      for (const word of words) {
        await setTimeout(restMs);
        response.write(chunk({ content: word }));
      }
      response.end(`${chunk({}, "stop")}${event({ id: "c1", choices: [], usage: USAGE })}data: [DONE]\n\n`);
    };
    void talk();
  };
