import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createInterface } from "node:readline";
import type { JsonObject } from "@vidro/core";
import type { EngineOptions } from "./engine/engine.ts";

/*
 * The package of the engine, played by a few lines: a prompt `say a b c` is answered with these words, `wait` with one
 * word and nothing more until it is aborted, `fail` with an error.
 */
const PACKAGE = `
const meter = () => ({ usedInputTokens: 0, usedOutputTokens: 0 });
export async function getLlama() {
  return { gpu: false, dispose: async () => undefined, loadModel: async ({ modelPath }) => {
    if (modelPath.includes("broken")) throw new Error("tensors are missing");
    return {
      trainContextSize: 4096, size: 24, typeDescription: "scripted", tokenizer: {}, fileInfo: { metadata: {} },
      fileInsights: { estimateContextResourceRequirementsV2: async () => ({ cpuRam: 1000 }) },
      createContext: async ({ contextSize }) => ({
        contextSize: contextSize.max,
        getSequence: () => ({ nextTokenIndex: 0, tokenMeter: meter() }),
      }),
    };
  } };
}
export class LlamaGrammar {
  constructor(llama, { grammar }) {
    if (grammar.includes("unfit")) throw new Error("no such rule");
    this.grammar = grammar;
  }
}
export class LlamaChat {
  constructor({ contextSequence }) { this.sequence = contextSequence; }
  async generateResponse(history, { onTextChunk, signal, maxTokens }) {
    const [verb, ...words] = history.at(-2).text.split(" ");
    this.sequence.tokenMeter.usedInputTokens += 2;
    if (verb === "fail") throw new Error("the engine is out of order");
    for (const word of words.slice(0, maxTokens)) {
      onTextChunk(word);
      this.sequence.tokenMeter.usedOutputTokens += 1;
    }
    if (verb === "wait") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return { metadata: { stopReason: signal.aborted ? "abort" : words.length > maxTokens ? "maxTokens" : "eogToken" } };
  }
}
const wrapper = {
  wrapperName: "scripted",
  generateContextState: ({ chatHistory }) => ({
    contextText: { tokenize: () => chatHistory.flatMap((item) => (item.text ?? item.response.join(" ")).split(" ")) },
  }),
};
export class JinjaTemplateChatWrapper { constructor() { return wrapper; } }
export const resolveChatWrapper = () => wrapper;
`;

/** A folder of a test with a scripted engine and a model file, removed after it. */
export function setEngine(
  t: TestContext,
  model = "model.gguf",
): { readonly folder: string; readonly options: EngineOptions } {
  const folder = mkdtempSync(join(tmpdir(), "vidro-worker-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const code = join(folder, "engine/node_modules/node-llama-cpp/dist");
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "../package.json"), '{"type":"module"}');
  writeFileSync(join(code, "index.js"), PACKAGE);
  writeFileSync(join(folder, model), "GGUF".padEnd(24, "\0"));
  return { folder, options: { folder: join(folder, "engine"), model: join(folder, model) } };
}

/** A client of a worker's socket: writes bytes, reads lines. */
export class LineClient {
  readonly socket: Socket;
  readonly #lines: AsyncIterator<string>;

  constructor(t: TestContext, path: string) {
    this.socket = connect({ path }).on("error", () => undefined);
    this.#lines = createInterface({ input: this.socket })[Symbol.asyncIterator]();
    t.after(() => this.socket.destroy());
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The next line; undefined when the connection has ended. */
  async next(): Promise<JsonObject | undefined> {
    const line = await this.#lines.next().catch(() => undefined);
    return line === undefined || line.done === true ? undefined : (JSON.parse(line.value) as JsonObject);
  }

  /** Sends a request and gives the next line. */
  async ask(request: object): Promise<JsonObject> {
    this.write(`${JSON.stringify(request)}\n`);
    return (await this.next()) ?? {};
  }

  /** Opens a session and gives its id. */
  async open(params: object = {}): Promise<string> {
    return (await this.ask({ type: "create_session", params }))["session_id"] as string;
  }

  /** The lines of a generation up to its last one. */
  async generate(session: string, prompt: string, about: object = {}): Promise<readonly JsonObject[]> {
    this.write(`${JSON.stringify({ type: "generate", session_id: session, prompt, ...about })}\n`);
    const lines: JsonObject[] = [];
    for (;;) {
      const line = await this.next();
      if (line === undefined) return lines;
      lines.push(line);
      if (line["type"] !== "token") return lines;
    }
  }
}
