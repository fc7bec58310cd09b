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
import { keepConnected, REDIAL_BOUNDS, redialDelayMs } from "./redial.ts";
import type { OpenConnection, RedialOptions } from "./redial.ts";
import { SignedClient, replyDeadline } from "./agent-http/signed-client.ts";
import type { SignedClientOptions } from "./agent-http/signed-client.ts";
import { KeyRing } from "./agent-http/key-ring.ts";
import { listenSigned } from "./agent-http/signed-listener.ts";
import type { SignedListener, ListenOptions } from "./agent-http/signed-listener.ts";
import { OutgoingMessages } from "./agent-http/outgoing-messages.ts";
import { MessageHandler } from "./message-handler.ts";

/** How a hand comes to a brain over signed HTTP. */
export interface AgentHttpOptions extends SignedClientOptions {
  readonly hand: Hand;
  /** What people call this host. */
  readonly name: string;
  /** Version of this program. */
  readonly version: string;
  readonly tags?: readonly string[];
  /** What the hand does; all that there is without it. */
  readonly capabilities?: readonly string[];
  /** Where this host listens, and the address at which the brain calls it. */
  readonly listen?: ListenAddress;
  /** Tells of the host, each heartbeat. */
  readonly sample?: () => JsonObject | undefined;
  /** Ends the link; the hand is left to its owner. */
  readonly signal: AbortSignal;
  /** Called each time that the brain has welcomed the hand. */
  readonly up?: () => void;
  readonly down?: RedialOptions<OpenConnection>["down"];
  /** Takes note of a session of the brain; rejects with STALE_EPOCH when a later one was seen. */
  readonly enter?: (epoch: number) => Promise<void>;
  /** The highest epoch of a session that was taken note of. */
  readonly seen?: () => Promise<number>;
  readonly bounds?: RedialOptions<OpenConnection>["bounds"] & { readonly heartbeatMs?: number };
}

const ROTATE = "key.rotate";

/**
 * Serves a brain that cannot reach this host, by asking it again and again what is to be done, until the signal fires.
 * Rejects with the fault that makes another try pointless.
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

/** What a host that has joined a brain over signed HTTP keeps its link with. */
interface KeepOptions extends Pick<AgentHttpOptions, "hand" | "version" | "signal" | "note"> {
  readonly state: HandStateFolder;
  readonly sample: () => JsonObject | undefined;
  readonly up: (identity: HandIdentity) => void;
  readonly down: NonNullable<AgentHttpOptions["down"]>;
  readonly bounds: NonNullable<AgentHttpOptions["bounds"]>;
  readonly listen?: ListenAddress;
}

/** Keeps the link of a host that has joined, with the identity and the keys in its state. */
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

/** One session with a brain: from its welcome until something goes wrong. */
interface HttpSession extends OpenConnection {
  readonly epoch: number;
  readonly policy: HelloPolicy;
  readonly over: AbortSignal;
  /** The brain showed that it lives. */
  heard(): void;
  /** Something went wrong. */
  end(why: Fault): void;
}

interface AskOptions {
  readonly session: Pick<HttpSession, "over" | "heard">;
  /** How long the brain may hold its answer back. */
  readonly heldMs?: number;
}

class AgentHttpLink {
  readonly #options: AgentHttpOptions;
  readonly #caller: SignedClient;
  readonly #south: MessageHandler;
  readonly #outgoing = new OutgoingMessages();
  readonly #capabilities: readonly string[];
  /** Who waits for the reply to a message that came by itself, by the id that it was given. */
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

  /** Says hello; what the brain then wants is done, and what it is to know is told, until the connection is gone. */
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

  /** Takes messages of the brain itself, besides those that it fetches. */
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

  /** Messages that went out before and were not told to have arrived come again: the ledger knows what was done. */
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
    // Kept before it is acknowledged: a message that is lost with this process comes again.
    await this.#options.ring.add({ keyid, from, salt });
    this.#options.note(`This hand has its next key, ${keyid}.`);
  }

  /** The reply to a message that came by itself; one that asks for none is only said to have come. */
  async #answer(message: JsonObject): Promise<JsonObject> {
    // Without a session it would not be known which orders are of an older one.
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

  /** Asks again when a reply is lost: what comes twice is known by its id, and the session need not begin anew. */
  async #askUntilAnswered(path: string, message: JsonObject, { session, heldMs = 0 }: AskOptions): Promise<JsonObject> {
    const { over } = session;
    for (let tries = 1; ; tries += 1) {
      try {
        const reply = await this.#caller.ask(path, message, replyDeadline(over, heldMs));
        session.heard();
        return reply;
      } catch (thrown) {
        const { code, retryAfterMs = 0 } = asFault(thrown);
        const isPassing = code === "BRAIN_UNREACHABLE" || code === "RATE_LIMITED";
        if (!isPassing || over.aborted || tries >= SIGNED_HTTP_LIMITS.tries) throw thrown;
        const bounds = { ...REDIAL_BOUNDS, ...this.#options.bounds };
        await pauseUntil(Math.max(retryAfterMs, redialDelayMs(tries, Math.random(), bounds)), over);
      }
    }
  }

  /** A message that the brain will never take must not hold up the others. */
  #noteRefusal(thrown: unknown): void {
    const { code, message } = asFault(thrown);
    if (!HOPELESS.has(code)) throw thrown;
    this.#options.note(`The brain refused a message: ${message} (${code})`);
  }

  /** A brain that lives answers at least each poll; one that does not is dead after the heartbeats that it may miss. */
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

/** Room for what messages are wrapped in. */
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
