import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, cameAt } from "./contest/ask.ts";
import { cpuMsOf } from "./contest/process.ts";
import { atMost } from "./contest/report.ts";
import type { Figure, Report } from "./contest/report.ts";
import { scriptServer, vidroUp } from "./contest/server.ts";
import type { Server } from "./contest/server.ts";
import { figure, spreadOf } from "./contest/spread.ts";
import type { Spread } from "./contest/spread.ts";
import { REST_MS, TOKENS } from "./contest/tokens.ts";

const ROUNDS = 5;
/** The first requests compile the code. */
const WARM_UP_REQUESTS = 100;
const REQUESTS = 40;

/** Who stands between the client and the model. */
interface Between {
  readonly name: string;
  readonly open: (model: string, folder: string) => Promise<Server>;
}

const DIRECT: Between = { name: "none: the model itself", open: () => scriptServer("contestants/model.ts") };
const PIPE: Between = { name: "bare node:http pipe", open: (model) => scriptServer("contestants/pipe.ts", model) };
const DURABLE_PIPE: Between = {
  name: "the same after a bare node:sqlite commit, WAL FULL",
  open: (model, folder) => scriptServer("contestants/pipe.ts", model, folder),
};
const VIDRO: Between = {
  name: "`vidro up`",
  open: (model, folder) => vidroUp(folder, { VIDRO_MODEL_URL: `${model}/v1` }),
};
const ALL = [DIRECT, PIPE, DURABLE_PIPE, VIDRO];

/** What the middle one of a round's requests saw. */
interface Seen {
  readonly firstMs: number;
  /** From the first token to the last one without the rest, for each token. */
  readonly tokenUs: number;
  /** Processor time of the one between, for each token of all requests. */
  readonly cpuUs: number;
}

/** What the brain adds to a model's own time. */
export const chat: Figure = {
  name: "chat",
  title: "Chat completions",
  method: `What \`POST /v1/chat/completions\` with \`stream: true\` adds to the time of the model behind it. The model is a server of OpenAI's kind in a process of its own that says ${TOKENS.length} tokens, each in a chunk of its own: the first one at once, and all others after ${REST_MS} ms of rest as fast as it can. So the first token does not wait for others, and no pause hides what the others cost. Requests come one after the other over a kept connection. Ours is an agent run: before the model is called, **one commit** is on the disk (the run, with the intent to call the model), and all of it is in the journal when the answer ends; the second pipe shows what one commit costs by itself.`,
  async measure() {
    const seen = new Map<Between, Seen[]>(ALL.map((between) => [between, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      process.stderr.write(`  round ${round + 1} of ${ROUNDS}\n`);
      const model = await DIRECT.open("", "");
      try {
        for (const between of ALL) seen.get(between)?.push(await measured(between, model.url));
      } finally {
        await model.end();
      }
    }
    return reportOf((between, what) => seen.get(between)?.map((one) => one[what]) ?? []);
  },
};

function reportOf(of: (between: Between, what: keyof Seen) => readonly number[]): Report {
  const added = (between: Between, what: keyof Seen): Spread => {
    const direct = of(DIRECT, what);
    return spreadOf(of(between, what).map((value, round) => value - (direct[round] ?? NaN)));
  };
  const spelled = ({ median, least, most }: Spread, unit: string): string =>
    `+ ${figure(median)} ${unit} (${figure(least)}–${figure(most)})`;
  const cell = (between: Between, what: keyof Seen, unit: string): string => {
    const median = `${figure(spreadOf(of(between, what)).median)} ${unit}`;
    return between === DIRECT ? median : `${median} · ${spelled(added(between, what), unit)}`;
  };
  return {
    tables: [
      [
        ["between client and model", "first token", "each further token", "its processor, each token"],
        ...ALL.map((between) => [
          between.name,
          cell(between, "firstMs", "ms"),
          cell(between, "tokenUs", "µs"),
          `${figure(spreadOf(of(between, "cpuUs")).median)} µs`,
        ]),
      ],
    ],
    goals: [
      atMost("added to the first token, in ms", 1, added(VIDRO, "firstMs")),
      atMost("added to each token, in µs", 15, added(VIDRO, "tokenUs")),
    ],
  };
}

const QUESTION = JSON.stringify({
  model: "bunny",
  stream: true,
  messages: [{ role: "user", content: "Say some words." }],
});

async function measured(between: Between, model: string): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  const server = await between.open(model, folder);
  try {
    for (let request = 0; request < WARM_UP_REQUESTS; request += 1) await answered(server);
    const cpuMs = cpuMsOf(server.pid);
    const first: number[] = [];
    const rest: number[] = [];
    for (let request = 0; request < REQUESTS; request += 1) {
      const { firstMs, lastMs } = await answered(server);
      first.push(firstMs);
      rest.push(lastMs - firstMs - REST_MS);
    }
    return {
      firstMs: spreadOf(first).median,
      tokenUs: (spreadOf(rest).median * 1000) / (TOKENS.length - 1),
      cpuUs: ((cpuMsOf(server.pid) - cpuMs) * 1000) / (REQUESTS * TOKENS.length),
    };
  } finally {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answered({ url, token }: Server): Promise<{ firstMs: number; lastMs: number }> {
  const answer = await ask(`${url}/v1/chat/completions`, { authorization: `Bearer ${token}` }, QUESTION);
  const said = wordsIn(answer.text);
  if (said !== TOKENS.join("")) throw new Error(`Other tokens came: ${said.slice(0, 500)}`);
  return { firstMs: cameAt(answer, TOKENS.at(0) ?? ""), lastMs: cameAt(answer, TOKENS.at(-1) ?? "") };
}

/** The words of a stream: where it is parted is not what the model's tokens say, since a secret may begin at an end. */
function wordsIn(stream: string): string {
  const chunks = stream.matchAll(/^data: (\{.*\})$/gm);
  return Array.from(chunks, ([, json = ""]) => {
    const { choices } = JSON.parse(json) as { choices: readonly { delta: { content?: string } }[] };
    return choices[0]?.delta.content ?? "";
  }).join("");
}
