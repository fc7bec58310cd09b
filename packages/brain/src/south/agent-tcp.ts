import { setTimeout as sleep } from "node:timers/promises";
import { TcpClient } from "@vidro/client/tcp";
import type { TcpAddress } from "@vidro/client/tcp";
import { asFault, Fault, REGISTER_LIMITS, isObject, TCP_LIMITS, textIn } from "@vidro/core";
import type { FaultReport, JsonObject } from "@vidro/core";
import type { TcpHello } from "@vidro/core/wire/agent-tcp";
import { tcpHandName } from "@vidro/core/wire/warrant";
import { contain } from "../observe/containment.ts";
import type { Log } from "../observe/log.ts";
import { describeTcpHand } from "./agent-tcp/hand-description.ts";
import { foreignLink } from "./agent-tcp/foreign-link.ts";
import { tcpFault, tcpLink } from "./agent-tcp/tcp-link.ts";
import type { TcpWire } from "./agent-tcp/tcp-link.ts";
import type { AttachedHand, HandRegister } from "./register/hand-register.ts";
import type { AddWarrant } from "./agent-ws/southbound-link.ts";
import type { Warrants } from "./warrants.ts";
import { loadRedial, standardTools } from "./local.ts";

/** A hand that listens for TCP, and its owner here. */
export interface TcpHand extends Omit<TcpAddress, "signal"> {
  /** Its identity here; default: its address. */
  readonly id?: string;
  /** One of the hand's own: with scope `hand` for one of ours, with the scopes of the protocol for others. */
  readonly token: string;
  readonly owner: string;
  /** Its name; default: the one that it reports. */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** Interval of the heartbeat. */
  readonly heartbeatMs?: number;
  /** Delay before the first dial. */
  readonly restMs?: number;
  /** First delay before it is dialled again. */
  readonly redialMs?: number;
  /** First delay before it is dialled again after a refusal. */
  readonly refusedMs?: number;
}

/** Dependencies of the gateway `agent-tcp`. */
interface TcpGatewayDependencies {
  readonly hands: Pick<HandRegister, "attach" | "setUnreachable">;
  readonly log: Log;
  /** Signs approvals, for hands that have the brain's key. */
  readonly warrants?: Warrants;
}

/** A hand that is dialled until it is closed or revoked. */
export interface TcpDial {
  /** Resolves when the hand was reached for the first time; rejects with its fault when it refuses first. */
  readonly reached: Promise<void>;
  /** Resolves after the first try, whatever its result. */
  readonly tried: Promise<void>;
  close(): Promise<void>;
}

/** Keeps a hand dialled, and attaches each connection to the register. */
export function dialTcpHand(hand: TcpHand, deps: TcpGatewayDependencies): TcpDial {
  return new DiallingHand(hand, deps);
}

class DiallingHand implements TcpDial {
  readonly reached: Promise<void>;
  readonly tried: Promise<void>;
  readonly #hand: TcpHand;
  readonly #deps: TcpGatewayDependencies;
  readonly #id: string;
  readonly #reached = Promise.withResolvers<void>();
  readonly #tried = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  readonly #kept: Promise<void>;
  /** Refusals since the last connection. */
  #refusals = 0;
  #lastTrouble: string | undefined;

  constructor(hand: TcpHand, deps: TcpGatewayDependencies) {
    this.#hand = hand;
    this.#deps = deps;
    this.#id = hand.id ?? `tcp:${hand.host}:${hand.port ?? TCP_LIMITS.port}`;
    this.reached = this.#reached.promise;
    this.reached.catch(() => undefined);
    this.tried = this.#tried.promise;
    this.#kept = this.#keep().finally(() => this.#over());
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#kept;
  }

  /** Rejects the promises that are still pending. */
  #over(): void {
    this.#tried.resolve();
    this.#reached.reject(new Fault("HAND_UNAVAILABLE", "The hand is not dialled any more."));
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stop;
    const { redialMs = REGISTER_LIMITS.redialMs, restMs = 0 } = this.#hand;
    const { keepConnected } = await loadRedial();
    const bounds = { redialMs, firstDials: Number.POSITIVE_INFINITY };
    await rest(restMs, signal);
    while (!signal.aborted) {
      const keeping = keepConnected({
        dial: () => this.#connect(),
        signal,
        up: () => this.#up(),
        down: (why) => this.#trouble(why),
        bounds,
      });
      const why = await keeping.then(() => undefined, asFault);
      if (why === undefined || why.code === "HAND_REVOKED") return;
      this.#refusals += 1;
      this.#trouble(why);
      this.#reached.reject(why);
      await rest(this.#refusedRestMs(), signal);
    }
  }

