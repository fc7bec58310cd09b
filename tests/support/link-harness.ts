import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@vidro/core";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { freePort, Peer } from "./peer-process.ts";
import { SHORT_REDIALS_FLAGS } from "./preload-flags.ts";
import type { TcpBrain } from "./tcp-brain-process.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";

/*
 * A brain and a hand, each a process of its own with a home of its own, and one of the four links between them. Both
 * can be killed and started again, and find each other by themselves.
 */

const { hand: HAND } = bundledCommands();
const TCP_BRAIN = bundledCommands().program("tcp-brain-process");
/** What every run on the host does: it says that it has begun, leaves its mark in a file, and says that it is done. */
const MARK = 'echo begun; echo "$2" >> "$1"; echo done\n';
export const STEPS = 9;
const RUNS = 40;

/** How one of the links is set up. */
export interface LinkKind {
  readonly name: "agent-ws" | "agent-http" | "executor-ws" | "agent-tcp";
  /** Starts the brain, at the address that it had before. */
  readonly brain: (stand: LinkHarness) => Promise<Peer>;
  /** Starts the hand, which works for the brain that it knows. */
  readonly hand: (stand: LinkHarness) => Promise<Peer>;
  /** Begins a run on the hand and gives its id; the hand is there after it. */
  readonly begin: (stand: LinkHarness, task: string) => Promise<string>;
}

/** One brain, one hand, and what happened to them. */
export class LinkHarness implements AsyncDisposable {
  readonly kind: LinkKind;
  readonly stage: Stage;
  /** The other machine: its home is the hand's own. */
  readonly host: Stage;
  readonly ports: { readonly http: number; readonly south: number; readonly tcp: number };
  brain: Peer | undefined;
  hand: Peer | undefined;
  /** What the kind of link has to remember. */
  readonly known = new Map<string, string>();

  private constructor(parts: Pick<LinkHarness, "kind" | "stage" | "host" | "ports">) {
    this.kind = parts.kind;
    this.stage = parts.stage;
    this.host = parts.host;
    this.ports = parts.ports;
  }

  static async set(kind: LinkKind): Promise<LinkHarness> {
    const [stage, host] = [await Stage.set(), await Stage.set()];
    const ports = { http: await freePort(), south: await freePort(), tcp: await freePort() };
    const stand = new LinkHarness({ kind, stage, host, ports });
    mkdirSync(host.home, { recursive: true, mode: 0o700 });
    writeFileSync(join(host.workspace, "mark"), MARK);
    writeFileSync(join(host.home, "policy.json"), JSON.stringify(POLICY));
    if (kind.name !== "agent-tcp") await stand.raise("brain");
    return stand;
  }

  get url(): string {
    return `http://127.0.0.1:${this.ports.http}`;
  }

  get token(): string {
    return readFileSync(String(this.brain?.line["token_file"]), "utf8").trim();
  }

