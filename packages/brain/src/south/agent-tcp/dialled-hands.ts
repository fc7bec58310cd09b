import { randomUUID, X509Certificate } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { asFault, Fault, REGISTER_LIMITS } from "@vidro/core";
import type { DialRequest, JsonObject, StoredRecord } from "@vidro/core";
import { dialTcpHand } from "../agent-tcp.ts";
import type { TcpDial } from "../agent-tcp.ts";
import { dialAddress } from "./dial-address.ts";
import type { DialAddress } from "./dial-address.ts";
import { hasAuthority, openAuthority } from "../enrolment/authority.ts";
import type { Authority } from "../enrolment/authority.ts";
import { standardTools } from "../local.ts";
import { isTransient } from "../../stores/transient-faults.ts";
import { makeWarrants } from "../warrants.ts";
import type { Warrants } from "../warrants.ts";
import { lookupAllowed } from "../allowed-addresses.ts";
import { handsSecret, SecretBox } from "../secret-box.ts";
import { DIALLED_HAND } from "./dial-options.ts";
import type { TcpDiallerOptions } from "./dial-options.ts";

/** A dialled hand in the store; its token is encrypted. */
type StoredDial = Omit<DialRequest, "owner">;

/** The hands that the brain dials; each is a record until it is revoked. */
export class DialledHands {
  readonly #options: TcpDiallerOptions;
  readonly #safe: SecretBox;
  readonly #warrants: Warrants;
  readonly #dialled = new Map<string, TcpDial>();
  readonly #stopHeeding: () => void;
  /** Changes run one after the other, so that two requests with one address make one hand. */
  #changed: Promise<unknown> = Promise.resolve();
  #resuming: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TcpDiallerOptions) {
    this.#options = options;
    this.#safe = new SecretBox(handsSecret(options.folder));
    this.#warrants = makeWarrants(() => foundAuthority(options.folder), Date.now);
    const stops = [
      options.hands.onRevoked((id) => void this.#inTurn(() => this.#forget(id)).catch(this.#report)),
      // A hand that another brain on the same store was told to dial is dialled by this one too.
      options.records.watch(DIALLED_HAND, () => void this.resume()),
    ];
    this.#stopHeeding = () => stops.forEach((stop) => stop());
  }

