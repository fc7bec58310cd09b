import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ask } from "./contest/ask.ts";
import { rssMbOf } from "./contest/process.ts";
import { atMost } from "./contest/report.ts";
import type { Figure, Table } from "./contest/report.ts";
import { scriptServer, VIDRO, vidroUp } from "./contest/server.ts";
import type { Server } from "./contest/server.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const ROUNDS = 9;
/** How long a server is left alone before its memory is looked at. */
const IDLE_MS = 500;

/** What is started, and what one has to wait for. */
const COMMANDS: readonly { readonly name: string; readonly argv: readonly string[] }[] = [
  { name: "bare Node: `node -e`", argv: [process.execPath, "-e", "console.log(0)"] },
  { name: "`vidro --version`", argv: [VIDRO, "--version"] },
  { name: "`vidro run --json`", argv: [VIDRO, "run", "--json", "which folder is this?"] },
];

/** What is started and asked whether it is there. */
const SERVERS: readonly { readonly name: string; readonly open: (home: string) => Promise<Server> }[] = [
  { name: "plain node:http server", open: () => scriptServer("contestants/plain.js") },
  { name: "`vidro up --json`", open: (home) => vidroUp(home) },
];

/** How a start went: when there was a sign of life, and the memory. */
interface Start {
  readonly firstMs: number;
  readonly rssMb: number;
}

/** How soon the command line says something, and how soon the daemon answers. */
export const startup: Figure = {
  name: "startup",
  title: "Start-up",
  method: `From the spawn of a process to its first line, and the memory that it has then; for servers, to the first HTTP 200 on \`/healthz\`, asked for as soon as the process says that it is ready, and the memory after ${IDLE_MS} ms of rest. On a machine where each command ran before (the compile cache is filled, the store exists).`,
  async measure() {
    const home = mkdtempSync(join(tmpdir(), "vidro-bench-"));
    const starters = [
      ...COMMANDS.map(
        ({ argv }) =>
          () =>
            started(argv, home),
      ),
      ...SERVERS.map(
        ({ open }) =>
          () =>
            served(() => open(home)),
      ),
    ];
    try {
      const starts: Start[][] = starters.map(() => []);
      for (let round = -1; round < ROUNDS; round += 1) {
        for (const [index, start] of starters.entries()) {
          const one = await start();
          // The first round makes the machine warm.
          if (round >= 0) starts[index]?.push(one);
        }
      }
      return reportOf(starts);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};

function reportOf(starts: readonly (readonly Start[])[]): Awaited<ReturnType<Figure["measure"]>> {
  const ms = (index: number): number[] => starts[index]?.map(({ firstMs }) => firstMs) ?? [];
  const mb = (index: number): number[] => starts[index]?.map(({ rssMb }) => rssMb) ?? [];
  /** The starts from `from` on, each of them held against that one. */
  const table = (heads: readonly string[], names: readonly { readonly name: string }[], from: number): Table => [
    ["", ...heads],
    ...names.map(({ name }, index) => [
      name,
      `${figure(spreadOf(ms(from + index)).median)} ms`,
      index === 0 ? "1" : times(ratioOf(ms(from + index), ms(from))),
      `${figure(spreadOf(mb(from + index)).median)} MB`,
    ]),
  ];
  const plain = COMMANDS.length;
  return {
    tables: [
      table(["first line", "ratio to bare Node", "RSS"], COMMANDS, 0),
      table(["first HTTP 200", "ratio to plain", "RSS at rest"], SERVERS, plain),
    ],
    goals: [
      atMost("`vidro run`: first line, in ms", 300, spreadOf(ms(2))),
      atMost("`vidro run`: RSS, in MB", 120, spreadOf(mb(2))),
      atMost("`vidro up`: first 200 ÷ plain node:http", 2.5, ratioOf(ms(plain + 1), ms(plain))),
      atMost("`vidro up`: RSS at rest, in MB", 120, spreadOf(mb(plain + 1))),
    ],
  };
}

async function served(open: () => Promise<Server>): Promise<Start> {
  const begun = performance.now();
  const server = await open();
  try {
    const { status } = await ask(`${server.url}/healthz`);
    if (status !== 200) throw new Error(`${server.url} answered ${status}.`);
    const firstMs = performance.now() - begun;
    await setTimeout(IDLE_MS);
    return { firstMs, rssMb: rssMbOf(server.pid) };
  } finally {
    await server.end();
  }
}

async function started(argv: readonly string[], home: string): Promise<Start> {
  const [command = "", ...args] = argv;
  // Nothing of the machine's own settings: the model that is built in answers.
  const env = { PATH: process.env["PATH"], HOME: home };
  const begun = performance.now();
  const child = spawn(command, args, { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const first = await once(child.stdout, "data").then(() => ({
    firstMs: performance.now() - begun,
    rssMb: rssMbOf(child.pid ?? 0),
  }));
  child.stdout.resume();
  const [code] = (await closed) as [number | null];
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${said}`);
  return first;
}
