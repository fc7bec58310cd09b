import { randomUUID } from "node:crypto";
import { Fault, isObject, SOUTHBOUND_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Bus, ToolSpec } from "@vidro/core";
import { ENROL_PATH } from "@vidro/core/wire/enrolment";
import type { EnrolReply, EnrolRequest } from "@vidro/core/wire/enrolment";
import type { Log } from "../../observe/log.ts";
import type { Authority } from "./authority.ts";
import type { HandRegister } from "../register/hand-register.ts";
import type { Identities } from "./identities.ts";
import type { Invitations } from "./invitations.ts";
import type { HandKeys } from "../agent-http/keys.ts";
import { ENROL_ATTEMPTS, AttemptLimit } from "./attempt-limit.ts";
import type { SouthboundRoute } from "../agent-ws/southbound-server.ts";
import { checkCertificateRequest } from "../agent-ws/message-checks.ts";

/** Dependencies of the enrolment route. */
interface EnrolRouteDependencies {
  readonly authority: () => Promise<Authority>;
  readonly invitations: Invitations;
  readonly identities: Identities;
  readonly keys: Pick<HandKeys, "enrol">;
  readonly hands: Pick<HandRegister, "assertNameFree" | "expect">;
  /** The tools that a hand is assumed to have until its first hello. */
  readonly standardTools: () => Promise<readonly ToolSpec[]>;
  readonly log: Log;
  /** Tells other brains of attempts. */
  readonly bus?: Bus | undefined;
}

/** The route where an invited host gets its identity and its first certificate or key. */
export function enrolRoute(deps: EnrolRouteDependencies): SouthboundRoute {
  const tries = new AttemptLimit(ENROL_ATTEMPTS, undefined, { bus: deps.bus, what: "enrol" });
  return {
    method: "POST",
    path: ENROL_PATH,
    maxBytes: SOUTHBOUND_LIMITS.enrolBytes,
    async handle({ body, address }) {
      tries.takeAttempt(address);
      const asked = parseJson(body.toString("utf8"));
      if (!isObject(asked)) throw new Fault("BAD_REQUEST", "An enrolment is a JSON object.");
      checkCertificateRequest("enrolment", asked);
      return { json: { ...(await enrol(deps, asked as unknown as EnrolRequest)) } };
    },
  };
}

async function enrol(deps: EnrolRouteDependencies, asked: EnrolRequest): Promise<EnrolReply> {
  const { invitations, identities, hands, log } = deps;
  const authority = await deps.authority();
  const id = randomUUID();
  // The certificate is made before the invitation is redeemed, so that a bad CSR does not use it up.
  const { name = asked.name, tags = [] } = await invitations.check(asked.token);
  if (asked.tags?.some((tag) => !tags.includes(tag)) === true) throw otherTags();
  hands.assertNameFree(name);
  const issued = asked.csr === undefined ? undefined : await authority.forHand(id, asked.csr);
  const { owner } = await invitations.redeem(asked.token);
  await identities.add({ id, owner, name, tags, serials: issued === undefined ? [] : [issued.serial] });
  const gateway = issued === undefined ? "agent-http" : "agent-ws";
  const tools = await deps.standardTools();
  await hands.expect({ id, owner, name, tags, gateway, tools, version: "", workspace: "." });
  const enrolled = { ok: true, agent_id: id, name, ca: authority.certificate } as const;
  if (issued !== undefined) {
    log("hand.enrolled", { agent_id: id, name, serial: issued.serial });
    return { ...enrolled, certificate: issued.certificate };
  }
  const { keyid, root } = await deps.keys.enrol(id, owner);
  log("hand.enrolled", { agent_id: id, name, keyid });
  return { ...enrolled, key_id: keyid, key: Buffer.from(root).toString("base64") };
}

/** Tags decide which work a host gets, so that the host cannot choose them. */
function otherTags(): Fault {
  return new Fault("FORBIDDEN", "The tags of a host are those of its invitation: vidro hands invite --tags a,b");
}
