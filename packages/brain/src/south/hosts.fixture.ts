import { randomUUIDv7 } from "node:crypto";
import { mkdtempSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import type { Action, ActionEnd, FaultReport, Hand, HandDescription, Judgement, Model, Order } from "@vidro/core";
import { localHand } from "@vidro/hands";
import { thisHolder } from "../stores/lease-holder.ts";
import { liveBus } from "../run/live-bus.ts";
import { lineHead } from "../observe/log.ts";
import type { Log, LogFields } from "../observe/log.ts";
import { Runs } from "../run/runs.ts";
import { openStore } from "../stores/stores.ts";
import type { Store } from "../stores/store.ts";
import { HandRegister } from "./register/hand-register.ts";
import type { RegisteredHand } from "./register/registered-hand.ts";
import type { HandLink, OutputSink } from "./link.ts";

/** A link without a wire: the hand itself is behind it, and goes on when the link is cut. */
export class BareLink implements HandLink {
  /** Why it was hung up on. */
  readonly closes: FaultReport[] = [];
  readonly acknowledged: string[] = [];
  /** Resolves with the first order that was given. */
  readonly ordered: Promise<Order>;
  readonly #hand: Hand;
  readonly #gone = Promise.withResolvers<never>();
  readonly #ordered = Promise.withResolvers<Order>();

  constructor(hand: Hand) {
    this.#hand = hand;
    this.ordered = this.#ordered.promise;
    this.#gone.promise.catch(() => undefined);
  }

  judge(action: Action): Promise<Judgement | FaultReport> {
    return Promise.race([this.#gone.promise, this.#hand.judge(action)]);
  }

  perform(order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    const ended = this.#ended(order, hear, signal);
    this.#ordered.resolve(order);
    return Promise.race([this.#gone.promise, ended]);
  }

  acknowledge(action: string): void {
    this.acknowledged.push(action);
    void this.#hand.acknowledge(action);
  }

  close(why: FaultReport): void {
    this.closes.push(why);
    this.cut();
  }

  /** Breaks the connection: pending calls reject. */
  cut(): void {
    this.#gone.reject(new Fault("HAND_UNAVAILABLE", "The link is cut."));
  }

  async #ended(order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    for await (const event of this.#hand.perform(order, signal)) {
      if (event.type !== "output") return event;
      hear(event.stream, event.chunk);
    }
    throw new Error("The hand ended without a word.");
  }
}

/** A host: a hand that allows everything, and how it is known. */
export interface Host {
  readonly description: HandDescription;
  readonly hand: Hand;
}

/** Everything that a register and its hosts need, on a disk that is gone in the end. */
export class Landscape implements AsyncDisposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "vidro-south-")));
  readonly log: LogFields[] = [];
  readonly #open: { close(): Promise<unknown> }[] = [];

  /** The file of the store. */
  get file(): string {
    return join(this.folder, "journal.db");
  }

  /** A brain's register on the disk of this landscape. */
  async register(
    now: () => number = Date.now,
    local?: RegisteredHand,
  ): Promise<{ readonly hands: HandRegister; readonly store: Store }> {
    const store = await openStore("sqlite", this.file);
    const log: Log = (event, fields) => void this.log.push({ ...lineHead(event), ...fields });
    const hands = new HandRegister({ records: store.records, log, now, ...(local === undefined ? {} : { local }) });
    await hands.load();
    this.#open.push({ close: () => hands.close() }, store.journal);
    return { hands, store };
  }

  /** A hand of a host of its own. */
  async host(name: string, more: Partial<HandDescription> = {}): Promise<Host> {
    const home = join(this.folder, `host-${more.id ?? name}`);
    const workspace = join(home, "workspace");
    mkdirSync(workspace, { recursive: true });
    const verdict = { decision: "allow", rule: "open", class: "code-exec", reason: "Everything may run." } as const;
    const policy = { version: "open", judge: () => verdict };
    const hand = await localHand({ id: name, workspace, state: join(home, "state"), policy });
    this.#open.push(hand);
    return { hand, description: describeHand(hand, { id: `hand-${name}`, name, ...more }) };
  }

  /** The runs over a store and a register, with the model that decides. */
  runs(store: Store, hands: HandRegister, model: Model): Runs {
    const runs = new Runs({
      journal: store.journal,
      model: async () => model,
      hand: ({ hand = "" }) => hands.at(hand),
      live: liveBus(),
      redactor: redactor([]),
      now: Date.now,
      chance: () => 0,
      holder: thisHolder(),
      newId: (prefix) => `${prefix}_${randomUUIDv7()}`,
      newActionId: () => `act_${randomUUIDv7()}`,
      report: () => undefined,
    });
    this.#open.unshift(runs);
    return runs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#open) await one.close().catch(() => undefined);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a host says of itself. */
function describeHand(
  hand: Hand,
  more: Partial<HandDescription> & { readonly id: string; readonly name: string },
): HandDescription {
  const { workspace, tools } = hand;
  return { owner: "ana", gateway: "agent-ws", version: "1.2.3", workspace, tools, tags: [], ...more };
}
