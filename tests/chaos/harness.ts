import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "@vidro/core";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import type { FakeOpenAi } from "../support/fake-openai.ts";
import { freePort } from "../support/peer-process.ts";
import type { PeerStart } from "../support/peer-process.ts";
import { SHORT_REDIALS_FLAGS } from "../support/preload-flags.ts";
import { SupervisedProcess } from "./supervised-process.ts";
import { scriptedModel } from "./model.ts";
import type { MemberName, Place } from "./plan.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

const { hand: HAND } = bundledCommands();
/** What an action does: it works for a while, and then leaves its mark, once. */
const MARK = '#!/bin/sh\necho begun; sleep "$3"; echo "$1.$2" >> marks; echo done\n';
const DISK = "size=64m";
const LOCK_TRIES = 200;

/** The hosts let marks be made; what is not said here is asked of a person. */
const policyFor = (tools: string) => ({
  trusted: ["/bin/*", "/usr/bin/*", `${tools}/*`],
  secrets: [],
  env: { "*": "any" },
  rules: [
    {
      kind: "process",
      id: "mark",
      program: ["mark"],
      arguments: { fit: { operands: ["text", "number", "number"] } },
      class: "code-exec",
      decision: "allow",
      examples: { match: [["mark", "r1", "1", "0"]], not_match: [["asked", "r1", "1", "0"]] },
    },
  ],
});

/** What a request brings. */
export interface Asking {
  readonly body?: JsonObject;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

/** A brain with a hand of its own, three hands on other machines over three links, and a model; all but it processes. */
export class ChaosStand implements AsyncDisposable {
  readonly model: FakeOpenAi;
  readonly members: { readonly [Name in MemberName]: SupervisedProcess };
  /** The brain's machine. */
  readonly stage: Stage;
  /** Whether the brain's home is a small disk of its own, which can be filled. */
  readonly hasDisk: boolean;
  /** The folder of the programs that actions are. */
  readonly tools: string;
  readonly node: readonly string[];
  readonly #hosts: { readonly [Name in Exclude<Place, "local">]: Stage };
  readonly #ports: { readonly http: number; readonly south: number; readonly tcp: number };

