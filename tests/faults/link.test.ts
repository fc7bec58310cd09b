import assert from "node:assert/strict";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ChildProcess } from "node:child_process";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { makeCertificate } from "../support/certificate.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { SHORT_TIMEOUTS_FLAGS } from "../support/preload-flags.ts";
import { makeNetworkPath } from "../support/namespaces.ts";
import type { Cut, NetworkPath } from "../support/namespaces.ts";

/*
 * A daemon on one machine and its followers on another, with a way between them that loses packets without a word. In
 * one run nothing happens meanwhile, in the other one something does: a link is dead in silence and under load.
 */

const FOLLOWER = bundledCommands().program("follower-process");
/** Three heartbeats of the hurried daemon, and as much again for a busy machine. */
const SEEN_MS = 6000;

/** A follower on the far machine: what it printed, line by line. */
interface Following {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly ended: Promise<unknown>;
}

/** The daemon on the near machine, and those who follow it from the far one. */
class Scene {
  readonly #stage: Stage;
  readonly #way: NetworkPath;
  readonly #daemon: DaemonProcess;
  readonly #cert: string;
  readonly #children: ChildProcess[] = [];

  constructor(parts: { stage: Stage; way: NetworkPath; daemon: DaemonProcess; cert: string }) {
    this.#stage = parts.stage;
    this.#way = parts.way;
    this.#daemon = parts.daemon;
    this.#cert = parts.cert;
  }

  /** Asks the daemon from its own machine, which no cut concerns. */
  async ask(path: string, body?: unknown): Promise<string> {
    const post = body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
    return this.#way.near.run(...this.#curl(path), ...post);
  }

  /** Starts a run that asks before each of its two commands. */
  async run(name: string): Promise<string> {
    const task = `run "touch ${name}-1" and "touch ${name}-2"`;
    return (JSON.parse(await this.ask("/v1/runs", { task })) as { id: string }).id;
  }

  /** Follows with the client of this project, which comes back by itself. */
  client(run: string): Following {
    const { url, token } = this.#daemon;
    const flags = ["--conditions=vidro-source", ...SHORT_TIMEOUTS_FLAGS, FOLLOWER];
    return this.#follow([process.execPath, ...flags, url, token, run]);
  }

  /** Follows the agent's events as any program can that knows nothing of us. */
  curl(run: string, after = "0"): Following {
    return this.#follow([...this.#curl(`/agent/runs/${run}/events`), "-N", "-H", `last-event-id: ${after}`]);
  }

  async streams(): Promise<number> {
    return Number(/^vidro_streams_open (\d+)$/m.exec(await this.ask("/metrics"))?.[1]);
  }

  /** Says yes to what a run asks as soon as it asks for the n-th time. */
  async approve(run: string, nth: number): Promise<void> {
    const asked = async (): Promise<readonly unknown[]> =>
      (await this.#journal(run)).filter((line) => line.includes('"type":"question.asked"'));
    await until(`${run} asks`, async () => (await asked()).length === nth);
    await this.ask(`/v1/runs/${run}/answers`, { answer: "yes" });
  }

  /** Whether one of the machines takes a connection to the other for a good one. */
  async isConnected(at: "near" | "far"): Promise<boolean> {
    return (await this.#way[at].run("ss", "-tnH", "state", "established")).trim() !== "";
  }

  kill(): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }

  async #journal(run: string): Promise<readonly string[]> {
    const path = `/v1/runs/${run}/events`;
    const whole = await this.#way.near.run(
      "sh",
      "-c",
      'curl -sS -N --max-time 0.3 "$@" || true',
      "sh",
      ...this.#curl(path).slice(2),
    );
    return whole.split("\n");
  }

  #curl(path: string): string[] {
    const { url, token } = this.#daemon;
    return ["curl", "-sS", "--cacert", this.#cert, "-H", `authorization: Bearer ${token}`, url + path];
  }

  #follow(command: readonly string[]): Following {
    const env = { ...this.#stage.command.env, NODE_EXTRA_CA_CERTS: this.#cert };
    const child = this.#way.far.spawn(command, { env, stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    const lines: string[] = [];
    createInterface({ input: child.stdout! }).on("line", (line) => lines.push(line));
    return { child, lines, ended: once(child, "close") };
  }
}

const hasAsked = ({ lines }: Following): boolean => lines.some((line) => /"type":"(?:question\.asked|ask)"/.test(line));
const seqsOf = ({ lines }: Following): number[] => lines.flatMap((line) => Number(/"seq":(\d+)/.exec(line)?.[1] ?? []));
const lastId = ({ lines }: Following): string => lines.findLast((line) => line.startsWith("id: "))?.slice(4) ?? "0";

/** Cuts the way while two runs are followed, and heals it when both ends have noticed. */
async function endures(scene: Scene, link: NetworkPath, cut: Cut): Promise<void> {
  const name = cut.replace(" ", "-");
  const runs = [await scene.run(`${name}-still`), await scene.run(`${name}-busy`)] as const;
  const clients = runs.map((run) => scene.client(run));
  const curls = runs.map((run) => scene.curl(run));
  await until("all have seen the question", () => [...clients, ...curls].every(hasAsked));
  assert.equal(await scene.streams(), 4);

  await link.cut(cut);
  await scene.approve(runs[1], 1);
  await until("the daemon has let go of all of them", async () => (await scene.streams()) === 0, SEEN_MS);
  for (const { child } of curls) child.kill("SIGKILL");
  await until("the clients have let go, too", async () => !(await scene.isConnected("far")), SEEN_MS);

  await link.heal();
  await scene.approve(runs[0], 1);
  await Promise.all(runs.map((run) => scene.approve(run, 2)));
  await Promise.all(clients.map(({ ended }) => ended));
  for (const client of clients) {
    assert.equal(client.child.exitCode, 0);
    const seqs = seqsOf(client);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
      "each entry came once and in its place",
    );
    assert.match(client.lines.at(-1) ?? "", /run\.finished/);
  }
  for (const [index, run] of runs.entries()) {
    const whole = scene.curl(run);
    const rest = scene.curl(run, lastId(curls[index]!));
    await Promise.all([whole.ended, rest.ended]);
    assert.deepEqual([...curls[index]!.lines, ...rest.lines].filter(isData), whole.lines.filter(isData));
  }
}

const isData = (line: string): boolean => line.startsWith("data: ") && line.includes('"seq"');

test("F10 F11 G5 a link that dies without a word is seen by both ends, and followers go on with the next entry", async (t) => {
  await using stage = await Stage.set();
  await using link = await makeNetworkPath();
  const { cert, key } = makeCertificate(stage.workspace, link.near.address);
  const flags = ["--port", "0", "--host", link.near.address, "--tls-cert", cert, "--tls-key", key];
  await using daemon = await DaemonProcess.up(stage, { flags, node: SHORT_TIMEOUTS_FLAGS, host: link.near });
  const scene = new Scene({ stage, way: link, daemon, cert });
  t.after(() => scene.kill());
  for (const cut of ["both ways", "to far", "to near"] as const)
    await t.test(`cut ${cut}`, async () => {
      try {
        await endures(scene, link, cut);
      } finally {
        await link.heal();
      }
    });
  await until("no connection is left", async () => !(await scene.isConnected("near")));
});
