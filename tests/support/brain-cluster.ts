import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { DaemonProcess, until } from "./daemon-process.ts";
import { freePort } from "./postgres-server.ts";
import { Peer } from "./peer-process.ts";
import { SHORT_REDIALS_FLAGS } from "./preload-flags.ts";
import { startBalancer } from "./tcp-balancer.ts";

const HAND = bundledCommands().hand;

/** Several brains on one store and one bus, behind balancers for clients and for hands. */
export class BrainCluster implements AsyncDisposable {
  readonly brains: DaemonProcess[] = [];
  readonly hands: { readonly name: string; readonly workspace: string; readonly state: string }[] = [];
  url = "";
  readonly #stages: Stage[] = [];
  readonly #ports: (readonly [number, number])[] = [];
  readonly #peers: Peer[] = [];
  readonly #balancers: AsyncDisposable[] = [];
  /** Flags of Node that each brain is started with. */
  readonly #node: readonly string[];

  private constructor(node: readonly string[]) {
    this.#node = node;
  }

  static async up(count: number, env: NodeJS.ProcessEnv, node: readonly string[] = []): Promise<BrainCluster> {
    const cluster = new BrainCluster(node);
    for (let index = 0; index < count; index += 1) {
      const stage = await Stage.set(env);
      const [first] = cluster.#stages;
      // All brains know hands by one authority.
      if (first !== undefined) cpSync(join(first.home, "ca"), join(stage.home, "ca"), { recursive: true });
      cluster.#stages.push(stage);
      cluster.#ports.push([await freePort(), await freePort()]);
      await cluster.start(index);
      if (first === undefined) await stage.run("hands", "invite", "--installed", "--name", "none", "--json");
    }
    const clients = await startBalancer(cluster.#ports.map(([port]) => `http://127.0.0.1:${port}`));
    cluster.#balancers.push(clients);
    cluster.url = clients.url;
    return cluster;
  }

  /** A token of the administrator, which is the same at all brains. */
  get token(): string {
    return this.brains[0]?.token ?? "";
  }

  /** Starts a brain, also again after it has ended. */
  async start(index: number): Promise<void> {
    const [port, southbound] = this.#ports[index] ?? [];
    const stage = this.#stages[index];
    if (stage === undefined) throw new Error("no such brain");
    const doors = ["--southbound-port", String(southbound), "--southbound-host", "127.0.0.1"];
    this.brains[index] = await DaemonProcess.up(stage, {
      flags: ["--port", String(port), "--no-local-hand", ...doors],
      node: this.#node,
    });
  }

  /** Has a hand join that dials the next brain, and another one while that is away. */
  async join(name: string): Promise<void> {
    const doors = this.#ports.map(([, port]) => `http://127.0.0.1:${port}`);
    const first = this.hands.length % doors.length;
    const balancer = await startBalancer([...doors.slice(first), ...doors.slice(0, first)], { prefers: "first" });
    this.#balancers.push(balancer);
    const url = `wss://127.0.0.1:${new URL(balancer.url).port}/southbound`;
    const [stage] = this.#stages;
    if (stage === undefined) throw new Error("no brain");
    const [letter] = lines((await stage.run("hands", "invite", "--installed", "--name", name, "--json")).stdout);
    const host = await Stage.set();
    this.#stages.push(host);
    const where = ["--workspace", host.workspace, "--state", join(host.home, "hand"), "--json"];
    const node = [process.execPath, "--disable-warning=ExperimentalWarning", ...SHORT_REDIALS_FLAGS];
    const words = [HAND, "join", url, "--token", String(letter?.["token"]), ...where];
    const { env } = host.command;
    this.#peers.push(await Peer.start({ argv: [...node, ...words], cwd: host.workspace, env }));
    this.hands.push({ name, workspace: host.workspace, state: join(host.home, "hand") });
  }

  /** Waits until every brain that lives reaches all hands. */
  async settle(brains: readonly DaemonProcess[] = this.brains): Promise<void> {
    const count = this.hands.length;
    for (const brain of brains)
      await until("the brain reaches all hands", async () => {
        const metrics = await (await brain.ask("/metrics")).text();
        return new RegExp(`^vidro_hands\\{state="ok"\\} ${count}$`, "mu").test(metrics);
      });
  }

  /** A request by way of the balancer; one that is cut is sent again, and a stream is cut after some seconds. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.token}`);
    headers.set("content-type", "application/json");
    for (const endsAt = performance.now() + ASK_MS; ;) {
      try {
        // A stopped brain accepts connections and answers nothing.
        const signal = AbortSignal.timeout(SILENT_MS);
        const response = await fetch(this.url + path, { ...init, headers, signal, keepalive: false });
        if (response.status !== 503 || performance.now() > endsAt) return response;
        await response.body?.cancel();
      } catch (thrown) {
        if (performance.now() > endsAt) throw thrown;
      }
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const peer of this.#peers) await peer.end("SIGKILL");
    for (const brain of this.brains) await brain.end("SIGKILL");
    for (const one of [...this.#balancers, ...this.#stages]) await one[Symbol.asyncDispose]();
  }
}

/** The body of an answer; one that was cut is asked for again. */
export async function askJson(
  cluster: Pick<BrainCluster, "ask">,
  path: string,
  init?: RequestInit,
): Promise<{ readonly [field: string]: unknown }> {
  for (const endsAt = performance.now() + ASK_MS; ;) {
    try {
      return (await (await cluster.ask(path, init)).json()) as { [field: string]: unknown };
    } catch (thrown) {
      if (performance.now() > endsAt) throw thrown;
    }
  }
}

const ASK_MS = 60_000;
/** After this a request or a stream begins anew. */
const SILENT_MS = 5000;

/** How many lines a file has. */
export function linesIn(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}
