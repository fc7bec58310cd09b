import { framedCaller, grpcCaller, httpCaller } from "./contest/caller.ts";
import type { Caller } from "./contest/caller.ts";
import { missingOf, peerNeed } from "./contest/needs.ts";
import { cpuMsOf } from "./contest/process.ts";
import { atLeast } from "./contest/report.ts";
import type { Figure, Report, Table } from "./contest/report.ts";
import { scriptServer } from "./contest/server.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const ROUNDS = 5;
const WARM_UP_MS = 400;
const MEASURED_MS = 800;
/** How many connections there are, and how many requests are on their way on each. */
const SHAPES = [
  { name: "1 connection", connections: 1, inFlight: 1 },
  { name: "64 connections", connections: 64, inFlight: 1 },
  { name: "64 connections × 16 in flight", connections: 64, inFlight: 16 },
] as const;
const KINDS = [
  { kind: "plain", name: "plain net, frames of JSON echoed" },
  { kind: "ours", name: "ours: AUTH, AJV, scope, rate limit" },
  { kind: "http", name: "node:http keep-alive, JSON echoed" },
  { kind: "grpc", name: "grpc-js unary, JSON echoed" },
] as const;

/** What one of them needs that does not come with this repository. */
const GRPC = peerNeed("@grpc/grpc-js");

type Kind = (typeof KINDS)[number]["kind"];
type Shape = (typeof SHAPES)[number];

/** How many requests a hand that listens for TCP answers. */
export const framed: Figure = {
  name: "framed",
  title: "Framed requests",
  method:
    "A client in another process sends requests of about 90 bytes on so many connections, so many at a time on each, and sends the next ones when all of these are answered. Ours answers GET_OS_INFO for one second: the session, its scope, the schema and the bucket are checked each time; the bucket is large enough. Plain is what one writes with node:net alone: a frame is parsed, and the same value written back. The client counts answers and parses none of them, but for grpc-js, whose own client it is.",
  async measure() {
    const found = new Map<string, Took[]>();
    const leftOut = missingOf([GRPC]);
    const kinds = KINDS.filter(({ kind }) => kind !== "grpc" || leftOut.length === 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { kind } of kinds) {
        process.stderr.write(`  round ${round + 1} of ${ROUNDS}: ${kind}\n`);
        for (const [index, took] of (await measured(kind)).entries()) {
          const key = `${kind} ${SHAPES[index]?.name}`;
          found.set(key, [...(found.get(key) ?? []), took]);
        }
      }
    }
    const report = reportOf(kinds, (kind, { name }) => found.get(`${kind} ${name}`) ?? []);
    return { ...report, notes: leftOut.map((name) => `Left out, since this machine does not have it: ${name}.`) };
  },
};

/** What a server did in a shape. */
interface Took {
  /** Thousand answers in a second. */
  readonly rate: number;
  /** The server's processor time for each. */
  readonly cpuUs: number;
}

function reportOf(kinds: readonly (typeof KINDS)[number][], of: (kind: Kind, shape: Shape) => readonly Took[]): Report {
  const rates = (kind: Kind, shape: Shape): number[] => of(kind, shape).map(({ rate }) => rate);
  const costs = (kind: Kind, shape: Shape): number[] => of(kind, shape).map(({ cpuUs }) => cpuUs);
  const table = (head: string, numbers: typeof rates): Table => [
    [head, ...SHAPES.map(({ name }) => name)],
    ...kinds.map(({ kind, name }) => [
      name,
      ...SHAPES.map((shape) => {
        const all = numbers(kind, shape);
        const ratio = kind === "plain" ? "" : ` · ${times(ratioOf(all, numbers("plain", shape)))} plain`;
        return `${figure(spreadOf(all).median)}${ratio}`;
      }),
    ]),
  ];
  return {
    tables: [table("thousand answers in a second", rates), table("µs of the server's processor for each", costs)],
    goals: SHAPES.map((shape) =>
      atLeast(
        `${shape.name}: ours ÷ plain`,
        shape.inFlight > 1 ? 2 : 0.95,
        ratioOf(rates("ours", shape), rates("plain", shape)),
      ),
    ),
  };
}

/** What a server does in each shape. */
async function measured(kind: Kind): Promise<readonly Took[]> {
  const server = await scriptServer("contestants/framed.ts", kind);
  const { port, pathname } = new URL(server.url);
  const all: Took[] = [];
  try {
    for (const shape of SHAPES) {
      const callers: Caller[] = [];
      // One after the other: a hand looks only at so many tokens of one address at a time.
      while (callers.length < shape.connections) callers.push(await CALLERS[kind](Number(port), pathname.slice(1)));
      await drive(callers, shape, WARM_UP_MS);
      const before = cpuMsOf(server.pid);
      const { answers, tookMs } = await drive(callers, shape, MEASURED_MS);
      all.push({ rate: answers / tookMs, cpuUs: ((cpuMsOf(server.pid) - before) * 1000) / answers });
      for (const caller of callers) caller.close();
    }
  } finally {
    await server.end();
  }
  return all;
}

const CALLERS: { readonly [Name in Kind]: (port: number, token: string) => Promise<Caller> } = {
  plain: (port) => framedCaller(port),
  ours: framedCaller,
  http: httpCaller,
  grpc: grpcCaller,
};

/** Sends as many as may be on their way, and again when all are answered. */
async function drive(
  callers: readonly Caller[],
  { inFlight }: Shape,
  forMs: number,
): Promise<{ readonly answers: number; readonly tookMs: number }> {
  const begun = performance.now();
  let answers = 0;
  const going = callers.map(async (caller) => {
    while (performance.now() - begun < forMs) {
      await caller.round(inFlight);
      answers += inFlight;
    }
  });
  await Promise.all(going);
  return { answers, tookMs: performance.now() - begun };
}
