import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Action, Hand, JsonObject, Order, Records } from "@vidro/core";
import { signMessage, deriveKeys } from "@vidro/core/wire/agent-http";
import type { SignedMessage, DirectionKeys } from "@vidro/core/wire/agent-http";
import { AgentHttp } from "../../packages/brain/src/south/agent-http.ts";
import type { AgentHttpDependencies } from "../../packages/brain/src/south/agent-http.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import { Identities } from "../../packages/brain/src/south/enrolment/identities.ts";
import { HandKeys } from "../../packages/brain/src/south/agent-http/keys.ts";
import { standardTools } from "../../packages/brain/src/south/local.ts";
import { signatureCrypto } from "../../packages/brain/src/south/agent-http/signature-crypto.ts";
import { secretFile } from "../../packages/brain/src/stores/secret-file.ts";
import type { Store } from "../../packages/brain/src/stores/store.ts";
import { agentHttp } from "../../packages/hands/src/links/agent-http.ts";
import type { AgentHttpOptions } from "../../packages/hands/src/links/agent-http.ts";
import { KeyRing } from "../../packages/hands/src/links/agent-http/key-ring.ts";
import { collectSamples } from "./samples.ts";
import { openHand, temporaryFolder } from "./local-runs.ts";
import { openStoreUnderTest } from "./store-under-test.ts";

/* A brain that listens for signed messages on a free port, hosts that come to it, and strangers that try. */

const ALLOW = { decision: "allow", rule: "test", class: "code-exec", reason: "It is a test." } as const;

/** How the brain of a test differs from any other. */
export interface SignedBrainOptions {
  /** How approvals are signed; not at all when it is left out. */
  readonly warrants?: AgentHttpDependencies["warrants"];
  readonly bounds?: AgentHttpDependencies["bounds"];
  /** The reply that the asker gets in the place of the one that the brain made for it. */
  readonly swapReply?: (
    asked: { readonly path: string; readonly signatureInput: string },
    reply: SwappedReply,
  ) => SwappedReply;
  /** Whether the reply to a message is lost on its way, after the message was handled. */
  readonly isLost?: (path: string, message: string) => boolean;
}

/** A reply of the brain, signed. */
export interface SwappedReply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
}

/** One process of a brain over the store of a folder. */
export class SignedBrain {
  readonly samples: JsonObject[] = [];
  /** The clock of the brain. */
  clock: () => number = Date.now;
  readonly records: Records;
  readonly hands: HandRegister;
  readonly keys: HandKeys;
  readonly gateway: AgentHttp;
  readonly #server: Server;
  readonly #close: () => Promise<void>;
  readonly #isLost: NonNullable<SignedBrainOptions["isLost"]>;
  readonly #swapReply: NonNullable<SignedBrainOptions["swapReply"]>;

