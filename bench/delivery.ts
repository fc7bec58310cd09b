import { once } from "node:events";
import { connect } from "node:net";
import { rssMbOf } from "./contest/process.ts";
import { atMost } from "./contest/report.ts";
import type { Figure } from "./contest/report.ts";
import { scriptServer } from "./contest/server.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const ROUNDS = 5;
const EVENTS_PER_SECOND = 1000;
const SECONDS = 5;
/** What is delivered in the first second makes both processes warm. */
const WARM_PART = 1 / SECONDS;
const LOOK_MS = 100;

const READ_BYTES = 64 * 1024;
const NOTE = '"note":"';

/** What is served: how many runs grow in turn, how many follow each of them, and how many conversations were before. */
const SCENES = [
  { name: "plain node:http, nothing is kept", kind: "plain", runs: 1, followers: 100, threads: 0 },
  { name: "ours, one run", kind: "ours", runs: 1, followers: 100, threads: 0 },
  { name: "ours, 1,000 runs among 10,000 threads", kind: "ours", runs: 1000, followers: 1, threads: 10_000 },
] as const;

type Scene = (typeof SCENES)[number];

/** How long the entries of a round took, in milliseconds, and the server's memory. */
interface Took {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly rssMb: number;
}

/** How soon an entry reaches those who watch its run. */
export const delivery: Figure = {
  name: "delivery",
  title: "Delivery",
  method: `Runs grow by ${EVENTS_PER_SECOND.toLocaleString("en-US")} entries a second in all, one after the other, each handed to the journal by itself: SQLite, WAL FULL, so every entry is on the disk before anybody is told. From handing it over to its last byte in another process, which all followers share, over ${SECONDS - 1} seconds after one to warm up. Plain is the floor: the same pace over node:http, written to each follower at once and kept nowhere. The two processes share the machine, and what the reading one needs is in the figure.`,
  async measure() {
    const found = new Map<Scene, Took[]>(SCENES.map((scene) => [scene, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const scene of SCENES) {
        process.stderr.write(`  round ${round + 1} of ${ROUNDS}: ${scene.name}\n`);
        found.get(scene)?.push(await measured(scene));
      }
    }
    return reportOf((scene, what) => found.get(scene)?.map((took) => took[what]) ?? []);
  },
};

function reportOf(of: (scene: Scene, what: keyof Took) => number[]): Awaited<ReturnType<Figure["measure"]>> {
  const median = (scene: Scene, what: keyof Took): string => figure(spreadOf(of(scene, what)).median);
  const [plain, one, many] = SCENES;
  return {
    tables: [
      [
        ["ms from append to delivered", "followers", "half", "99 in 100", "ratio to plain", "the slowest", "RSS"],
        ...SCENES.map((scene) => [
          scene.name,
          (scene.runs * scene.followers).toLocaleString("en-US"),
          median(scene, "p50"),
          median(scene, "p99"),
          scene === plain ? "1" : times(ratioOf(of(scene, "p99"), of(plain, "p99"))),
          median(scene, "most"),
          `${median(scene, "rssMb")} MB`,
        ]),
      ],
    ],
    goals: [
      atMost("one run, 100 followers: 99 in 100, in ms", 5, spreadOf(of(one, "p99"))),
      atMost("1,000 runs among 10,000 threads: 99 in 100, in ms", 250, spreadOf(of(many, "p99"))),
      atMost("1,000 runs among 10,000 threads: RSS, in MB", 1024, spreadOf(of(many, "rssMb"))),
    ],
  };
}

/** A follower: when the stream is over, and how long each entry took in milliseconds. */
interface Following {
  readonly ended: Promise<unknown>;
  readonly delays: readonly number[];
}

async function measured({ kind, runs, followers, threads }: Scene): Promise<Took> {
  const load = [runs, threads, EVENTS_PER_SECOND, SECONDS].map(String);
  const server = await scriptServer("contestants/delivery.ts", kind, ...load);
  const port = Number(new URL(server.url).port);
  let rssMb = 0;
  const looking = setInterval(() => (rssMb = Math.max(rssMb, rssMbOf(server.pid))), LOOK_MS);
  try {
    const all = await Promise.all(Array.from({ length: runs * followers }, (_, index) => follower(port, index % runs)));
    await fetch(`${server.url}/go`);
    await Promise.all(all.map(({ ended }) => ended));
    const warm = all.flatMap(({ delays }) => delays.slice(Math.floor(delays.length * WARM_PART)));
    const delays = Float64Array.from(warm).sort();
    const expected = (EVENTS_PER_SECOND * SECONDS * followers * (1 - WARM_PART)) | 0;
    if (delays.length < expected) throw new Error(`${delays.length} of ${expected} entries came.`);
    const at = (part: number): number => delays[Math.floor((delays.length - 1) * part)] ?? NaN;
    return { p50: at(0.5), p99: at(0.99), most: at(1), rssMb };
  } finally {
    clearInterval(looking);
    await server.end();
  }
}

/** Follows a run, and has seen that it does; every entry that comes is timed when its bytes are there. */
async function follower(port: number, run: number): Promise<Following> {
  const delays: number[] = [];
  let rest = "";
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
  // Reading into one buffer: a hundred thousand pieces a second would else keep the reader's memory busy, not ours.
  const callback = (length: number, bytes: Uint8Array): boolean => {
    hasBegun();
    const now = process.hrtime.bigint();
    const text = rest + Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("latin1");
    const end = text.lastIndexOf("\n") + 1;
    for (let at = text.indexOf(NOTE); at >= 0 && at < end; at = text.indexOf(NOTE, at + 1)) {
      const from = at + NOTE.length;
      delays.push(Number(now - BigInt(text.slice(from, text.indexOf('"', from)))) / 1e6);
    }
    rest = text.slice(end);
    return true;
  };
  const socket = connect({ port, host: "127.0.0.1", onread: { buffer: Buffer.alloc(READ_BYTES), callback } });
  socket.write(`GET /${run} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
  await begun;
  return { ended: once(socket, "close"), delays };
}
