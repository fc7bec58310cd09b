import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { atLeast } from "./contest/report.ts";
import type { Figure, Table } from "./contest/report.ts";
import { scriptServer } from "./contest/server.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const ROUNDS = 5;
/** How many follow one run, and how long it is: about as many deliveries each time. */
const CROWDS = [
  { followers: 1, steps: 8000 },
  { followers: 100, steps: 200 },
  { followers: 1000, steps: 40 },
] as const;
const KINDS = [
  { kind: "plain", name: "plain node:http, SSE" },
  { kind: "sse", name: "ours, SSE" },
  { kind: "ndjson", name: "ours, NDJSON" },
] as const;

/** How fast a run reaches those who watch it. */
export const fanOut: Figure = {
  name: "fan-out",
  title: "Fan-out",
  method:
    "One run grows by the five entries of a step in each turn of the event loop, in memory, and each follower gets all of it. From the word to go until the last follower, in another process, has the last byte. Plain is what one writes with node:http alone: each event of each follower is encoded and written by itself, and no follower is waited for.",
  async measure() {
    const found = new Map<string, Took[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const crowd of CROWDS) {
        for (const { kind } of KINDS) {
          const key = keyOf(kind, crowd.followers);
          process.stderr.write(`  round ${round + 1} of ${ROUNDS}: ${key}\n`);
          found.set(key, [...(found.get(key) ?? []), await measured(kind, crowd)]);
        }
      }
    }
    return reportOf((kind, followers) => found.get(keyOf(kind, followers)) ?? []);
  },
};

/** What a crowd was served with. */
interface Took {
  /** Deliveries in a second. */
  readonly rate: number;
  /** The server's processor time for each delivery. */
  readonly cpuUs: number;
}

type Found = (kind: string, followers: number) => readonly Took[];

function keyOf(kind: string, followers: number): string {
  return `${kind}, ${followers} following`;
}

function reportOf(of: Found): Awaited<ReturnType<Figure["measure"]>> {
  const rates = (kind: string, followers: number): number[] => of(kind, followers).map(({ rate }) => rate / 1000);
  const costs = (kind: string, followers: number): number[] => of(kind, followers).map(({ cpuUs }) => cpuUs);
  const table = (head: string, numbers: typeof rates): Table => [
    [head, ...CROWDS.map(({ followers }) => `${followers.toLocaleString("en-US")} following`)],
    ...KINDS.map(({ kind, name }) => [
      name,
      ...CROWDS.map(({ followers }) => {
        const all = numbers(kind, followers);
        const ratio = kind === "plain" ? "" : ` · ${times(ratioOf(all, numbers("plain", followers)))} plain`;
        return `${figure(spreadOf(all).median)}${ratio}`;
      }),
    ]),
  ];
  return {
    tables: [
      table("thousand events delivered in a second", rates),
      table("µs of the server's processor for each", costs),
    ],
    goals: KINDS.slice(1).flatMap(({ kind, name }) =>
      CROWDS.map(({ followers }) =>
        atLeast(
          `${followers} following: ${name} ÷ plain`,
          1,
          ratioOf(rates(kind, followers), rates("plain", followers)),
        ),
      ),
    ),
  };
}

async function measured(kind: string, { followers, steps }: (typeof CROWDS)[number]): Promise<Took> {
  const server = await scriptServer("contestants/fan-out.ts", kind, String(steps));
  const port = Number(new URL(server.url).port);
  try {
    // The first time makes the server warm.
    await followed(port, "warm", followers);
    const { tookMs, cpuUs } = await followed(port, "timed", followers);
    const deliveries = followers * steps * ENTRIES_PER_STEP;
    return { rate: (deliveries * 1000) / tookMs, cpuUs: cpuUs / deliveries };
  } finally {
    await server.end();
  }
}

const ENTRIES_PER_STEP = 5;

/** From the word to go until all followers of a run have its last byte. */
async function followed(port: number, run: string, followers: number): Promise<{ tookMs: number; cpuUs: number }> {
  const sockets = await Promise.all(Array.from({ length: followers }, () => follower(port, run)));
  const over = Promise.all(sockets.map((socket) => readToEnd(socket)));
  const begun = performance.now();
  await fetch(`http://127.0.0.1:${port}/${run}/go`);
  await over;
  const tookMs = performance.now() - begun;
  const cost = await fetch(`http://127.0.0.1:${port}/${run}/cost`);
  return { tookMs, cpuUs: Number(await cost.text()) };
}

/** Follows, and has seen that it does. */
async function follower(port: number, run: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /${run} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
  await once(socket, "data");
  return socket;
}

async function readToEnd(socket: Socket): Promise<void> {
  let tail = "";
  socket.on("data", (bytes: Buffer) => (tail = bytes.toString("latin1", Math.max(0, bytes.length - TAIL_BYTES))));
  await once(socket, "close");
  if (!tail.includes("0\r\n\r\n")) throw new Error("A follower did not get to the end.");
}

const TAIL_BYTES = 16;
