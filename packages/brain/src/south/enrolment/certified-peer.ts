import type { HandRestriction } from "@vidro/core";
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import { CLIENT_AUTH } from "./authority.ts";
import type { Identities, Identity } from "./identities.ts";

/** A hand that has shown a valid certificate. */
export interface CertifiedPeer {
  readonly identity: Identity;
  /** Serial number of the certificate that it showed. */
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
  /** Called before a superseded certificate is refused: a second copy of the hand's key is in use. */
  readonly copied: (hand: string, serial: string) => Promise<void>;
  readonly now: () => number;
}

/**
 * Identifies the hand at the other end of a connection: AUTH_REQUIRED without a certificate, CERTIFICATE_INVALID with
 * one that is not accepted, HAND_REVOKED when the hand was revoked.
 */
export async function certifiedPeer(socket: TLSSocket, deps: PeerCheckDependencies): Promise<CertifiedPeer> {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined)
    throw new Fault("AUTH_REQUIRED", "A hand needs a certificate of this brain: vidro hands invite");
  // The TLS library has verified the chain up to our authority, the dates and the usage.
  if (!socket.authorized) throw invalid(WHY[String(socket.authorizationError)] ?? NOT_OURS);
  const now = deps.now();
  if (now < certificate.validFromDate.getTime() || now >= certificate.validToDate.getTime()) throw invalid(OUT_OF_DATE);
  const peer = await onRecord(certificate, deps);
  await deps.identities.markUsed(peer.identity, peer.serial);
  return peer;
}

/**
 * Identifies a hand by a certificate that may have expired within the grace period. It is accepted for a renewal only,
 * so that a host recovers by itself after it or its brain was down. Rejects like `certifiedPeer`.
 */
export async function peerForRenewal(
  certificate: X509Certificate | undefined,
  authority: X509Certificate,
  deps: PeerCheckDependencies,
): Promise<CertifiedPeer> {
  if (certificate === undefined) throw new Fault("AUTH_REQUIRED", "A renewal needs the certificate that it replaces.");
  // The TLS library reports one error only, so that an expired certificate may be wrong in other ways too.
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) throw invalid(NOT_OURS);
  if (deps.now() >= certificate.validToDate.getTime() + SOUTHBOUND_LIMITS.lapsedMs) throw invalid(OUT_OF_DATE);
  return onRecord(certificate, deps);
}

async function onRecord(certificate: X509Certificate, deps: PeerCheckDependencies): Promise<CertifiedPeer> {
  const hand = handIn(certificate, deps);
  const identity = await deps.identities.find(hand);
  if (identity === undefined) throw invalid("no such hand was enrolled here");
  if ((await deps.barred(hand)) === "revoked") throw new Fault("HAND_REVOKED");
  if (identity.spent?.includes(certificate.serialNumber) === true) await deps.copied(hand, certificate.serialNumber);
  if (!identity.serials.includes(certificate.serialNumber)) throw invalid("a newer one has replaced it");
  return { identity, serial: certificate.serialNumber, expiresAt: certificate.validToDate.getTime() };
}

/** The id of the hand in a certificate that is for a hand of this brain and nothing else. */
function handIn(certificate: X509Certificate, { brain }: PeerCheckDependencies): string {
  const { ca, subjectAltName } = certificate;
  // Undefined, despite its type, when the certificate has no extended key usage.
  const usage: readonly string[] | undefined = certificate.keyUsage;
  if (ca || usage?.join(",") !== CLIENT_AUTH) throw invalid(NOT_CLIENT);
  const [, domain, hand] = /^URI:spiffe:\/\/([\w-]+)\/hand\/([\w-]+)$/.exec(subjectAltName ?? "") ?? [];
  if (hand === undefined || domain !== brain) throw invalid("it does not name a hand of this brain");
  return hand;
}

const OUT_OF_DATE = "it has expired, or is not valid yet";
const NOT_OURS = "it is not of this brain";
const NOT_CLIENT = "it is not for client authentication alone";
const WHY: { readonly [error: string]: string } = {
  CERT_HAS_EXPIRED: OUT_OF_DATE,
  CERT_NOT_YET_VALID: OUT_OF_DATE,
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is self-signed",
  INVALID_PURPOSE: NOT_CLIENT,
};

/** A certificate out of date may be due to a wrong clock, so that the hand is told to retry. */
function invalid(why: string): Fault {
  const more = why === OUT_OF_DATE ? { retryAfterMs: SOUTHBOUND_LIMITS.passingMs } : {};
  return new Fault("CERTIFICATE_INVALID", `The certificate is not accepted: ${why}.`, more);
}
