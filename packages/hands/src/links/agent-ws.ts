import { X509Certificate } from "node:crypto";
import { asFault, Fault, REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Hand, JsonObject } from "@vidro/core";
import { CAPABILITIES, SIGNED_APPROVALS } from "@vidro/core/wire/agent-ws";
import type { Hello } from "@vidro/core/wire/agent-ws";
import { readBrainKey } from "../enrol/brain-key.ts";
import type { HandStateFolder, HandIdentity } from "../enrol/hand-state-folder.ts";
import { renewExpired } from "../enrol/join.ts";
import { keepConnected } from "./redial.ts";
import type { OpenConnection, RedialOptions } from "./redial.ts";
import { WsConnection } from "./agent-ws/ws-connection.ts";
import { MessageHandler } from "./message-handler.ts";

/** Settings of a link over WebSocket. */
export interface AgentWsOptions {
  /** The state folder of the hand. */
  readonly state: Pick<HandStateFolder, "readIdentity" | "saveCredentials" | "enterSession" | "highestEpoch">;
  readonly hand: Hand;
  /** The load of the host. */
  readonly sample: () => JsonObject | undefined;
  readonly version: string;
  /** Ends the link. */
  readonly signal: AbortSignal;
  /** Called when a session has begun and the first heartbeat was answered. */
  readonly up?: (identity: HandIdentity) => void;
  readonly down?: RedialOptions<AgentWsConnection>["down"];
  readonly bounds?: Partial<typeof HAND_WS_BOUNDS>;
}

/** An open connection and the identity that it uses. */
interface AgentWsConnection extends OpenConnection {
  readonly identity: HandIdentity;
}

/** Bounds of the link that callers may replace. */
const HAND_WS_BOUNDS: {
  readonly [
    Name in
      | "heartbeatMs"
      | "telemetryMs"
      | "dialMs"
      | "answerMs"
      | "rivalMs"
      | "redialMs"
      | "redialCapMs"
      | "firstDials"
  ]: number;
} = { ...SOUTHBOUND_LIMITS, ...REGISTER_LIMITS };

/**
 * Keeps a hand connected to its brain over a WebSocket until the signal fires; rejects with a fault that retrying
 * cannot cure, such as HAND_REVOKED.
 */
export async function keepAgentWs(options: AgentWsOptions): Promise<void> {
  const link = new AgentWsLink(options);
  const { signal, down, up } = options;
  const hangUp = (): void => link.close();
  signal.addEventListener("abort", hangUp, { once: true });
  try {
    await keepConnected({
      dial: () => link.dial(),
      signal,
      bounds: link.bounds,
      up: ({ identity }) => up?.(identity),
      ...(down === undefined ? {} : { down }),
    });
  } finally {
    signal.removeEventListener("abort", hangUp);
    link.close();
  }
}

class AgentWsLink {
  readonly bounds: typeof HAND_WS_BOUNDS;
  readonly #options: AgentWsOptions;
  readonly #south: MessageHandler;
  #connection: WsConnection | undefined;
  /** How often in a row another process connected with this identity. */
  #rivals = 0;

  constructor(options: AgentWsOptions) {
    this.bounds = { ...HAND_WS_BOUNDS, ...options.bounds };
    this.#options = options;
    this.#south = new MessageHandler({
      hand: options.hand,
      capabilities: CAPABILITIES,
      send: (message) => this.#connection?.send(message) ?? false,
    });
  }

  /** Connects once; resolves after the greeting and the first heartbeat. */
  async dial(): Promise<AgentWsConnection> {
    const { state, signal } = this.#options;
    const identity = await this.#identity().catch((thrown: unknown) => {
      throw this.#explain(asFault(thrown, "BRAIN_UNREACHABLE"));
    });
    const entered = Promise.withResolvers<void>();
    const line = new WsConnection({
      identity,
      bounds: this.bounds,
      hello: this.#hello(identity, await state.highestEpoch(identity.agentId)),
      // Messages wait until the session's epoch is checked and replies can be sent.
      receive: (message) => void entered.promise.then(() => this.#south.receive(message)),
      sample: this.#options.sample,
      renewed: (credentials) => state.saveCredentials(credentials),
    });
    try {
      const welcome = await line.greet();
      await state.enterSession(identity.agentId, welcome.session_epoch ?? 0);
      signal.throwIfAborted();
      this.#connection = line;
      this.#south.startSession(welcome, readBrainKey(identity.ca, identity.agentId));
      entered.resolve();
      await line.heartbeat();
    } catch (thrown) {
      line.close();
      throw this.#explain(asFault(thrown, "BRAIN_UNREACHABLE"));
    }
    line.startTimers();
    return { identity, gone: line.gone.then((why) => this.#explain(why)) };
  }

  close(): void {
    this.#south.close();
    this.#connection?.close();
  }

  /** The identity with a valid certificate; one that expired while the host was off is renewed first. */
  async #identity(): Promise<HandIdentity> {
    const { state } = this.#options;
    const identity = await state.readIdentity();
    if (identity === undefined) throw new Fault("NOT_FOUND", "This host has joined no brain: vidro-hand join");
    const { validToDate } = new X509Certificate(identity.certificate);
    return Date.now() < validToDate.getTime() ? identity : state.saveCredentials(await renewExpired(identity));
  }

  #hello({ agentId, name }: HandIdentity, seen: number): Hello {
    const { hand, version } = this.#options;
    return {
      method: "hello",
      agent_id: agentId,
      name,
      version,
      capabilities: [...CAPABILITIES, SIGNED_APPROVALS],
      timestamp: new Date().toISOString(),
      tools: hand.tools,
      workspace: hand.workspace,
      session_epoch: seen,
      ...(hand.receiptKey === undefined ? {} : { receipt_key: hand.receiptKey }),
    };
  }

  /** Two hands with one identity would replace each other for ever; the one that was replaced waits longer [F29]. */
  #explain(why: Fault): Fault {
    if (why.code !== "CONFLICT") {
      this.#rivals = 0;
      return asTemporary(why);
    }
    const retryAfterMs = Math.min(SOUTHBOUND_LIMITS.rivalCapMs, this.bounds.rivalMs * 2 ** this.#rivals);
    this.#rivals += 1;
    return new Fault(
      "CONNECTION_LOST",
      "Another process came with the identity of this hand, and the newest counts. If it is a copy, let one of the " +
        "two join anew: vidro hands invite",
      { retryAfterMs },
    );
  }
}

/** Makes a refusal with a retry time temporary: a wrong clock or a quarantine can end. */
function asTemporary(why: Fault): Fault {
  const { code, message, retryAfterMs } = why;
  if (retryAfterMs === undefined || (code !== "CERTIFICATE_INVALID" && code !== "HAND_QUARANTINED")) return why;
  return new Fault("CONNECTION_LOST", `The brain refuses this hand for now: ${message}`, { retryAfterMs, cause: why });
}
