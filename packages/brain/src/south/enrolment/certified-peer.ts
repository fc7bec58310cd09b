import type { HandRestriction } from "@vidro/core";
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import { CLIENT_AUTH } from "./authority.ts";
import type { Identities, Identity } from "./identities.ts";

/** A hand that has shown a valid certificate. */
export interface CertifiedPeer {
  readonly identity: Identity;
  /** Of the certificate that it came with. */
  readonly serial: string;
  readonly expiresAt: number;
}

/** Dependencies of the check of a certificate. */
export interface PeerCheckDependencies {
  /** The brain's id. */
  readonly brain: string;
  readonly identities: Identities;
  /** Read from the store each time; when it cannot be read, no hand is admitted. */
  readonly barred: (hand: string) => Promise<HandRestriction | undefined>;
  /** Is told of a hand of whose certificates a second copy is in use, before the one that shows it is refused. */
  readonly copied: (hand: string, serial: string) => Promise<void>;
  readonly now: () => number;
}

/**
 * Who is at the other end of a connection: AUTH_REQUIRED without a certificate, CERTIFICATE_INVALID with one that does
 * not count, HAND_REVOKED with one of a hand that was revoked.
 */
export async function certifiedPeer(socket: TLSSocket, deps: PeerCheckDependencies): Promise<CertifiedPeer> {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined)
    throw new Fault("AUTH_REQUIRED", "A hand comes with a certificate of this brain: vidro hands invite");
  // The TLS library has followed the chain up to our authority, and looked at dates and usage.
  if (!socket.authorized) throw invalid(WHY[String(socket.authorizationError)] ?? "it is not of this brain");
  const now = deps.now();
  if (now < certificate.validFromDate.getTime() || now >= certificate.validToDate.getTime()) throw invalid(OVER);
  const peer = await onRecord(certificate, deps);
  await deps.identities.came(peer.identity, peer.serial);
  return peer;
}

/**
 * Who has shown a certificate whose time is over, though not for long: good for a new one and for nothing else, so that
 * a host which was off, or whose brain was, comes back by itself. Rejects like `certifiedPeer`.
 */
export async function lapsed(
  certificate: X509Certificate | undefined,
  authority: X509Certificate,
  deps: PeerCheckDependencies,
): Promise<CertifiedPeer> {
  if (certificate === undefined) throw new Fault("AUTH_REQUIRED", "A certificate is exchanged for a new one.");
  // The TLS library does not say whether its time is all that is wrong with it.
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey))
    throw invalid("it is not of this brain");
  if (deps.now() >= certificate.validToDate.getTime() + SOUTHBOUND_LIMITS.lapsedMs) throw invalid(OVER);
  return onRecord(certificate, deps);
}

async function onRecord(certificate: X509Certificate, deps: PeerCheckDependencies): Promise<CertifiedPeer> {
  const hand = handIn(certificate, deps);
  const identity = await deps.identities.find(hand);
  if (identity === undefined) throw invalid("no such hand was enrolled here");
  if ((await deps.barred(hand)) === "revoked") throw new Fault("HAND_REVOKED");
  if (identity.spent?.includes(certificate.serialNumber) === true) await deps.copied(hand, certificate.serialNumber);
  if (!identity.serials.includes(certificate.serialNumber)) throw invalid("a newer one has taken its place");
  return { identity, serial: certificate.serialNumber, expiresAt: certificate.validToDate.getTime() };
}

/** The hand that a certificate names, and nothing but this hand. */
function handIn(certificate: X509Certificate, { brain }: PeerCheckDependencies): string {
  const { ca, subjectAltName } = certificate;
  // One that says nothing of what it is for has none, whatever its type says.
  const usage: readonly string[] | undefined = certificate.keyUsage;
  if (ca || usage?.join(",") !== CLIENT_AUTH) throw invalid("it is not one for a client and only that");
  const [, domain, hand] = /^URI:spiffe:\/\/([\w-]+)\/hand\/([\w-]+)$/.exec(subjectAltName ?? "") ?? [];
  if (hand === undefined || domain !== brain) throw invalid("it does not name a hand of this brain");
  return hand;
}

const OVER = "its time is over, or has not come";
const WHY: { readonly [error: string]: string } = {
  CERT_HAS_EXPIRED: OVER,
  CERT_NOT_YET_VALID: OVER,
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is signed by itself",
  INVALID_PURPOSE: "it is not one for a client and only that",
};

/** One whose time is wrong may be right when a clock is: the hand is told to come again. */
function invalid(why: string): Fault {
  const more = why === OVER ? { retryAfterMs: SOUTHBOUND_LIMITS.passingMs } : {};
  return new Fault("CERTIFICATE_INVALID", `The certificate does not count: ${why}.`, more);
}
