import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Hand, JsonObject, Records } from "@vidro/core";
import { WebSocket } from "ws";
import type { ClientOptions } from "ws";
import { lineHead } from "../../packages/brain/src/observe/log.ts";
import type { Log, LogFields } from "../../packages/brain/src/observe/log.ts";
import { openAuthority } from "../../packages/brain/src/south/enrolment/authority.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import { standardTools } from "../../packages/brain/src/south/local.ts";
import { SouthboundListener } from "../../packages/brain/src/south/agent-ws/southbound.ts";
import type { SouthboundOptions } from "../../packages/brain/src/south/agent-ws/southbound.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { HandStateFolder } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { enrol } from "../../packages/hands/src/enrol/join.ts";
import { keepAgentWs } from "../../packages/hands/src/links/agent-ws.ts";
import type { AgentWsOptions } from "../../packages/hands/src/links/agent-ws.ts";
import { collectSamples } from "./samples.ts";
import { openHand, temporaryFolder } from "./local-runs.ts";
import { openPassingStore } from "./store-under-test.ts";

/* A brain that listens for hands on a free port, hosts that were invited to it, and strangers that were not. */

const ALLOW = { decision: "allow", rule: "test", class: "code-exec", reason: "It is a test." } as const;

/** A brain's southbound side, over real sockets. */
export class SouthboundHarness {
  readonly folder: string;
  readonly records: Records;
  readonly hands: HandRegister;
  readonly samples: JsonObject[] = [];
  readonly log: LogFields[] = [];
  /** How far the brain's clock is ahead. */
  aheadMs = 0;
  url = "";
  #door: SouthboundListener;
  readonly #options: SouthboundOptions;

  private constructor(folder: string, records: Records, bounds: SouthboundOptions["bounds"]) {
    const log: Log = (event, fields) => void this.log.push({ ...lineHead(event), ...fields });
    const now = (): number => Date.now() + this.aheadMs;
    this.folder = folder;
    this.records = records;
    this.hands = new HandRegister({ records, log, now });
    this.#options = {
      folder: join(folder, "ca"),
      port: 0,
      hosts: [],
      records,
      hands: this.hands,
      take: collectSamples(this.samples, now),
      standardTools,
      version: "1.2.3",
      log,
      now,
      ...(bounds === undefined ? {} : { bounds }),
    };
    this.#door = new SouthboundListener(this.#options);
  }

  static async up(t: TestContext, bounds?: SouthboundOptions["bounds"]): Promise<SouthboundHarness> {
    const store = await openPassingStore();
    const south = new SouthboundHarness(temporaryFolder(t), store.records, bounds);
    await south.hands.load();
    south.url = await south.#door.listen();
    t.after(() => south.down().then(() => store.close()));
    return south;
  }

  /** The address of the listener without its path. */
  get place(): { readonly host: string; readonly port: number } {
    return { host: "127.0.0.1", port: Number(new URL(this.url).port) };
  }

  async down(): Promise<void> {
    await this.hands.close();
    await this.#door.close();
  }

  /** Goes down and comes back at the same address. */
  async restart(): Promise<void> {
    const { port } = this.place;
    await this.#door.close();
    this.#door = new SouthboundListener({ ...this.#options, port });
    await this.#door.listen();
  }

  async invite(name?: string, lifeMs?: number): Promise<string> {
    const who = { owner: "local", ...(name === undefined ? {} : { name, tags: ["web"] }) };
    return (await this.#door.invite(who, lifeMs === undefined ? {} : { lifeMs })).token;
  }

  /** A host that was invited and has its certificate. */
  async enrolled(name = "web-1", workspace = this.folder): Promise<HandIdentity> {
    return enrol({ url: this.url, token: await this.invite(name), name, workspace });
  }

  /** A certificate of this brain's authority that the authority would not give, by openssl: its extensions are given. */
  forged(extensions: readonly string[], signer: "authority" | "stranger" = "authority"): TlsClient {
    const file = (name: string): string => join(this.folder, name);
    const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const authority = join(this.folder, "ca", "authority.pem");
    if (signer === "stranger")
      openssl(
        "req",
        "-x509",
        ...key,
        "-days",
        "1",
        "-subj",
        "/CN=Stranger",
        "-keyout",
        file("s.key"),
        "-out",
        file("s.pem"),
      );
    const [ca, caKey] = signer === "authority" ? [authority, authority] : [file("s.pem"), file("s.key")];
    openssl("req", "-new", ...key, "-subj", "/CN=forged", "-keyout", file("f.key"), "-out", file("f.csr"));
    writeFileSync(file("f.ext"), extensions.join("\n"));
    const signed = ["-CA", ca, "-CAkey", caKey, "-CAcreateserial", "-days", "1", "-extfile", file("f.ext")];
    openssl("x509", "-req", "-in", file("f.csr"), ...signed, "-out", file("f.pem"));
    return { cert: readFileSync(file("f.pem"), "utf8"), key: readFileSync(file("f.key"), "utf8") };
  }

  /** The authority as it would be with another clock. */
  authorityAt(now: () => number) {
    return openAuthority({ folder: join(this.folder, "ca"), now });
  }
}

