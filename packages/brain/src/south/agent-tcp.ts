import { TcpClient } from "@vidro/client/tcp";
import type { TcpAddress } from "@vidro/client/tcp";
import { asFault, HANDS, TCP } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { TcpHello } from "@vidro/core/wire/tcp";
import type { Log } from "../log.ts";
import { cardOf } from "./agent-tcp/card.ts";
import { foreignLink } from "./agent-tcp/foreign-link.ts";
import { tcpLink } from "./agent-tcp/tcp-link.ts";
import type { TcpWire } from "./agent-tcp/tcp-link.ts";
import type { Attached, Hands } from "./hands.ts";
import { standardTools } from "./local.ts";

/** A hand that listens for TCP, and whose it is here. */
export interface TcpHand extends TcpAddress {
  /** One of the hand's own: with scope `hand` for one of ours, with the scopes of the protocol for others. */
  readonly token: string;
  readonly owner: string;
  /** What to call it; default: as it calls itself. */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** How often it is asked whether it lives. */
  readonly heartbeatMs?: number;
  /** First rest before it is dialled again. */
  readonly redialMs?: number;
}

/** What the gateway needs. */
export interface TcpGatewayWorld {
  readonly hands: Pick<Hands, "attach">;
  readonly log: Log;
}

/** A hand that is dialled until it is let go. */
export interface Dialled {
  /** Settles when the hand was reached for the first time; rejects with the Fault of one that refuses us for good. */
  readonly reached: Promise<void>;
  close(): Promise<void>;
}

/** Dials a hand, gives it to the register whenever it is there, and dials again whenever it is not. */
export function dialTcpHand(hand: TcpHand, world: TcpGatewayWorld): Dialled {
  return new Dialling(hand, world);
}

class Dialling implements Dialled {
  readonly reached: Promise<void>;
  readonly #hand: TcpHand;
  readonly #world: TcpGatewayWorld;
  readonly #id: string;
  readonly #client: TcpClient;
  #wire: TcpWire | undefined;
  #attached: Attached | undefined;
  #attaching: Promise<void> = Promise.resolve();

  constructor(hand: TcpHand, world: TcpGatewayWorld) {
    const { host, port = TCP.port, tls, token, heartbeatMs = HANDS.heartbeatMs, redialMs = HANDS.redialMs } = hand;
    this.#hand = hand;
    this.#world = world;
    this.#id = `tcp:${host}:${port}`;
    this.#client = new TcpClient({
      host,
      port,
      token,
      heartbeatMs,
      backoffMs: redialMs,
      maxFrame: TCP.answerBytes,
      ...(tls === undefined ? {} : { tls }),
      onUp: (session, hello) => this.#up(session, hello),
      onDown: () => this.#down(),
      onRefused: (thrown) => this.#warn("a hand that listens lets us in no more", thrown),
    });
    this.reached = this.#client.keepConnected().then(() => this.#attaching);
    this.reached.catch((thrown: unknown) => this.#warn("a hand that listens does not let us in", thrown));
  }

  async close(): Promise<void> {
    this.#down();
    await this.#client.close();
    await this.#attaching;
  }

  #up(session: JsonObject, hello: TcpHello): void {
    const client = this.#client;
    const wire: TcpWire = {
      isUp: true,
      request: (act, data, options) => client.request(act, data, options),
      close: () => void client.close(),
    };
    this.#wire = wire;
    this.#attaching = this.#attach(wire, session, hello).catch((thrown: unknown) => {
      this.#warn("a hand that listens is not let in", thrown);
      if (this.#wire === wire) void client.close();
    });
  }

  async #attach(wire: TcpWire, session: JsonObject, hello: TcpHello): Promise<void> {
    const { owner, tags = [] } = this.#hand;
    const isOurs = hello.extensions?.includes("RUN_TOOL") === true;
    const said = cardOf(isOurs ? session["hand"] : undefined, await standardTools());
    const name = this.#hand.name ?? said.name ?? this.#hand.host;
    const version = said.version ?? hello.serverVersion ?? "";
    const card = { ...said, id: this.#id, owner, name, version, tags, gateway: "agent-tcp" } as const;
    const link = isOurs ? tcpLink(wire) : foreignLink(wire, card.tools);
    const attached = await this.#world.hands.attach(card, link);
    // It may have gone while it was let in.
    if (wire.isUp) this.#attached = attached;
    else attached.detach();
  }

  #warn(what: string, thrown: unknown): void {
    this.#world.log("warn", what, { agent_id: this.#id, reason: asFault(thrown).message });
  }

  #down(): void {
    if (this.#wire !== undefined) this.#wire.isUp = false;
    this.#wire = undefined;
    this.#attached?.detach();
    this.#attached = undefined;
  }
}