  private constructor(
    parts: Pick<ChaosStand, "model" | "stage" | "hasDisk" | "tools" | "node">,
    hosts: readonly Stage[],
    ports: readonly number[],
  ) {
    this.model = parts.model;
    this.stage = parts.stage;
    this.hasDisk = parts.hasDisk;
    this.tools = parts.tools;
    this.node = parts.node;
    const [ws, http, tcp] = hosts as [Stage, Stage, Stage];
    this.#hosts = { ws, http, tcp };
    const [httpPort = 0, south = 0, tcpPort = 0] = ports;
    this.#ports = { http: httpPort, south, tcp: tcpPort };
    this.members = {
      brain: new SupervisedProcess("brain", () => this.#brain()),
      ws: new SupervisedProcess("ws", () => this.served("ws")),
      http: new SupervisedProcess("http", () => this.served("http")),
      tcp: new SupervisedProcess("tcp", () => this.#listening()),
    };
  }

  /** Sets up everything; all of it is up and knows each other when it resolves. `node` are flags of the brain's Node. */
  static async set(node: readonly string[] = []): Promise<ChaosStand> {
    const model = await scriptedModel();
    const tools = mkdtempSync(join(realpathSync(tmpdir()), "vidro-chaos-"));
    for (const name of ["mark", "asked"]) writeFileSync(join(tools, name), MARK, { mode: 0o755 });
    const env = { PATH: `${tools}:${process.env["PATH"]}` };
    const stage = await Stage.set({ ...env, VIDRO_MODEL: "scripted", VIDRO_MODEL_URL: model.url });
    const hosts = [await Stage.set(env), await Stage.set(env), await Stage.set(env)];
    mkdirSync(stage.home, { mode: 0o700 });
    const hasDisk = spawnSync("mount", ["-t", "tmpfs", "-o", DISK, "tmpfs", stage.home]).status === 0;
    const ports = [await freePort(), await freePort(), await freePort()];
    const stand = new ChaosStand({ model, stage, hasDisk, tools, node }, hosts, ports);
    process.once("exit", stand.#drop);
    try {
      for (const one of [stage, ...hosts]) furnish(one, tools);
      await stand.members.brain.up();
      await Promise.all([stand.#join("ws"), stand.#join("http", "--transport", "http"), stand.#dial()]);
      await Promise.all(Object.values(stand.members).map((member) => member.up()));
      return stand;
    } catch (thrown) {
      await stand[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  /** The folder in which a place works. */
  workspace(place: Place): string {
    return place === "local" ? this.stage.workspace : this.#hosts[place].workspace;
  }

  /** The marks that were left at a place, in their order. */
  marks(place: Place): readonly string[] {
    const path = join(this.workspace(place), "marks");
    return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  }

  /** Where the brain takes requests. */
  get address(): { readonly port: number; readonly token: string } {
    return { port: this.#ports.http, token: readFileSync(join(this.stage.home, "token"), "utf8").trim() };
  }

  /** A request of the administrator: a POST when there is a body. */
  ask(path: string, more: Asking = {}): Promise<Response> {
    const { body, signal } = more;
    const headers = new Headers(more.headers);
    const { port, token } = this.address;
    headers.set("authorization", `Bearer ${token}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    return fetch(`http://127.0.0.1:${port}${path}`, {
      headers,
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Holds the brain's store as another process does that writes to it for a while. */
  async lockStore(ms: number): Promise<void> {
    const other = new DatabaseSync(join(this.stage.home, "journal.db"), { timeout: 0 });
    try {
      for (let tries = 0; tries < LOCK_TRIES && !begun(other); tries += 1) await pause(5);
      await pause(ms);
    } finally {
      other.close();
    }
  }

  /** Fills the brain's disk for a while. */
  async fillDisk(ms: number): Promise<void> {
    if (!this.hasDisk) return;
    const filler = join(this.stage.home, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096"], { stdio: "ignore" });
    await pause(ms);
    rmSync(filler, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.members).map((member) => member.end()));
    process.off("exit", this.#drop);
    this.#drop();
    await this.model.close();
    rmSync(this.tools, { recursive: true, force: true });
    for (const one of [this.stage, ...Object.values(this.#hosts)]) await one[Symbol.asyncDispose]();
  }

  /** Leaves nothing behind that outlives this process. */
  readonly #drop = (): void => {
    for (const member of Object.values(this.members)) member.drop();
    if (this.hasDisk) spawnSync("umount", ["--lazy", this.stage.home]);
  };

  #brain(): PeerStart {
    const { http, south } = this.#ports;
    const words = ["up", "--json", "--port", `${http}`, "--southbound-port", `${south}`];
    return { argv: quick(this.stage, words, this.node), cwd: this.stage.workspace, env: this.stage.command.env };
  }

  /** How the hand of a host that has joined is started. */
  served(host: "ws" | "http"): PeerStart {
    const { home, command } = this.#hosts[host];
    return { argv: hand(command.argv, ["serve", "--json", "--state", home]), cwd: home, env: command.env };
  }

  #listening(): PeerStart {
    const { home, workspace, command } = this.#hosts.tcp;
    const words = ["hands", "serve", "--json", "--tcp", `127.0.0.1:${this.#ports.tcp}`, "--workspace", workspace];
    return { argv: quick(this.#hosts.tcp, words), cwd: home, env: command.env };
  }

  /** Has a host join the brain; it is served from then on. */
  async #join(host: "ws" | "http", ...transport: readonly string[]): Promise<void> {
    const { home, workspace, command } = this.#hosts[host];
    const letter = lines((await this.stage.run("hands", "invite", "--installed", "--name", host, "--json")).stdout)[0];
    const how = [
      "--token",
      String(letter?.["token"]),
      ...transport,
      "--workspace",
      workspace,
      "--json",
      "--state",
      home,
    ];
    const joining = new SupervisedProcess(host, () => ({
      argv: hand(command.argv, ["join", `wss://127.0.0.1:${this.#ports.south}/southbound`, ...how]),
      cwd: home,
      env: command.env,
    }));
    await joining.up();
    await joining.end();
  }

  /** Has the brain dial the host that listens, from now on. */
  async #dial(): Promise<void> {
    const [made] = lines((await this.#hosts.tcp.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
    await this.members.tcp.up();
    const to = `tcp://127.0.0.1:${this.#ports.tcp}`;
    const { code, stderr } = await this.stage.run(
      "hands",
      "dial",
      to,
      "--token",
      String(made?.["token"]),
      "--name",
      "tcp",
    );
    if (code !== 0) throw new Error(`The brain does not dial: ${stderr}`);
  }
}

function furnish({ home }: Stage, tools: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "policy.json"), JSON.stringify(policyFor(tools)));
}

function quick({ command }: Stage, words: readonly string[], node: readonly string[] = []): readonly string[] {
  const [program = "", ...rest] = command.argv;
  return [program, ...SHORT_REDIALS_FLAGS, ...node, ...rest, ...words];
}

function hand(argv: readonly string[], words: readonly string[]): readonly string[] {
  return [argv[0] ?? "", ...SHORT_REDIALS_FLAGS, ...argv.slice(1, -1), HAND, ...words];
}

function begun(store: DatabaseSync): boolean {
  try {
    store.exec("BEGIN IMMEDIATE");
    return true;
  } catch {
    return false; // Another process writes at this moment.
  }
}
