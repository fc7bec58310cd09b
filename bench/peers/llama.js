// @ts-nocheck
// node llama.js <folder of the engine> <model> <tokens>: node-llama-cpp as its documentation uses it. Each line of
// standard input makes one answer; each answer is one line with its tokens and milliseconds.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, modelPath, tokens] = process.argv.slice(2);
const { getLlama, LlamaChat } = await import(pathToFileURL(`${folder}/node_modules/node-llama-cpp/dist/index.js`).href);
const llama = await getLlama({ gpu: false, build: "never", progressLogs: false, logLevel: "error" });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ threads: 1, sequences: 2, contextSize: { max: 2048 } });
const chat = new LlamaChat({ contextSequence: context.getSequence() });
process.stdout.write("{}\n");
for await (const prompt of createInterface({ input: process.stdin })) {
  const before = chat.sequence.tokenMeter.usedOutputTokens;
  const begun = performance.now();
  let text = "";
  await chat.generateResponse(
    [
      { type: "user", text: prompt },
      { type: "model", response: [] },
    ],
    { maxTokens: Number(tokens), temperature: 1, seed: 7, onTextChunk: (piece) => (text += piece) },
  );
  const ms = performance.now() - begun;
  process.stdout.write(`${JSON.stringify({ tokens: chat.sequence.tokenMeter.usedOutputTokens - before, ms })}\n`);
}
process.exit(0);