/** What a client of TLS shows. */
export type TlsClient = Pick<ClientOptions, "cert" | "key">;

/** A client of the southbound WebSocket that is not ours: it says what it is told to. */
export class ForeignAgent {
  readonly socket: WebSocket;
  readonly heard: JsonObject[] = [];
  #look: (() => void) | undefined;
  #at = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      this.heard.push(JSON.parse((data as Buffer).toString("utf8")) as JsonObject);
      this.#look?.();
    });
  }

  static async open({ url, ca, certificate: cert, key }: HandIdentity): Promise<ForeignAgent> {
    const client = new ForeignAgent(new WebSocket(url, { ca, cert, key }));
    await once(client.socket, "open");
    return client;
  }

  say(message: JsonObject | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The next message from the other end. */
  async next(): Promise<JsonObject> {
    while (this.heard.length <= this.#at) await new Promise<void>((resolve) => (this.#look = resolve));
    return this.heard[this.#at++]!;
  }

  async ask(message: JsonObject | string): Promise<JsonObject> {
    this.say(message);
    return this.next();
  }

  /** The reason that the other end gives when it hangs up. */
  async closed(): Promise<string> {
    const [, reason] = (await once(this.socket, "close")) as [number, Buffer];
    return reason.toString("utf8");
  }
}

/** A hello with nothing but what the contract asks for. */
export function helloOf(
  { agentId, name }: HandIdentity,
  capabilities: readonly string[] = SEED_CAPABILITIES,
): JsonObject {
  const timestamp = "2026-01-01T00:00:00Z";
  return { method: "hello", agent_id: agentId, name, version: "9.9", capabilities: [...capabilities], timestamp };
}

const SEED_CAPABILITIES = ["command.exec", "telemetry.push", "file.diff", "file.apply"];

/** Why a WebSocket was not let in: the status and the body of the answer. */
export async function openRefused(url: string, options: ClientOptions): Promise<{ status: number; body: JsonObject }> {
  const socket = new WebSocket(url, options);
  socket.on("error", () => undefined);
  const [, response] = await Promise.race([
    once(socket, "unexpected-response"),
    once(socket, "open").then(() => Promise.reject(new Error("It was let in."))),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    status: (response as { statusCode: number }).statusCode,
    body: JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject,
  };
}

/** A hand of this project in this process, which stays connected until the test is over. */
export class JoinedHand {
  readonly workspace: string;
  readonly hand: Hand;
  readonly state: HandStateFolder;
  readonly identity: HandIdentity;
  readonly ended: Promise<unknown>;
  /** What became of its connections, in words. */
  readonly told: string[] = [];
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;

  private constructor(
    parts: { hand: Hand; state: HandStateFolder; identity: HandIdentity },
    bounds: AgentWsOptions["bounds"],
  ) {
    this.hand = parts.hand;
    this.state = parts.state;
    this.identity = parts.identity;
    this.workspace = parts.hand.workspace;
    this.ended = keepAgentWs({
      state: parts.state,
      hand: parts.hand,
      sample: () => ({ cpu: 0.5 }),
      version: "0.0.1",
      signal: this.#stop.signal,
      up: () => this.#note("up"),
      down: (why, restMs) => this.#note(`down ${why.code} ${Math.round(restMs)}`),
      bounds: { redialMs: 20, redialCapMs: 40, ...bounds },
    }).catch((thrown: unknown) => thrown);
  }

  static async join(t: TestContext, south: SouthboundHarness, more: JoinOptions = {}): Promise<JoinedHand> {
    const folder = temporaryFolder(t);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const hand = await openHand(folder, workspace, { policy: { version: "test", judge: () => ALLOW } });
    const state = await HandStateFolder.open(join(folder, "state"));
    const identity = more.identity ?? (await south.enrolled(more.name, workspace));
    await state.saveIdentity(identity);
    const joined = new JoinedHand({ hand, state, identity }, more.bounds);
    t.after(async () => {
      await joined.leave();
      await hand.close();
    });
    if (more.waits !== false) await joined.tells("up");
    return joined;
  }

  /** Waits until it has told that, so many times. */
  async tells(word: string, times = 1): Promise<void> {
    while (this.told.filter((one) => one.startsWith(word)).length < times)
      await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }

  #note(word: string): void {
    this.told.push(word);
    this.#wake?.();
  }
}

/** How a hand joins. */
export interface JoinOptions {
  readonly name?: string;
  /** One that was enrolled before. */
  readonly identity?: HandIdentity;
  readonly bounds?: AgentWsOptions["bounds"];
  /** Whether to wait until it is connected. */
  readonly waits?: boolean;
}