  /** A random delay between half and all of a bound that doubles each time, since each try costs the hand a token check. */
  #refusedRestMs(): number {
    const { refusedMs = REGISTER_LIMITS.refusedMs } = this.#hand;
    const longest = Math.min(refusedMs * 2 ** (this.#refusals - 1), REGISTER_LIMITS.refusedCapMs);
    return longest * (0.5 + Math.random() / 2);
  }

  #up(): void {
    this.#refusals = 0;
    this.#lastTrouble = undefined;
    this.#tried.resolve();
    this.#reached.resolve();
  }

  #trouble({ code, message }: Fault): void {
    const why = (code === "HAND_UNAVAILABLE" ? message : `It refuses us: ${code}: ${message}`).slice(
      0,
      REGISTER_LIMITS.whyChars,
    );
    this.#deps.hands.setUnreachable(this.#id, why);
    this.#tried.resolve();
    if (why === this.#lastTrouble) return;
    this.#lastTrouble = why;
    this.#deps.log("hand.unreachable", { agent_id: this.#id, reason: why });
  }

  /** Opens one connection; it is in the register when this resolves. */
  async #connect(): Promise<{ readonly gone: Promise<Fault> }> {
    const { token, heartbeatMs = REGISTER_LIMITS.heartbeatMs, owner: _, ...address } = this.#hand;
    const gone = Promise.withResolvers<Fault>();
    let attached: AttachedHand | undefined;
    const client = new TcpClient({
      ...address,
      token,
      heartbeatMs,
      maxFrame: TCP_LIMITS.answerBytes,
      reconnect: false,
      signal: this.#stop.signal,
      onHeard: () => attached?.seen(),
      onDown: (why) => end(tcpFault(why)),
    });
    const wire: TcpWire = {
      isUp: true,
      request: (act, data, options) => client.request(act, data, options),
      close: (why) => {
        this.#stopIfFinal(why);
        end(new Fault(why.code, why.message));
        void client.close();
      },
    };
    const end = (why: Fault): void => {
      wire.isUp = false;
      attached?.detach();
      gone.resolve(why);
    };
    try {
      const contained = { fields: { agent_id: this.#id }, end: (fault: Fault) => wire.close(fault.report()) };
      const hello = await contain(contained, () => client.connect());
      attached = await this.#attach(wire, client.session ?? {}, hello);
    } catch (thrown) {
      await client.close();
      throw tcpFault(thrown);
    }
    // The connection may have gone while it was being attached.
    if (!wire.isUp) attached.detach();
    return { gone: gone.promise };
  }

  /** What it calls itself goes into what is signed, as the name of a hand of this wire and of no other. */
  #warrantAdder({ hand }: JsonObject): AddWarrant | undefined {
    const { warrants } = this.#deps;
    return warrants && ((order) => warrants(tcpHandName(isObject(hand) ? (textIn(hand, "id") ?? "") : ""), order));
  }

  /** Whether a close by the register is final: the hand was revoked, or the brain shuts down. */
  #stopIfFinal({ code }: FaultReport): void {
    if (code === "HAND_REVOKED" || code === "SHUTTING_DOWN") this.#stop.abort();
  }

  async #attach(wire: TcpWire, session: JsonObject, hello: TcpHello): Promise<AttachedHand> {
    const { owner, tags = [] } = this.#hand;
    const isOurs = hello.extensions?.includes("RUN_TOOL") === true;
    const said = describeTcpHand(
      isOurs ? session["hand"] : undefined,
      this.#hand.name ?? this.#hand.host,
      await standardTools(),
    );
    const name = this.#hand.name ?? said.name ?? this.#hand.host;
    const version = said.version ?? hello.serverVersion ?? "";
    const description = { ...said, id: this.#id, owner, name, version, tags, gateway: "agent-tcp" } as const;
    return this.#deps.hands.attach(
      description,
      isOurs ? tcpLink(wire, this.#warrantAdder(session)) : foreignLink(wire, description.tools),
    );
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}