  private constructor(folder: string, store: Store, options: SignedBrainOptions) {
    const { records, journal } = store;
    const now = (): number => this.clock();
    this.records = records;
    this.hands = new HandRegister({ records, log: () => undefined, now });
    this.keys = new HandKeys({
      records,
      secret: () => secretFile(join(folder, "south.key"), SIGNED_HTTP_LIMITS.keyBytes),
      now,
    });
    this.gateway = new AgentHttp({
      hands: this.hands,
      keys: this.keys,
      identities: new Identities(records),
      records,
      warrants: options.warrants ?? (async (_, order) => order),
      take: collectSamples(this.samples, now),
      standardTools,
      log: () => undefined,
      now,
      version: "1.2.3",
      scheme: "http",
      ...(options.bounds === undefined ? {} : { bounds: options.bounds }),
    });
    this.#isLost = options.isLost ?? (() => false);
    this.#swapReply = options.swapReply ?? ((_, reply) => reply);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    this.#close = async () => {
      await this.hands.close();
      this.gateway.close();
      this.#server.closeAllConnections();
      this.#server.close();
      await journal.close();
    };
  }

  static async open(t: TestContext, folder: string, options: SignedBrainOptions = {}): Promise<SignedBrain> {
    const brain = new SignedBrain(folder, await openStoreUnderTest(folder), options);
    await brain.hands.load();
    brain.#server.listen(0, "127.0.0.1");
    await once(brain.#server, "listening");
    t.after(() => brain.close());
    return brain;
  }

  #closed: Promise<void> | undefined;

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Puts a host on record, with its first key. */
  async enrol(id: string): Promise<{ readonly keyid: string; readonly root: Uint8Array }> {
    await new Identities(this.records).add({ id, owner: "ana", name: id, tags: [], serials: [] });
    return this.keys.enrol(id, "ana");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const target = request.url ?? "/";
    const route = this.gateway.routes().find(({ path }) => path === target.split("?")[0]);
    const left = new AbortController();
    response.once("close", () => left.abort());
    if (route === undefined || request.method !== "POST") return void response.writeHead(404).end();
    const { headers, rawHeaders } = request;
    const body = Buffer.concat(chunks);
    const said = await route.handle({ target, headers, rawHeaders, body, address: "", signal: left.signal });
    if (this.#isLost(route.path, body.toString("utf8"))) return void response.destroy();
    const signatureInput = String(headers["signature-input"]);
    const made = { status: said.status ?? 200, headers: said.headers ?? {}, text: "text" in said ? said.text : "" };
    const reply = this.#swapReply({ path: route.path, signatureInput }, made);
    response.writeHead(reply.status, reply.headers).end(reply.text);
  }
}

/** A host with a hand that allows everything, or asks about it. */
export interface SignedHost {
  readonly hand: Hand;
  readonly ring: KeyRing;
  readonly workspace: string;
  /** Begins to come to a brain; resolves when it was welcomed. */
  join(url: string, more?: Partial<AgentHttpOptions>): Promise<JoinedSignedHost>;
}

/** A host that comes to a brain. */
export interface JoinedSignedHost {
  /** Resolves when the link has ended, with why if it did by itself. */
  readonly ended: Promise<unknown>;
  leave(): void;
}

/** Makes a host for a hand that was enrolled. */
export async function signedHost(
  t: TestContext,
  keyid: string,
  root: Uint8Array,
  decision: "allow" | "ask" = "allow",
): Promise<SignedHost> {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const policy = { version: "test", judge: () => ({ ...ALLOW, decision }) };
  const hand = await openHand(folder, workspace, { policy });
  t.after(() => hand.close());
  const ring = await KeyRing.create(join(folder, "key.json"), { keyid, root: Buffer.from(root).toString("base64") });
  return {
    hand,
    ring,
    workspace,
    async join(url, more = {}) {
      const stop = new AbortController();
      const { promise: up, resolve } = Promise.withResolvers<void>();
      const { signal } = stop;
      const bounds = { redialMs: 10, redialCapMs: 50 };
      const fixed = { url, ring, hand, signal, bounds, now: Date.now, note: () => undefined, up: resolve };
      const ended = agentHttp({ ...fixed, name: "host", version: "1.0.0", ...more }).catch((thrown: unknown) => thrown);
      t.after(async () => {
        stop.abort();
        await ended;
      });
      await Promise.race([up, ended]);
      return { ended, leave: () => stop.abort() };
    },
  };
}

/** A key, ready to sign with. */
export interface Signer {
  readonly keyid: string;
  readonly keys: DirectionKeys;
}

/** What is signed, and when. */
export interface Signable {
  readonly url: string;
  readonly message: JsonObject;
  readonly now?: number;
  readonly nonce?: string;
}

/** The keys of a hand that was enrolled. */
export function signerOf({ keyid, root }: { readonly keyid: string; readonly root: Uint8Array }): Signer {
  return { keyid, keys: deriveKeys(root, keyid, signatureCrypto) };
}

/** A request as raw bytes, signed as our own client signs; and how to believe its reply. */
export function signedBytes(
  { keyid, keys }: Signer,
  what: Signable,
): { readonly bytes: Buffer; readonly asked: SignedMessage } {
  const { message, now = Date.now(), nonce = randomBytes(16).toString("base64url") } = what;
  const url = new URL(what.url);
  const asked = signMessage({ url, message, crypto: signatureCrypto, from: "toBrain", keys, keyid, nonce, now });
  return { bytes: requestBytes(url, asked.headers, asked.body), asked };
}

/** A request with these fields as raw bytes. */
export function requestBytes(url: URL, headers: { readonly [name: string]: string }, body: Uint8Array): Buffer {
  const fields = { host: url.host, connection: "close", ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
}

/** A reply, as it came. */
export interface RawReply {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly code: string | undefined;
}

/** Sends bytes as they are to where they go, and reads what comes until the other end hangs up. */
export async function sent(url: string, bytes: Uint8Array): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(socket, "close");
  const whole = Buffer.concat(chunks);
  const end = whole.indexOf("\r\n\r\n");
  const [first = "", ...lines] = whole.subarray(0, end).toString("latin1").split("\r\n");
  const body = whole.subarray(end + 4);
  const rawHeaders = lines.flatMap((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
  const code = /"code":"(\w+)"/.exec(body.toString("utf8"))?.[1];
  return { status: Number(first.split(" ")[1]), rawHeaders, body, code };
}

let last = 0;

/** An order to run a program. */
export function orderOf(command: string, args: readonly string[] = []): Order {
  last += 1;
  const action: Action = { id: `act_${last}`, tool: "command", input: { command, args }, callId: "c" };
  return { action, run: "run_1", epoch: 1, ttlMs: 60_000 };
}
