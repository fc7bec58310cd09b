import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask } from "./contest/ask.ts";
import type { Figure, Report } from "./contest/report.ts";
import { scriptServer, vidroUp } from "./contest/server.ts";
import type { Server } from "./contest/server.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const ROUNDS = 5;
/** The first requests compile the code. */
const WARM_UP_REQUESTS = 1000;
const REQUESTS = 1000;

/** Who answers, and what a client says it wants to see. */
interface Box {
  readonly name: string;
  readonly accept: string;
  readonly open: (folder: string) => Promise<Server>;
}

const PLAIN: Box = {
  name: "plain node:http",
  accept: "application/json",
  open: () => scriptServer("contestants/plain.js"),
};
const BLACK: Box = { name: "ours, black box", accept: "application/json", open: (folder) => vidroUp(folder) };
const GLASS: Box = { name: "ours, glass box", accept: "application/x-ndjson", open: (folder) => vidroUp(folder) };
const ALL = [PLAIN, BLACK, GLASS];

/** What the middle one of a round's requests saw. */
interface Seen {
  readonly firstUs: number;
  readonly wholeUs: number;
}

/** What it costs to show the way. */
export const glass: Figure = {
  name: "glass",
  title: "Glass box",
  method:
    "`GET /healthz`, one request after the other, each over a connection of its own, as a glass box is the last answer on its connection: until the first byte of the answer's body is there, and until all of it is. In the glass box the first byte is of the word that the request is accepted, and the answer is the last line. Plain is a node:http server that knows nothing but this answer: no router, no rules for hosts and pages, no log, no numbers.",
  async measure() {
    const seen = new Map<Box, Seen[]>(ALL.map((box) => [box, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      process.stderr.write(`  round ${round + 1} of ${ROUNDS}\n`);
      for (const box of ALL) seen.get(box)?.push(await measured(box));
    }
    return reportOf((box, what) => seen.get(box)?.map((one) => one[what]) ?? []);
  },
};

function reportOf(of: (box: Box, what: keyof Seen) => readonly number[]): Report {
  const ratio = (box: Box, what: keyof Seen, to: Box): string =>
    box === to ? "1" : times(ratioOf(of(box, what), of(to, what)));
  const us = (box: Box, what: keyof Seen): string => `${figure(spreadOf(of(box, what)).median)} µs`;
  return {
    tables: [
      [
        ["", "first byte", "ratio to plain", "ratio to the black box", "whole answer", "ratio to the black box"],
        ...ALL.map((box) => [
          box.name,
          us(box, "firstUs"),
          ratio(box, "firstUs", PLAIN),
          ratio(box, "firstUs", BLACK),
          us(box, "wholeUs"),
          ratio(box, "wholeUs", BLACK),
        ]),
      ],
    ],
    goals: [],
  };
}

async function measured({ accept, open }: Box): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  const server = await open(folder);
  const url = `${server.url}/healthz`;
  const headers = { accept, connection: "close" };
  try {
    for (let request = 0; request < WARM_UP_REQUESTS; request += 1) await ask(url, headers);
    const first: number[] = [];
    const whole: number[] = [];
    for (let request = 0; request < REQUESTS; request += 1) {
      const { status, pieces } = await ask(url, headers);
      if (status !== 200) throw new Error(`${server.url} answered ${status}.`);
      first.push((pieces.at(0)?.atMs ?? NaN) * 1000);
      whole.push((pieces.at(-1)?.atMs ?? NaN) * 1000);
    }
    return { firstUs: spreadOf(first).median, wholeUs: spreadOf(whole).median };
  } finally {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
