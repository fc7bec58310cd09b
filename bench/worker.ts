import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { writeRandomGguf } from "../scripts/gguf.ts";
import { ENGINE, RawClient, startWorker } from "../tests/support/model-worker.ts";
import { atLeast } from "./contest/report.ts";
import type { Figure } from "./contest/report.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const ROUNDS = 5;
const TOKENS = 128;
/** Small and large: what a token costs besides its evaluation weighs most where that is cheap. */
const MODELS = [
  { name: "26 million weights", shape: { width: 512, hidden: 1408, layers: 8, heads: 8 } },
  { name: "103 million weights", shape: { width: 1024, hidden: 2816, layers: 8, heads: 16 } },
] as const;

/** Tokens of an answer and how long it took. */
interface Took {
  readonly tokens: number;
  readonly ms: number;
}

/** Something that answers a prompt. */
interface Answerer {
  answer(prompt: string): Promise<Took>;
  close(): Promise<void>;
}

/** Tokens per second of the worker beside those of its engine alone. */
export const worker: Figure = {
  name: "worker",
  title: "Tokens of a local model",
  method: `A model with random weights (numbers of 32 bits) answers ${TOKENS} tokens on one thread, by node-llama-cpp alone in a process of its own, and by \`vidro worker\`, whose tokens a client in another process reads from the socket as lines of JSON. Both have the same model, prompt, seed and context, and take turns; the time is from the request to the last token. ${ROUNDS} rounds.`,
  async measure() {
    const rows: string[][] = [];
    const goals = [];
    for (const { name, shape } of MODELS) {
      const { bare, ours } = await measured(name, shape);
      const ratio = ratioOf(ours, bare);
      rows.push([name, figure(spreadOf(bare).median), figure(spreadOf(ours).median), times(ratio)]);
      goals.push(atLeast(`${name}: worker ÷ node-llama-cpp`, 0.95, ratio));
    }
    return { tables: [[["tokens in a second", "node-llama-cpp", "worker", "ratio"], ...rows]], goals };
  },
};

async function measured(
  name: string,
  shape: (typeof MODELS)[number]["shape"],
): Promise<{ readonly bare: readonly number[]; readonly ours: readonly number[] }> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-worker-"));
  const model = join(folder, "model.gguf");
  writeRandomGguf(model, { ...shape, context: 2048 });
  const ours = await openOurs(folder, model);
  const bare = await openBare(model);
  const rates: { bare: number[]; ours: number[] } = { bare: [], ours: [] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      process.stderr.write(`  ${name}: round ${round} of ${ROUNDS}\n`);
      // The first round warms up.
      for (const [who, answerer] of [
        ["bare", bare],
        ["ours", ours],
      ] as const) {
        const { tokens, ms } = await answerer.answer(`Round ${round}: say something.`);
        if (round > 0) rates[who].push((tokens / ms) * 1000);
      }
    }
  } finally {
    await Promise.all([ours.close(), bare.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
  return rates;
}

async function openOurs(folder: string, model: string): Promise<Answerer> {
  const socket = join(folder, "own/worker.sock");
  const process = await startWorker(
    folder,
    "--model",
    model,
    "--socket",
    socket,
    "--threads",
    "1",
    "--context",
    "2048",
  );
  const client = new RawClient(socket);
  return {
    async answer(prompt) {
      const session_id = await client.session({ temperature: 1, seed: 7, max_tokens: TOKENS });
      const begun = performance.now();
      const { end } = await client.generate({ session_id, prompt });
      const ms = performance.now() - begun;
      return { ms, tokens: (end["usage"] as { readonly output_tokens: number }).output_tokens };
    },
    async close() {
      client.close();
      await process[Symbol.asyncDispose]();
    },
  };
}

async function openBare(model: string): Promise<Answerer> {
  const script = join(import.meta.dirname, "peers/llama.js");
  const child = spawn(process.execPath, [script, ENGINE, model, String(TOKENS)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    async answer(prompt) {
      child.stdin.write(`${prompt}\n`);
      return JSON.parse(String((await lines.next()).value)) as Took;
    },
    async close() {
      const gone = once(child, "exit");
      child.stdin.end();
      await gone;
    },
  };
}
