import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundledCommands } from "../scripts/test-bundle.js";
import { atLeast, atMost } from "./contest/report.ts";
import type { Figure } from "./contest/report.ts";
import { figure, spreadOf } from "./contest/spread.ts";
import type { Spread } from "./contest/spread.ts";

const ROUNDS = 4;
/** Prompts of so many tokens are looked at; a token is counted as four characters of the request. */
const SIZES = [10_000, 25_000, 50_000, 100_000] as const;
const CHARS_PER_TOKEN = 4;
/** Steps of a run: each adds the output of one tool. */
const FILE_CHARS = 12_000;
const STEPS = Math.ceil((SIZES[SIZES.length - 1]! * CHARS_PER_TOKEN * 1.05) / FILE_CHARS);

/** One step as the model's server sees it. */
interface Step {
  readonly tokens: number;
  readonly bytes: number;
  /** From the last byte of a reply to the last byte of the next request. */
  readonly ownMs: number;
  /** Share of the bytes of the request before that this one begins with, but for the end of its list of messages. */
  readonly kept: number;
}

/** What a step costs besides the model when the prompt is long. */
export const longPrompt: Figure = {
  name: "long-prompt",
  title: "Long prompts",
  method: `A run of ${STEPS} steps reads a file of ${FILE_CHARS.toLocaleString("en-US")} characters at each, so that its prompt grows to more than 100,000 tokens (four characters each). The model's server measures from the last byte of its reply to the last byte of the next request: reading the reply, both commits, the judgement of policy, the tool, and making and sending the prompt. The floor is the same prompts made as JSON and sent by \`fetch\` alone, in this process. The prefix is compared byte by byte. Median and least of the steps within 10 % of each size, ${ROUNDS} rounds; growth is judged by the least, since other work on the machine only adds.`,
  async measure() {
    const ours: Step[] = [];
    const floor: Step[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      process.stderr.write(`  round ${round} of ${ROUNDS}\n`);
      const bodies: string[] = [];
      ours.push(...(await measureRun(bodies)));
      floor.push(...(await measureFloor(bodies)));
    }
    const near = (steps: readonly Step[], tokens: number): readonly Step[] =>
      steps.filter((step) => Math.abs(step.tokens / tokens - 1) <= 0.1);
    const ms = (steps: readonly Step[], tokens: number): Spread =>
      spreadOf(near(steps, tokens).map(({ ownMs }) => ownMs));
    const both = ({ median, least }: Spread): string => `${figure(median)} (${figure(least)})`;
    const rows = SIZES.map((tokens) => [
      tokens.toLocaleString("en-US"),
      both(ms(ours, tokens)),
      both(ms(floor, tokens)),
      figure(spreadOf(near(ours, tokens).map(({ bytes }) => bytes / 1024)).median),
      `${figure(100 * Math.min(...near(ours, tokens).map(({ kept }) => kept)))} %`,
    ]);
    const heads = [
      "tokens of the prompt",
      "own ms per step: median (least)",
      "JSON and fetch alone",
      "KiB sent",
      "prefix kept",
    ];
    const kept = spreadOf(ours.map((step) => step.kept));
    const [shortest, longest] = [SIZES[0], SIZES.at(-1)!];
    const added = ms(ours, longest).least - ms(ours, shortest).least;
    const growth = spreadOf([added / ms(floor, longest).least]);
    return {
      tables: [[heads, ...rows]],
      goals: [
        atLeast("least share of the prefix kept", 1, { ...kept, median: kept.least }),
        atMost("what 90,000 more tokens add ÷ JSON and fetch alone", 10, growth),
      ],
    };
  },
};

/** Runs the task against a server that measures; collects the bodies of the requests. */
async function measureRun(bodies: string[]): Promise<readonly Step[]> {
  const steps: Step[] = [];
  let repliedAt = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const at = performance.now();
    if (bodies.length > 0) steps.push(stepOf(body, bodies.at(-1)!, at - repliedAt));
    bodies.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(replyTo(bodies.length, body.length), () => (repliedAt = performance.now()));
  };
  const server = createServer((request, response) => void serve(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-prompt-"));
  try {
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    for (let file = 0; file < 10; file += 1) writeFileSync(join(workspace, `file-${file}.txt`), fileText(file));
    await finishRun(folder, workspace, (server.address() as AddressInfo).port);
    if (bodies.length !== STEPS + 1) throw new Error(`The run took ${bodies.length} steps instead of ${STEPS + 1}.`);
    return steps;
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function finishRun(folder: string, workspace: string, port: number): Promise<void> {
  const bounds = ["--max-steps", "500", "--max-actions", "500", "--max-tokens", "900000000"];
  const child = spawn(bundledCommands().launcher, ["run", "--json", ...bounds, "read it all"], {
    cwd: workspace,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      VIDRO_HOME: join(folder, "home"),
      VIDRO_MODEL: "long",
      VIDRO_MODEL_URL: `http://127.0.0.1:${port}`,
      VIDRO_MODEL_WINDOW: "1000000",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`The run ended with ${code}.`);
}

/** Sends the same bodies from this process, made of their values each time. */
async function measureFloor(bodies: readonly string[]): Promise<readonly Step[]> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await bodyOf(request);
    response.end("{}");
  };
  const server = createServer((request, response) => void serve(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const steps: Step[] = [];
  try {
    for (const body of bodies) {
      const value: unknown = JSON.parse(body);
      const begun = performance.now();
      await (await fetch(url, { method: "POST", body: JSON.stringify(value) })).text();
      steps.push({
        tokens: body.length / CHARS_PER_TOKEN,
        bytes: body.length,
        ownMs: performance.now() - begun,
        kept: 1,
      });
    }
    return steps;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function stepOf(body: string, before: string, ownMs: number): Step {
  // The list of messages ends somewhere before the tools: what follows it is the same in both.
  const messages = (text: string): string =>
    JSON.stringify((JSON.parse(text) as { messages: unknown[] }).messages).slice(0, -1);
  const [now, then] = [messages(body), messages(before)];
  let same = 0;
  while (same < then.length && now[same] === then[same]) same += 1;
  return { tokens: body.length / CHARS_PER_TOKEN, bytes: Buffer.byteLength(body), ownMs, kept: same / then.length };
}

function replyTo(count: number, chars: number): string {
  const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "long", choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
  const usage = { prompt_tokens: Math.ceil(chars / CHARS_PER_TOKEN), completion_tokens: 20, total_tokens: 0 };
  const input = JSON.stringify({ file_path: `file-${count % 10}.txt`, offset: count + 1 });
  const call = { index: 0, id: `c${count}`, type: "function", function: { name: "read_file", arguments: input } };
  const isLast = count > STEPS;
  const said = isLast ? chunk({ content: "All is read." }) : chunk({ tool_calls: [call] });
  return `${said}${chunk({}, isLast ? "stop" : "tool_calls", { usage })}data: [DONE]\n\n`;
}

/** A file whose parts from any of its first lines on are about as long as each other. */
function fileText(file: number): string {
  const line = `file ${file}: a line that is as long as the lines of most programs are`;
  return `${"\n".repeat(STEPS + 2)}${Array.from({ length: Math.ceil(FILE_CHARS / line.length) }, () => line).join("\n")}\n`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += String(part);
  return text;
}
