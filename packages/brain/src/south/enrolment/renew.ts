import { X509Certificate } from "node:crypto";
import { Fault, isObject, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import type { Bus } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { RENEW_PATH } from "@vidro/core/wire/enrolment";
import type { Authority, IssuedCertificate } from "./authority.ts";
import { peerForRenewal } from "./certified-peer.ts";
import type { PeerCheckDependencies } from "./certified-peer.ts";
import type { SouthboundRoute } from "../agent-ws/southbound-server.ts";
import { checkCertificateRequest } from "../agent-ws/message-checks.ts";
import { ENROL_ATTEMPTS, AttemptLimit } from "./attempt-limit.ts";

/** Dependencies of the renewal route. */
interface RenewRouteDependencies {
  readonly authority: Authority;
  readonly peers: PeerCheckDependencies;
  /** Issues a new certificate to a hand that showed the one of this serial number. */
  readonly renew: (hand: string, serial: string, csr: string) => Promise<IssuedCertificate>;
  /** Tells other brains of attempts. */
  readonly bus?: Bus | undefined;
}

/** The route where a hand whose certificate expired while it was away gets a new one. */
export function renewRoute({ authority, peers, renew, bus }: RenewRouteDependencies): SouthboundRoute {
  const tries = new AttemptLimit(ENROL_ATTEMPTS, undefined, { bus, what: "renew" });
  const own = new X509Certificate(authority.certificate);
  return {
    method: "POST",
    path: RENEW_PATH,
    maxBytes: SOUTHBOUND_LIMITS.enrolBytes,
    async handle({ body, certificate }) {
      const { identity, serial } = await peerForRenewal(certificate, own, peers);
      // Counted per hand: after a long outage of the brain, many hands may reconnect from one address.
      tries.takeAttempt(identity.id);
      const asked = parseJson(body.toString("utf8"));
      if (!isObject(asked)) throw new Fault("BAD_REQUEST", "A renewal is a JSON object.");
      checkCertificateRequest("renewal", asked);
      const issued = await renew(identity.id, serial, textIn(asked, "csr") ?? "");
      return { json: { ok: true, certificate: issued.certificate } };
    },
  };
}
