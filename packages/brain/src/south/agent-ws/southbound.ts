import { hostname } from "node:os";
import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Bus, InvitationLetter, InvitationOptions, Invitee, Records, ToolSpec } from "@vidro/core";
import { formatInvitation, installCommand, joinCommand, SOUTHBOUND_PATH } from "@vidro/core/wire/enrolment";
import type { Log } from "../../observe/log.ts";
import type { TakeSample } from "../../observe/telemetry.ts";
import { AgentHttp } from "../agent-http.ts";
import { agentWsGateway } from "../agent-ws.ts";
import type { AgentWsDependencies } from "../agent-ws.ts";
import { openAuthority } from "../enrolment/authority.ts";
import type { Authority, IssuedCertificate } from "../enrolment/authority.ts";
import { HandArchives } from "../enrolment/archives.ts";
import type { ArchiveSource } from "../enrolment/archives.ts";
import { certifiedPeer } from "../enrolment/certified-peer.ts";
import { archiveRoutes, installScript } from "../enrolment/installation.ts";
import { enrolRoute } from "../enrolment/enrol.ts";
import type { HandRegister } from "../register/hand-register.ts";
import { Identities } from "../enrolment/identities.ts";
import { Invitations } from "../enrolment/invitations.ts";
import { HandKeys } from "../agent-http/keys.ts";
import { renewRoute } from "../enrolment/renew.ts";
import { AttemptLimit } from "../enrolment/attempt-limit.ts";
import { handsSecret } from "../secret-box.ts";
import { makeWarrants } from "../warrants.ts";
import type { Warrants } from "../warrants.ts";
import { serveSouthbound } from "./southbound-server.ts";
import type { SouthboundRoute, SouthboundServer } from "./southbound-server.ts";

/** Dependencies of the listener for hands on other machines. */
export interface SouthboundOptions {
  /** The folder of the authority and of the key that secrets are encrypted with. */
  readonly folder: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Names and addresses that other machines reach this one by; without any, it listens on loopback only. */
  readonly hosts: readonly string[];
  readonly records: Records;
  readonly hands: HandRegister;
  readonly take: TakeSample;
  readonly standardTools: () => Promise<readonly ToolSpec[]>;
  /** Where the archives lie that invited hosts install; without it they need Vidro before they join. */
  readonly archives?: ArchiveSource;
  /** Routes besides enrolment. */
  readonly routes?: readonly SouthboundRoute[];
  readonly version: string;
  /** Tells other brains of attempts to join, to renew and to sign. */
  readonly bus?: Bus;
  readonly log: Log;
  readonly now: () => number;
  /** Lower bounds than those of the gateway, for tests. */
  readonly bounds?: AgentWsDependencies["bounds"];
}

const COPIED =
  "Two hosts have come as this hand: one of its certificates is a copy. Revoke it and invite the host again, unless " +
  "the host was set back to an earlier state.";
const RENEWALS = {
  burst: SOUTHBOUND_LIMITS.renewBurst,
  everyMs: SOUTHBOUND_LIMITS.renewEveryMs,
  kept: SOUTHBOUND_LIMITS.connections,
};

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/** The listener for hands on other machines: enrolment, renewal, `agent-ws` and `agent-http`. */
export class SouthboundListener {
  readonly #options: SouthboundOptions;
  readonly #identities: Identities;
  readonly #invitations: Invitations;
  readonly #keys: HandKeys;
  readonly #http: AgentHttp;
  readonly #warrants: Warrants;
  readonly #archives: HandArchives | undefined;
  readonly #renewals = new AttemptLimit(RENEWALS);
  #authority: Promise<Authority> | undefined;
  #listening: Promise<SouthboundServer> | undefined;

