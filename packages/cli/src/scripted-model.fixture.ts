import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A chat completions server that gives scripted answers and repeats the last one. */
export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** The bodies of the calls so far. */
  readonly calls: readonly string[];
}

/** Starts a model that answers with these texts, one for each call; a promise delays its answer. */
export async function scriptedModel(...replies: readonly (string | Promise<string>)[]): Promise<ScriptedModel> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const body: Buffer[] = [];
    request.on("data", (chunk: Buffer) => body.push(chunk));
    request.on("end", () => {
      if (request.url?.endsWith("/models") === true) {
        response.setHeader("content-type", "application/json").end(JSON.stringify({ data: [{ id: "scripted" }] }));
        return;
      }
      calls.push(Buffer.concat(body).toString("utf8"));
      const reply = replies[Math.min(calls.length, replies.length) - 1] ?? "";
      void Promise.resolve(reply).then((text) =>
        response.setHeader("content-type", "text/event-stream").end(stream(text)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function stream(text: string): string {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({
      id: "1",
      object: "chat.completion.chunk",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason: finish }],
      usage: finish === null ? undefined : { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    })}\n\n`;
  return `${chunk({ role: "assistant", content: text }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
}

/** The line of the action language that runs a shell command. */
export function shellLine(command: string, access: "read" | "workspace" | "host" = "host"): string {
  return JSON.stringify({ action: "shell", command, access });
}

/** The line of the action language that ends the run. */
export function doneLine(result: string): string {
  return JSON.stringify({ action: "done", result });
}
