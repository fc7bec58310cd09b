import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { makeCertificate } from "../support/certificate.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { SHORT_HEARTBEATS_FLAGS } from "../support/preload-flags.ts";
import { HEARTBEAT_MS } from "../support/short-heartbeats.ts";
import { makeNetworkPath } from "../support/namespaces.ts";
import type { Cut, NetworkPath } from "../support/namespaces.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

/*
 * A brain on one machine and hands on another, with a way between them that loses packets without a word while each of
 * the hands is at work.
 */

const { hand: HAND } = bundledCommands();
const HANDS = ["agent-ws", "agent-http", "executor-ws"] as const;
type Name = (typeof HANDS)[number];
const CUTS = ["both ways", "to near", "to far"] as const;
/** Three heartbeats, one more that was just sent, and time for a busy machine. */
const SEEN_MS = 4 * HEARTBEAT_MS + 4000;
/** Says that it has begun, waits to be let go, and leaves its mark. */
const SLOW = 'touch "begun-$1"; while [ ! -e "go-$1" ]; do sleep 0.05; done; echo "$1" >> marks\n';
const POLICY = {
  trusted: ["/bin/*", "/usr/bin/*"],
  secrets: [],
  env: { "*": "any" },
  rules: [
    {
      kind: "process",
      id: "slow",
      program: ["bash"],
      arguments: { exact: CUTS.map((_, index) => ["slow", `${index}`]) },
      class: "code-exec",
      decision: "allow",
      examples: { match: [["bash", "slow", "0"]], not_match: [["bash"]] },
    },
  ],
};

/** The brain, and a folder for each of the hands. */
class Scene {
  readonly #stage: Stage;
  readonly #way: NetworkPath;
  readonly #daemon: DaemonProcess;
  readonly #cert: string;
  readonly #children: ChildProcess[] = [];
  #executor: ChildProcess | undefined;
  /** What the executor has told the person before it. */
  #said = "";

  constructor(parts: { stage: Stage; way: NetworkPath; daemon: DaemonProcess; cert: string }) {
    this.#stage = parts.stage;
    this.#way = parts.way;
    this.#daemon = parts.daemon;
    this.#cert = parts.cert;
    for (const name of HANDS) {
      mkdirSync(join(this.folder(name), "state"), { recursive: true, mode: 0o700 });
      writeFileSync(join(this.folder(name), "slow"), SLOW);
      writeFileSync(join(this.folder(name), "state", "policy.json"), JSON.stringify(POLICY));
    }
  }

