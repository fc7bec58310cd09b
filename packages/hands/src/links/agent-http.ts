import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { asFault, Fault, REGISTER_LIMITS, isObject, SIGNED_HTTP_LIMITS, textIn } from "@vidro/core";
import type { Hand, JsonObject } from "@vidro/core";
import { MESSAGES_PATH, POLL_PATH } from "@vidro/core/wire/agent-http";
import { CAPABILITIES, SIGNED_APPROVALS } from "@vidro/core/wire/agent-ws";
import type { HelloPolicy, Welcome } from "@vidro/core/wire/agent-ws";
import { readBrainKey } from "../enrol/brain-key.ts";
import type { HandStateFolder, HandIdentity } from "../enrol/hand-state-folder.ts";
import type { ListenAddress } from "../program/listen-flags.ts";
import { askedDelayMs, keepConnected, REDIAL_BOUNDS, redialDelayMs } from "./redial.ts";
import type { OpenConnection, RedialOptions } from "./redial.ts";
import { SignedClient, replyDeadline } from "./agent-http/signed-client.ts";
import type { SignedClientOptions } from "./agent-http/signed-client.ts";
import { KeyRing } from "./agent-http/key-ring.ts";
import { listenSigned } from "./agent-http/signed-listener.ts";
import type { SignedListener, ListenOptions } from "./agent-http/signed-listener.ts";
import { OutgoingMessages } from "./agent-http/outgoing-messages.ts";
import { MessageHandler } from "./message-handler.ts";

/** Settings of a link over signed HTTP. */
export interface AgentHttpOptions extends SignedClientOptions {
  readonly hand: Hand;
  /** Name of this host. */
  readonly name: string;
  /** Version of this program. */
  readonly version: string;
  readonly tags?: readonly string[];
  /** Methods that the hand offers; default: all. */
  readonly capabilities?: readonly string[];
  /** Where this host listens, and the address at which the brain calls it. */
  readonly listen?: ListenAddress;
  /** The load of the host, sent with each heartbeat. */
  readonly sample?: () => JsonObject | undefined;
  /** Ends the link; the hand stays open. */
  readonly signal: AbortSignal;
  /** Called each time a session begins. */
  readonly up?: () => void;
  readonly down?: RedialOptions<OpenConnection>["down"];
  /** Records the epoch of a session; rejects with STALE_EPOCH if a later one was recorded. */
  readonly enter?: (epoch: number) => Promise<void>;
  /** The highest recorded epoch of a session. */
  readonly seen?: () => Promise<number>;
  readonly bounds?: RedialOptions<OpenConnection>["bounds"] & { readonly heartbeatMs?: number };
}

const ROTATE = "key.rotate";

/**
 * Serves a brain that cannot reach this host, by long polling, until the signal fires. Rejects with a fault that
 * retrying cannot cure.
 */
export async function agentHttp(options: AgentHttpOptions): Promise<void> {
  const link = new AgentHttpLink(options);
  const { signal, down, listen, bounds = {} } = options;
  const listener = listen === undefined ? undefined : await link.listen(listen);
  try {
    await keepConnected({
      dial: () => link.dial(),
      signal,
      up: () => options.up?.(),
      ...(down === undefined ? {} : { down }),
      bounds,
    });
  } finally {
    link.close();
    await listener?.close();
  }
}

/** Settings of the link of a host that joined over signed HTTP. */
interface KeepOptions extends Pick<AgentHttpOptions, "hand" | "version" | "signal" | "note"> {
  readonly state: HandStateFolder;
  readonly sample: () => JsonObject | undefined;
  readonly up: (identity: HandIdentity) => void;
  readonly down: NonNullable<AgentHttpOptions["down"]>;
  readonly bounds: NonNullable<AgentHttpOptions["bounds"]>;
  readonly listen?: ListenAddress;
}

/** Keeps the link of a host that has joined, with the identity and keys in its state folder. */
export async function keepAgentHttp({ state, up, ...context }: KeepOptions): Promise<void> {
  const identity = await state.readIdentity();
  if (identity === undefined) throw new Fault("NOT_FOUND", "This host has joined no brain: vidro-hand join");
  const { agentId, url, ca, name } = identity;
  const ring = await KeyRing.open(state.keysFile);
  if (ring.hand !== agentId)
    throw new Fault("STORE_UNREADABLE", `The keys in ${state.keysFile} are another hand's: join the brain again.`);
  const enter = (epoch: number): Promise<void> => state.enterSession(agentId, epoch);
  const seen = (): Promise<number> => state.highestEpoch(agentId);
  await agentHttp({ ...context, url, ca, name, ring, enter, seen, up: () => up(identity), now: Date.now });
}