  constructor(options: SouthboundOptions) {
    this.#options = options;
    this.#identities = new Identities(options.records);
    this.#invitations = new Invitations(options.records, options.now);
    const { records, now, folder } = options;
    this.#archives = options.archives && new HandArchives(options.archives);
    this.#keys = new HandKeys({ records, now, secret: handsSecret(folder) });
    const { hands, take, standardTools, version, log } = options;
    this.#warrants = makeWarrants(() => this.#openAuthority(), now);
    const shared = options.bus === undefined ? {} : { bus: options.bus };
    const said = { hands, take, standardTools, version, log, now, records, warrants: this.#warrants, ...shared };
    this.#http = new AgentHttp({ ...said, keys: this.#keys, identities: this.#identities, scheme: "https" });
  }

  /** Starts to listen, unless it does already, and returns the address that hands dial. */
  async listen(): Promise<string> {
    this.#listening ??= this.#serve();
    const listening = this.#listening;
    try {
      const { port } = await listening;
      const [host = "127.0.0.1"] = this.#options.hosts;
      return `wss://${host.includes(":") ? `[${host}]` : host}:${port}${SOUTHBOUND_PATH}`;
    } catch (thrown) {
      if (this.#listening === listening) this.#listening = undefined;
      throw thrown;
    }
  }

  /** Invites a host; durable when it resolves. */
  async invite(who: Invitee, { lifeMs, installed = false }: InvitationOptions = {}): Promise<InvitationLetter> {
    if (who.name !== undefined) this.#options.hands.assertNameFree(who.name);
    const url = await this.listen();
    const { fingerprint } = await this.#openAuthority();
    const archives = installed ? [] : ((await this.#archives?.prepare()) ?? []);
    const { id, secret, expiresAt } = await this.#invitations.make(who, lifeMs);
    const token = formatInvitation({ id, secret, fingerprint });
    const needsVidro = archives.length === 0;
    const command = needsVidro ? joinCommand(url, token) : await this.#installLine(url, token);
    return { command, token, url, expiresAt, needsVidro, onlyHere: this.#options.hosts.length === 0 };
  }

  /** The line that installs a hand on a host, and has it join. */
  async #installLine(url: string, token: string): Promise<string> {
    const { pin, sha256 } = await this.#installScript(url);
    return installCommand({ url, token, pin, sha256 });
  }

  /** The install script for hosts that reach this listener by an address. */
  async #installScript(url: string) {
    const authority = await this.#openAuthority();
    const { cert } = await authority.forListener(namesOf(this.#options.hosts));
    return installScript(this.#archives, { url, cert });
  }

  /** Gives a hand that signs its messages its next key, and returns the id of that key. */
  async rotateKey(hand: string): Promise<string> {
    return (await this.#http.rotate(hand)).keyid;
  }

  /** Allows a hand that listens to be called at an address, or at none. */
  async allowAddress(hand: string, url: string | undefined): Promise<void> {
    await this.#http.allowAddress(hand, url);
  }

  /** Hangs up and stops listening. */
  async close(): Promise<void> {
    this.#http.close();
    const server = await this.#listening?.catch(() => undefined);
    await server?.close();
  }

  /** The authority, opened or created at first use. */
  #openAuthority(): Promise<Authority> {
    const { folder, now } = this.#options;
    this.#authority ??= openAuthority({ folder, now }).catch((thrown: unknown) => {
      this.#authority = undefined;
      throw thrown;
    });
    return this.#authority;
  }

  async #serve(): Promise<SouthboundServer> {
    const { port, hosts, hands, take, standardTools, version, log, now, bounds, bus, routes = [] } = this.#options;
    const authority = await this.#openAuthority();
    const identities = this.#identities;
    const peers = {
      brain: authority.brain,
      identities,
      barred: (hand: string) => hands.restrictionOf(hand),
      copied: (hand: string, serial: string) => this.#quarantineCopied(hand, serial),
      now,
    };
    const names = namesOf(hosts);
    const [invitations, keys] = [this.#invitations, this.#keys];
    const enrolling = {
      authority: async () => authority,
      invitations,
      identities,
      keys,
      hands,
      standardTools,
      log,
      bus,
    };
    const renew = (hand: string, used: string, csr: string) => this.#renew(authority, { hand, used, csr });
    const renewing = { authority, peers, renew, bus };
    return serveSouthbound({
      host: hosts.length === 0 ? "127.0.0.1" : undefined,
      port,
      ca: authority.certificate,
      credentials: () => authority.forListener(names),
      routes: [
        enrolRoute(enrolling),
        renewRoute(renewing),
        ...archiveRoutes(this.#archives, async () => this.#installScript(await this.listen())),
        ...this.#http.routes(),
        ...routes,
      ],
      admit: (socket) => certifiedPeer(socket, peers),
      accept: agentWsGateway({
        hands,
        take,
        renew,
        warrants: this.#warrants,
        standardTools,
        version,
        log,
        now,
        ...(bounds === undefined ? {} : { bounds }),
      }),
      log,
    });
  }

  async #renew(
    authority: Authority,
    { hand, used, csr }: { hand: string; used: string; csr: string },
  ): Promise<IssuedCertificate> {
    const retryAfterMs = SOUTHBOUND_LIMITS.passingMs;
    if ((await this.#options.hands.restrictionOf(hand)) === "quarantined")
      throw new Fault("HAND_QUARANTINED", "A hand in quarantine gets no new certificate.", { retryAfterMs });
    const { serials = [] } = (await this.#identities.find(hand)) ?? {};
    if (!serials.includes(used)) throw new Fault("CERTIFICATE_INVALID", "A newer certificate has taken its place.");
    this.#renewals.takeAttempt(hand);
    const issued = await authority.forHand(hand, csr);
    const generation = await this.#identities.renew(hand, { used, fresh: issued.serial });
    this.#options.log("hand.certificate_renewed", { agent_id: hand, serial: issued.serial, generation });
    return issued;
  }

  /** Quarantines a hand of which a copied certificate is in use, until a person has looked at it. */
  async #quarantineCopied(hand: string, serial: string): Promise<void> {
    const { hands, log } = this.#options;
    if ((await hands.restrictionOf(hand)) !== undefined) return;
    log("hand.certificate_copied", { agent_id: hand, serial });
    await hands.quarantine(hand, COPIED);
  }
}

/** The names and addresses that the listener's certificate is for, each once. */
function namesOf(hosts: readonly string[]): readonly string[] {
  const own = hosts.length === 0 ? [] : [hostname()];
  const names = [...new Set([...LOOPBACK, ...hosts, ...own].map((name) => name.toLowerCase()))];
  const wrong = names.find((name) => !/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+)$/.test(name));
  if (wrong !== undefined) throw new Fault("BAD_REQUEST", `${wrong} is no name or address of a host.`);
  if (names.length > SOUTHBOUND_LIMITS.names)
    throw new Fault("BAD_REQUEST", `A listener goes by ${SOUTHBOUND_LIMITS.names} names and addresses at most.`);
  return names;
}