  folder(name: Name): string {
    return join(this.#stage.workspace, name);
  }

  /** Starts a hand that joins the brain. */
  async join(name: Name, ...transport: readonly string[]): Promise<void> {
    const letter = await this.ask("/v1/hands/invitations", { name, installed: true });
    const folder = this.folder(name);
    const flags = [...transport, "--workspace", folder, "--state", join(folder, "state"), "--json"];
    this.#spawn(name, [HAND, "join", textIn(letter, "url") ?? "", "--token", textIn(letter, "token") ?? "", ...flags]);
    await until(`${name} has joined`, async () => (await this.states()).get(name) === "ok", JOINED_MS);
  }

  /** Starts an executor with a task. */
  code(task: string): void {
    const { url, token } = this.#daemon;
    const folder = this.folder("executor-ws");
    const main = this.#stage.command.argv.at(-1) ?? "";
    const flags = ["--url", url, "--token", token, "--workspace", folder, "--yes", "--json", "--verbose"];
    this.#said = "";
    this.#executor = this.#spawn("executor-ws", [main, "code", ...flags, task]);
    this.#executor.stderr?.on("data", (chunk: Buffer) => (this.#said += chunk.toString("utf8")));
  }

  /** How the brain sees its hands; an executor goes by the name of its folder. */
  async states(): Promise<ReadonlyMap<string, string>> {
    const { hands } = await this.ask("/v1/hands");
    const rows = hands as unknown as readonly { name: string; state: string }[];
    return new Map(rows.map(({ name, state }) => [name, state]));
  }

  /**
   * Whether a hand takes a connection to the brain for a good one. An executor has others, of the person who watches
   * its run: it is asked itself.
   */
  async isConnected(): Promise<boolean> {
    const open = (await this.#way.far.run("ss", "-tnpH", "state", "established")).split("\n");
    const others = open.filter((line) => line !== "" && !line.includes(`pid=${this.#executor?.pid},`));
    return others.length > 0 || !this.#said.includes("The executor's connection is lost");
  }

  /** Asks the daemon from its own machine, which no cut concerns. */
  async ask(path: string, body?: JsonObject): Promise<JsonObject> {
    const { url, token } = this.#daemon;
    const post = body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
    const asked = ["-sS", "--cacert", this.#cert, "-H", `authorization: Bearer ${token}`, url + path, ...post];
    return JSON.parse(await this.#way.near.run("curl", ...asked)) as JsonObject;
  }

  kill(): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }

  #spawn(name: Name, words: readonly string[]): ChildProcess {
    const [program = "", ...flags] = this.#stage.command.argv.slice(0, -1);
    const home = join(this.folder(name), "state");
    const env = { ...this.#stage.command.env, VIDRO_HOME: home, NODE_EXTRA_CA_CERTS: this.#cert };
    const argv = [program, ...SHORT_HEARTBEATS_FLAGS, ...flags, ...words];
    const child = this.#way.far.spawn(argv, { cwd: home, env, stdio: ["ignore", "ignore", "pipe"] });
    child.stderr?.resume();
    this.#children.push(child);
    return child;
  }
}

/** Cuts the way while each hand is in the middle of a command, and heals it when both ends have noticed. */
async function endures(scene: Scene, link: NetworkPath, cut: Cut): Promise<void> {
  const nth = `${CUTS.indexOf(cut)}`;
  const task = `run "bash slow ${nth}"`;
  const ids: string[] = [];
  for (const hand of ["agent-ws", "agent-http"])
    ids.push(textIn(await scene.ask("/v1/runs", { task, hand }), "id") ?? "");
  scene.code(task);
  const inFolder = (name: Name, file: string): string => join(scene.folder(name), file);
  await until("all are at work", () => HANDS.every((name) => existsSync(inFolder(name, `begun-${nth}`))));

  await link.cut(cut);
  const areDown = async (): Promise<boolean> => {
    const states = await scene.states();
    return HANDS.every((name) => states.get(name) === "down");
  };
  await Promise.all([
    until("the brain has let go of all of them", areDown, SEEN_MS),
    until("the hands have let go of the brain", async () => !(await scene.isConnected()), SEEN_MS),
  ]);
  for (const name of HANDS) writeFileSync(inFolder(name, `go-${nth}`), "");
  await link.heal();
  const areOver = async (): Promise<boolean> => {
    const { runs: listed } = await scene.ask("/v1/runs");
    const runs = listed as unknown as readonly { id: string; status: string }[];
    return runs.length >= ids.length + 1 && runs.every(({ status }) => status === "finished");
  };
  await until("every run has its end", areOver);
  for (const name of HANDS) {
    const marks = readFileSync(inFolder(name, "marks"), "utf8");
    assert.equal(
      marks,
      CUTS.slice(0, CUTS.indexOf(cut) + 1)
        .map((_, index) => `${index}\n`)
        .join(""),
      name,
    );
  }
}

/** A host that has much else to do may take long to join. */
const JOINED_MS = 120_000;

test("F10 F11 G9 a way to hands that dies without a word is seen by both ends, and their runs go on when it is back", async (t: TestContext) => {
  await using stage = await Stage.set();
  await using link = await makeNetworkPath();
  const { cert, key } = makeCertificate(stage.workspace, link.near.address);
  const south = ["--southbound-port", "0", "--southbound-host", link.near.address, "--no-local-hand"];
  const flags = ["--port", "0", "--host", link.near.address, "--tls-cert", cert, "--tls-key", key, ...south];
  await using daemon = await DaemonProcess.up(stage, { flags, node: SHORT_HEARTBEATS_FLAGS, host: link.near });
  const scene = new Scene({ stage, way: link, daemon, cert });
  t.after(() => scene.kill());
  await scene.join("agent-ws");
  await scene.join("agent-http", "--transport", "http");
  for (const cut of CUTS)
    await t.test(`cut ${cut}`, async () => {
      try {
        await endures(scene, link, cut);
      } finally {
        await link.heal();
      }
    });
});