  /** A request of the administrator. */
  ask(path: string, body?: JsonObject): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.token}`,
      accept: path.includes("/events") ? "application/x-ndjson" : "application/json",
      "content-type": "application/json",
    };
    return fetch(this.url + path, {
      headers,
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  }

  /** Starts one of the two, unless it is there. */
  async raise(who: "brain" | "hand"): Promise<void> {
    if (this[who]?.isAlive === true) return;
    this[who] = await this.kind[who](this);
  }

  /** Ends one of the two without a word. */
  async kill(who: "brain" | "hand"): Promise<void> {
    await this[who]?.end("SIGKILL");
  }

  /** The command of this project on the brain's machine, or on the host. */
  argv(where: "brain" | "host", ...words: readonly string[]): readonly string[] {
    const { argv } = (where === "brain" ? this.stage : this.host).command;
    const [program = "", ...rest] = argv;
    return [program, ...SHORT_REDIALS_FLAGS, ...rest, ...words];
  }

  /** Starts a process on the host; its own folder is not the one that the hand works in. */
  onHost(argv: readonly string[]): Promise<Peer> {
    return Peer.start({ argv, cwd: this.host.home, env: this.host.command.env });
  }

  onBrain(argv: readonly string[]): Promise<Peer> {
    return Peer.start({ argv, cwd: this.stage.workspace, env: this.stage.command.env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill("hand");
    await this.kill("brain");
    await this.host[Symbol.asyncDispose]();
    await this.stage[Symbol.asyncDispose]();
  }
}

/** A task of so many steps, each with a mark of its own in a file of the host. */
export function taskOf(file: string, steps = STEPS): string {
  const commands = Array.from({ length: steps }, (_, step) => `"bash mark ${file} ${step + 1}"`);
  return `run ${commands.join(" and ")}`;
}

const MARKS = Array.from({ length: RUNS }, (_, run) =>
  Array.from({ length: STEPS }, (_unused, step) => ["mark", `r${run}`, `${step + 1}`]),
).flat();

/** The host lets marks be made, and nothing else. */
const POLICY = {
  trusted: ["/bin/*", "/usr/bin/*"],
  secrets: [],
  env: { "*": "any" },
  rules: [
    {
      kind: "process",
      id: "mark",
      program: ["bash"],
      arguments: { exact: MARKS },
      class: "code-exec",
      decision: "allow",
      examples: { match: [["bash", "mark", "r0", "1"]], not_match: [["bash", "-c", "true"]] },
    },
  ],
};

async function started(stand: LinkHarness, task: string): Promise<string> {
  await stand.raise("hand");
  const response = await stand.ask("/v1/runs", { task, hand: "host" });
  const { id, ...said } = (await response.json()) as { id?: string };
  if (id === undefined) throw new Error(`No run: ${response.status} ${JSON.stringify(said)}`);
  return id;
}

const daemon = (stand: LinkHarness): Promise<Peer> => {
  const { http, south } = stand.ports;
  const flags = ["--port", `${http}`, "--southbound-port", `${south}`, "--no-local-hand"];
  return stand.onBrain(stand.argv("brain", "up", "--json", ...flags));
};

/** A hand that joins once, and from then on works for the brain that it has joined. */
function joining(name: LinkKind["name"], ...transport: readonly string[]): LinkKind {
  return {
    name,
    brain: daemon,
    begin: started,
    async hand(stand) {
      const { home, workspace, command } = stand.host;
      const program = [command.argv[0] ?? "", ...SHORT_REDIALS_FLAGS, ...command.argv.slice(1, -1), HAND];
      const flags = ["--json", "--state", home];
      if (stand.known.has("joined")) return stand.onHost([...program, "serve", ...flags]);
      const [letter] = lines(
        (await stand.stage.run("hands", "invite", "--installed", "--name", "host", "--json")).stdout,
      );
      const how = ["--token", String(letter?.["token"]), ...transport, "--workspace", workspace];
      stand.known.set("joined", "yes");
      return stand.onHost([...program, "join", String(stand.brain?.line["southbound"]), ...how, ...flags]);
    },
  };
}

/** An executor brings its task along, and goes on with it when it is started again. */
const executor: LinkKind = {
  name: "executor-ws",
  brain: daemon,
  hand: (stand) => code(stand, ["--resume", stand.known.get("run") ?? ""]),
  async begin(stand, task) {
    await stand.kill("hand");
    const hand = await code(stand, [task]);
    stand.hand = hand;
    const run = String(hand.line["run_id"]);
    stand.known.set("run", run);
    return run;
  },
};

function code(stand: LinkHarness, words: readonly string[]): Promise<Peer> {
  const { url, token, host } = stand;
  const flags = ["--json", "--yes", "--url", url, "--token", token, "--workspace", host.workspace];
  return stand.onHost(stand.argv("host", "code", ...flags, ...words));
}

/** A hand that listens; the brain dials it. */
const listening: LinkKind = {
  name: "agent-tcp",
  async brain(stand) {
    const { http, tcp } = stand.ports;
    const hand = { port: tcp, token: stand.known.get("token") ?? "", name: "host" };
    const about: TcpBrain = { home: stand.stage.home, port: http, hand };
    const { argv } = stand.stage.command;
    return stand.onBrain([
      argv[0] ?? "",
      ...SHORT_REDIALS_FLAGS,
      ...argv.slice(1, -1),
      TCP_BRAIN,
      JSON.stringify(about),
    ]);
  },
  async hand(stand) {
    const { workspace } = stand.host;
    const where = ["--tcp", `127.0.0.1:${stand.ports.tcp}`, "--workspace", workspace];
    return stand.onHost(stand.argv("host", "hands", "serve", "--json", ...where));
  },
  async begin(stand, task) {
    if (!stand.known.has("token")) {
      const [made] = lines((await stand.host.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
      stand.known.set("token", String(made?.["token"]));
    }
    await stand.raise("hand");
    await stand.raise("brain");
    while (!(await isKnown(stand))) await new Promise(setImmediate);
    return started(stand, task);
  },
};

async function isKnown(stand: LinkHarness): Promise<boolean> {
  return (await (await stand.ask("/v1/hands")).text()).includes('"host"');
}

/** All four. */
export const LINKS: readonly LinkKind[] = [
  joining("agent-ws"),
  joining("agent-http", "--transport", "http"),
  executor,
  listening,
];
