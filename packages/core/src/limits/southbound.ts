import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* The listener that hands on other machines dial, and the certificates that they come with. */

/** Bounds of the southbound listener, of enrolment and of certificates. */
export const SOUTHBOUND_LIMITS = {
  /** Where it listens unless told otherwise. */
  port: 3121,
  /** Connections at a time; more are closed at once. */
  connections: 12_000,
  /** From the connection to the end of its TLS handshake, and to the end of its headers. */
  handshakeMs: 10 * SECOND_MS,
  /** Handshakes that begin in one turn of the event loop. */
  handshakes: 16,
  /** Wait for a whole request. */
  requestMs: 30 * SECOND_MS,
  /** From the upgrade to the hello. */
  helloMs: 30 * SECOND_MS,
  /** From the wish to close to the end of a connection whose other end says nothing. */
  closeMs: 2 * SECOND_MS,
  /** Messages of one connection that make no sense before it is closed. */
  rubbish: 32,
  /** Messages of one connection that wait to be heard; then nothing more is read from it. */
  heardAtOnce: 64,
  /** What may be unsent to one hand before its connection is given up. */
  unsentBytes: 4 * MIB,
  /** How long our authority lives. */
  authorityMs: 10 * 365 * 24 * HOUR_MS,
  /** How long a certificate of the listener lives; a new one is made long before. */
  serverMs: 30 * 24 * HOUR_MS,
  /** How often the listener gets a new certificate. */
  serverRenewMs: 7 * 24 * HOUR_MS,
  /** How long a certificate of a hand lives; it is renewed after two thirds. */
  certificateMs: 24 * HOUR_MS,
  /** How long after its end a certificate can still be exchanged for a new one, and do nothing else. */
  lapsedMs: 30 * 24 * HOUR_MS,
  /** Certificates count from this long ago, for hosts whose clocks are behind. */
  backdateMs: 5 * MINUTE_MS,
  /** Certificates that one hand may get at once. */
  renewBurst: 6,
  /** How long one more takes after that: a hand needs one a day. */
  renewEveryMs: HOUR_MS,
  /** Certificates of one hand that are remembered because they are refused from now on. */
  spentSerials: 32,
  /** How long a hand waits that is refused for a reason which passes, such as a clock that is wrong. */
  passingMs: MINUTE_MS,
  /** A request for a certificate, in PEM. */
  csrChars: 8 * KIB,
  /** Names and addresses that the listener is reached by. */
  names: 16,
  /** Longest life of an invitation. */
  invitationMs: HOUR_MS,
  /** Invitations that are open at a time. */
  invitations: 1000,
  /** What an enrolment may send. */
  enrolBytes: 16 * KIB,
  /** Enrolments that one address may try at once. */
  enrolBurst: 10,
  /** How long one more takes after that. */
  enrolEveryMs: 2 * SECOND_MS,
  /** Addresses whose tries are counted; the one that was quiet the longest is forgotten. */
  enrolAddresses: 4096,
  /** How often a hand tells how its host is doing. */
  telemetryMs: 15 * SECOND_MS,
  /** How long a hand steps back when another one came with its identity, doubled each time [F29]. */
  rivalMs: 10 * MINUTE_MS,
  /** Longest time that it steps back. */
  rivalCapMs: 24 * HOUR_MS,
  /** From a hand's dialling to an open WebSocket: when a whole fleet comes back, each waits for its turn [F22]. */
  dialMs: MINUTE_MS,
  /** Wait for the answer to a request of a hand, its enrolment included. */
  answerMs: 30 * SECOND_MS,
} as const;
