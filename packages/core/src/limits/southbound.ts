import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of the listener for hands on other machines, and of their certificates. */

/** Bounds of the southbound listener, of enrolment and of certificates. */
export const SOUTHBOUND_LIMITS = {
  /** Default port. */
  port: 3121,
  /** Open connections; more are closed at once. */
  connections: 12_000,
  /** Wait for the TLS handshake, and for the headers of a request. */
  handshakeMs: 10 * SECOND_MS,
  /** Handshakes started in one turn of the event loop. */
  handshakes: 16,
  /** Wait for a whole request. */
  requestMs: 30 * SECOND_MS,
  /** Wait for the hello after the upgrade. */
  helloMs: 30 * SECOND_MS,
  /** Delay from closing to the end of a connection whose peer does not react. */
  closeMs: 2 * SECOND_MS,
  /** Malformed messages after which a connection is closed. */
  rubbish: 32,
  /** Unhandled messages of one connection beyond which nothing more is read from it. */
  heardAtOnce: 64,
  /** Unsent bytes beyond which the connection of a hand is closed. */
  unsentBytes: 4 * MIB,
  /** Lifetime of the authority's certificate. */
  authorityMs: 10 * 365 * 24 * HOUR_MS,
  /** Lifetime of the listener's certificate. */
  serverMs: 30 * 24 * HOUR_MS,
  /** Remaining lifetime below which the listener's certificate is replaced. */
  serverRenewMs: 7 * 24 * HOUR_MS,
  /** Lifetime of a hand's certificate; it is renewed after two thirds. */
  certificateMs: 24 * HOUR_MS,
  /** Grace period in which an expired certificate is accepted for its renewal only. */
  lapsedMs: 30 * 24 * HOUR_MS,
  /** Certificates are backdated by this, for hosts whose clocks are behind. */
  backdateMs: 5 * MINUTE_MS,
  /** Burst of certificates for one hand. */
  renewBurst: 6,
  /** Time after which one more certificate is allowed; a hand needs one a day. */
  renewEveryMs: HOUR_MS,
  /** Superseded certificates of one hand that are remembered, to detect copies. */
  spentSerials: 32,
  /** Delay before a hand retries after a temporary refusal, such as one due to a wrong clock. */
  passingMs: MINUTE_MS,
  /** Length of a certificate request, in PEM. */
  csrChars: 8 * KIB,
  /** Names and addresses in the listener's certificate. */
  names: 16,
  /** Longest lifetime of an invitation. */
  invitationMs: HOUR_MS,
  /** Open invitations. */
  invitations: 1000,
  /** Size of an enrolment request. */
  enrolBytes: 16 * KIB,
  /** Burst of enrolment attempts of one address. */
  enrolBurst: 10,
  /** Time after which one more attempt is allowed. */
  enrolEveryMs: 2 * SECOND_MS,
  /** Addresses whose attempts are counted; the one with the oldest attempt is dropped. */
  enrolAddresses: 4096,
  /** Burst of downloads, of the install script or an archive, by one address. */
  installBurst: 60,
  /** Time after which one more is allowed. */
  installEveryMs: 2 * SECOND_MS,
  /** Archives that are sent at once; the next host is told to come again. */
  downloads: 64,
  /** Delay before such a host comes again. */
  downloadRestMs: 5 * SECOND_MS,
  /** Longest time in which a host may take an archive. */
  downloadMs: 30 * MINUTE_MS,
  /** Size of the template of the install script. */
  scriptBytes: 64 * KIB,
  /** Platforms that archives are offered for. */
  archives: 16,
  /** Wait for the archive that a clone makes at the first invitation. */
  packageMs: 5 * MINUTE_MS,
  /** Interval at which a hand sends telemetry. */
  telemetryMs: 15 * SECOND_MS,
  /** First delay of a hand after another one connected with its identity, doubled each time [F29]. */
  rivalMs: 10 * MINUTE_MS,
  /** Longest such delay. */
  rivalCapMs: 24 * HOUR_MS,
  /** Wait of a hand for an open WebSocket; when a whole fleet reconnects, handshakes queue [F22]. */
  dialMs: MINUTE_MS,
  /** Wait for the answer to a request of a hand, its enrolment included. */
  answerMs: 30 * SECOND_MS,
} as const;