/** One session with a brain, from its reply to hello until a failure. */
interface HttpSession extends OpenConnection {
  readonly epoch: number;
  readonly policy: HelloPolicy;
  readonly over: AbortSignal;
  /** Called when the brain replied; restarts the silence timer. */
  heard(): void;
  /** Ends the session with a reason. */
  end(why: Fault): void;
}

interface AskOptions {
  readonly session: Pick<HttpSession, "over" | "heard">;
  /** How long the brain may delay its reply. */
  readonly heldMs?: number;
}

class AgentHttpLink {
  readonly #options: AgentHttpOptions;
  readonly #caller: SignedClient;
  readonly #south: MessageHandler;
  readonly #outgoing = new OutgoingMessages();
  readonly #capabilities: readonly string[];
  /** Receivers of replies to messages that the listener accepted, by the id that they were given. */
  readonly #direct = new Map<string, (reply: JsonObject) => void>();
  #session: HttpSession | undefined;

  constructor(options: AgentHttpOptions) {
    this.#options = options;
    this.#capabilities = options.capabilities ?? CAPABILITIES;
    this.#caller = new SignedClient(options);
    this.#south = new MessageHandler({
      hand: options.hand,
      capabilities: this.#capabilities,
      send: (message) => this.#send(message),
    });
  }

  /** Says hello; then fetches messages, sends replies and samples until the session ends. */
  async dial(): Promise<OpenConnection> {
    this.#outgoing.dropLiveOutput();
    const { signal } = this.#options;
    const welcome = await this.#caller.ask(MESSAGES_PATH, await this.#hello(), replyDeadline(signal));
    await this.#options.enter?.(Number(welcome["session_epoch"]));
    const session = startHttpSession(welcome as unknown as Welcome, signal, this.#silenceMs);
    this.#session = session;
    const { ca, ring } = this.#options;
    const brain = ca === undefined ? undefined : readBrainKey(ca, ring.hand);
    this.#south.startSession(welcome as unknown as Welcome, brain);
    for (const loop of [this.#fetch(session), this.#sendOutgoing(session), this.#sample(session)])
      loop.catch((thrown: unknown) => session.end(asFault(thrown)));
    return session;
  }

  /** Listens for messages of the brain, in addition to polling. */
  listen(where: ListenOptions): Promise<SignedListener> {
    const now = (): number => this.#caller.clock.now();
    return listenSigned({ ...where, ring: this.#options.ring, now, answer: (message) => this.#answer(message) });
  }

  close(): void {
    this.#session?.end(new Fault("SHUTTING_DOWN"));
    this.#caller.close();
  }

  async #hello(): Promise<JsonObject> {
    const { hand, name, version, tags, listen, ring, seen } = this.#options;
    return {
      method: "hello",
      agent_id: ring.hand,
      name,
      version,
      capabilities: [...this.#capabilities, ROTATE, SIGNED_APPROVALS],
      timestamp: new Date(this.#caller.clock.now()).toISOString(),
      tools: hand.tools as unknown as JsonObject[],
      workspace: hand.workspace,
      ...(tags === undefined ? {} : { tags }),
      ...(hand.receiptKey === undefined ? {} : { receipt_key: hand.receiptKey }),
      ...(listen === undefined ? {} : { listen_url: listen.url }),
      ...(seen === undefined ? {} : { session_epoch: await seen() }),
    };
  }

  /** Polls for messages. Unacknowledged messages come again; the ledger recognises actions that were done. */
  async #fetch(session: HttpSession): Promise<void> {
    for (let ack = 0; !session.over.aborted;) {
      const asked = { session_epoch: session.epoch, ack };
      const reply = await this.#askUntilAnswered(POLL_PATH, asked, { session, heldMs: SIGNED_HTTP_LIMITS.pollMs });
      const { messages, cursor } = reply;
      for (const message of Array.isArray(messages) ? messages : []) if (isObject(message)) await this.#take(message);
      if (typeof cursor === "number") ack = cursor;
    }
  }

  async #take(message: JsonObject): Promise<void> {
    if (message["method"] !== ROTATE) return void this.#south.receive(message);
    const [keyid, from, salt] = [textIn(message, "key_id"), textIn(message, "from_key_id"), textIn(message, "salt")];
    if (keyid === undefined || from === undefined || salt === undefined) return;
    // Stored before it is acknowledged, so that the message comes again if this process dies before.
    await this.#options.ring.add({ keyid, from, salt });
    this.#options.note(`This hand has its next key, ${keyid}.`);
  }

  /** The reply to a message from the listener; `ok` for a message without a reply. */
  async #answer(message: JsonObject): Promise<JsonObject> {
    // Without a session, orders of an older one could not be recognised.
    if (this.#session === undefined) throw new Fault("HAND_UNAVAILABLE", "This hand has not said hello yet.");
    const id = randomUUID();
    let replied: JsonObject = { ok: true };
    this.#direct.set(id, (reply) => (replied = reply));
    await this.#south.receive({ ...message, id });
    this.#direct.delete(id);
    const { id: _, ...reply } = replied;
    const { id: asked } = message;
    return asked === undefined ? reply : { ...reply, id: asked };
  }

  #send(message: JsonObject): boolean {
    const direct = this.#direct.get(textIn(message, "id") ?? "");
    if (direct !== undefined) {
      direct(message);
      return true;
    }
    const isLive = message["method"] === "exec.output";
    if (isLive && this.#session?.over.aborted !== false) return false;
    return this.#outgoing.add(isLive ? message : { method: "action.result", ...message });
  }

  async #sendOutgoing(session: HttpSession): Promise<void> {
    const { policy, over } = session;
    for (;;) {
      const messages = await this.#outgoing.next(policy.max_payload - ENVELOPE_BYTES, over);
      const [only, ...others] = messages;
      if (over.aborted || only === undefined) return;
      const whole = others.length === 0 ? only : { messages };
      await this.#askUntilAnswered(MESSAGES_PATH, whole, { session }).catch((thrown: unknown) =>
        this.#noteRefusal(thrown),
      );
      this.#outgoing.removeFirst(messages.length);
      if (messages.every(({ method }) => method === "exec.output")) await pauseUntil(SIGNED_HTTP_LIMITS.liveMs, over);
    }
  }

  /** Repeats a request whose reply is lost, within the session; the brain recognises repeated messages by their id. */
  async #askUntilAnswered(path: string, message: JsonObject, { session, heldMs = 0 }: AskOptions): Promise<JsonObject> {
    const { over } = session;
    for (let tries = 1; ; tries += 1) {
      try {
        const reply = await this.#caller.ask(path, message, replyDeadline(over, heldMs));
        session.heard();
        return reply;
      } catch (thrown) {
        const fault = asFault(thrown);
        const { code } = fault;
        const isPassing = code === "BRAIN_UNREACHABLE" || code === "RATE_LIMITED";
        if (!isPassing || over.aborted || tries >= SIGNED_HTTP_LIMITS.tries) throw thrown;
        const bounds = { ...REDIAL_BOUNDS, ...this.#options.bounds };
        await pauseUntil(Math.max(askedDelayMs(fault), redialDelayMs(tries, Math.random(), bounds)), over);
      }
    }
  }

  /** Drops a message that the brain will never accept, so that it does not block the others. */
  #noteRefusal(thrown: unknown): void {
    const { code, message } = asFault(thrown);
    if (!HOPELESS.has(code)) throw thrown;
    this.#options.note(`The brain refused a message: ${message} (${code})`);
  }

  /** Silence after which the brain counts as dead: the heartbeats that it may miss, but at least one poll. */
  get #silenceMs(): number {
    const heartbeatMs = this.#options.bounds?.heartbeatMs ?? REGISTER_LIMITS.heartbeatMs;
    return Math.max(heartbeatMs * REGISTER_LIMITS.heartbeatsMissed, SIGNED_HTTP_LIMITS.pollMs + heartbeatMs);
  }

  async #sample({ over }: HttpSession): Promise<void> {
    const { sample, bounds } = this.#options;
    if (sample === undefined) return;
    while (!over.aborted) {
      const payload = sample();
      const ts = new Date(this.#caller.clock.now()).toISOString();
      if (payload !== undefined) this.#outgoing.add({ method: "telemetry.push", action_id: randomUUID(), payload, ts });
      await pauseUntil(bounds?.heartbeatMs ?? REGISTER_LIMITS.heartbeatMs, over);
    }
  }
}

/** Bytes reserved for the wrapper of several messages. */
const ENVELOPE_BYTES = 64;
const HOPELESS: ReadonlySet<string> = new Set(["BAD_REQUEST", "PAYLOAD_TOO_LARGE"]);

function startHttpSession(
  { session_epoch: epoch, policy }: Welcome,
  signal: AbortSignal,
  silenceMs: number,
): HttpSession {
  const stop = new AbortController();
  const { promise: gone, resolve } = Promise.withResolvers<Fault>();
  const over = AbortSignal.any([signal, stop.signal]);
  let silence: NodeJS.Timeout | undefined;
  const end = (why: Fault): void => {
    clearTimeout(silence);
    resolve(why);
    stop.abort();
  };
  const heard = (): void => {
    clearTimeout(silence);
    if (!stop.signal.aborted) silence = setTimeout(() => end(new Fault("CONNECTION_LOST")), silenceMs);
  };
  heard();
  signal.addEventListener("abort", () => end(new Fault("SHUTTING_DOWN")), { once: true, signal: stop.signal });
  return { epoch, policy, over, gone, heard, end };
}

async function pauseUntil(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