  /** Dials all hands in the store, and again after a rest while the store cannot be used; deletes those revoked meanwhile. */
  async resume(): Promise<void> {
    const { records } = this.#options;
    clearTimeout(this.#resuming);
    const isTried = (thrown: unknown): boolean => {
      this.#report(thrown);
      return !isTransient(thrown);
    };
    const resumeOne = (record: StoredRecord): Promise<boolean> =>
      this.#inTurn(() => this.#resumeOne(record)).then(() => true, isTried);
    const isDone = await records
      .list(DIALLED_HAND, { limit: REGISTER_LIMITS.dialled })
      .then(async (kept) => (await Promise.all(kept.map(resumeOne))).every(Boolean), isTried);
    if (isDone || this.#isClosed) return;
    this.#resuming = setTimeout(() => void this.resume(), REGISTER_LIMITS.redialMs).unref();
  }

  /**
   * Dials a hand until it is revoked, and returns its id after the first try. A second request with an address gives
   * the same hand another token, name and tags. BAD_REQUEST when the address is none that may be dialled.
   */
  async dial(request: DialRequest): Promise<string> {
    const address = dialAddress(request.url, request.lab === true);
    assertCertificates(request.ca, address);
    const id = await this.#inTurn(() => this.#keep(request, address));
    await Promise.race([this.#dialled.get(id)?.tried, sleep(REGISTER_LIMITS.firstTryMs, undefined, { ref: false })]);
    return id;
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#resuming);
    this.#stopHeeding();
    await this.#changed;
    await Promise.all([...this.#dialled.values()].map((one) => one.close()));
    this.#dialled.clear();
  }

  async #keep({ owner, ...asked }: DialRequest, { url }: DialAddress): Promise<string> {
    const { records } = this.#options;
    const known = await records.list(DIALLED_HAND, { limit: REGISTER_LIMITS.dialled });
    const same = known.find((record) => record.owner === owner && keptIn(record).url === url);
    if (same === undefined && known.length >= REGISTER_LIMITS.dialled)
      throw new Fault("RATE_LIMITED", `This brain dials ${REGISTER_LIMITS.dialled} hands, which is the limit.`);
    const id = same?.id ?? randomUUID();
    const token = await this.#safe.encrypt(nameOf(id), Buffer.from(asked.token));
    const body = { ...asked, url, token } as unknown as JsonObject;
    const record = await records.put({ kind: DIALLED_HAND, id, owner, body });
    await this.#begin(record, 0);
    return id;
  }

  async #resumeOne(record: StoredRecord): Promise<void> {
    if (this.#dialled.has(record.id)) return;
    if ((await this.#options.hands.restrictionOf(record.id)) === "revoked") return this.#forget(record.id);
    // At the start they are dialled one by one.
    await this.#begin(record, Math.random() * REGISTER_LIMITS.redialMs).catch((thrown: unknown) => {
      this.#options.hands.setUnreachable(record.id, asFault(thrown).message);
      throw thrown;
    });
  }

  async #begin(record: StoredRecord, restMs: number): Promise<void> {
    const { id, owner } = record;
    const { url, token: encrypted, name, tags = [], ca, lab } = keptIn(record);
    const { host, port, isTls } = dialAddress(url, lab === true);
    const { hands, log } = this.#options;
    const tools = await standardTools();
    const description = {
      id,
      owner,
      name: name ?? host,
      tags,
      tools,
      gateway: "agent-tcp",
      version: "",
      workspace: "",
    } as const;
    await hands.expect(description);
    const token = Buffer.from(await this.#safe.decrypt(nameOf(id), encrypted)).toString("utf8");
    const tls = ca === undefined ? (true as const) : { ca };
    const called = { id, owner, tags, ...(name === undefined ? {} : { name }) };
    const where = { host, port, lookup: lookupAllowed, ...(isTls ? { tls } : {}) };
    await this.#dialled.get(id)?.close();
    const deps = { hands, log, warrants: this.#warrants };
    this.#dialled.set(id, dialTcpHand({ ...where, ...called, token, restMs }, deps));
  }

  /** Deletes the record of a hand, and its token with it. */
  async #forget(id: string): Promise<void> {
    await this.#dialled.get(id)?.close();
    this.#dialled.delete(id);
    await this.#options.records.delete(DIALLED_HAND, id);
  }

  #inTurn<Done>(change: () => Promise<Done>): Promise<Done> {
    const done = this.#changed.then(change);
    this.#changed = done.catch(() => undefined);
    return done;
  }

  readonly #report = (thrown: unknown): undefined => {
    this.#options.log("hand.dial_failed", { reason: asFault(thrown).message });
  };
}

/** The authority, when there is one: a hand whose keeper was never given its certificate checks nothing by it. */
async function foundAuthority(folder: string): Promise<Authority | undefined> {
  return (await hasAuthority(folder)) ? openAuthority({ folder, now: Date.now }) : undefined;
}

function keptIn({ body }: StoredRecord): StoredDial {
  return body as unknown as StoredDial;
}

/** What the token of a hand is called where it is encrypted: no key of a hand is called so. */
function nameOf(id: string): string {
  return `token of ${id}`;
}

function assertCertificates(ca: string | undefined, { isTls }: DialAddress): void {
  if (ca === undefined) return;
  if (!isTls) throw new Fault("BAD_REQUEST", "Certificates are for tls:// addresses.");
  try {
    void new X509Certificate(ca);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The CA for the hand is no certificate in PEM.", { cause });
  }
}
