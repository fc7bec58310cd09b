import { REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { HandAdmission, JsonObject } from "@vidro/core";
import { plainFault } from "../ops.ts";
import type { RouteCall, Reply, Surface } from "../../http/route.ts";

/** Dependencies of this surface. */
interface InvitationsDependencies {
  readonly admission: Pick<HandAdmission, "invite">;
}

const word = { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.nameChars } as const;

const INVITATION_BODY: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    name: word,
    tags: { type: "array", maxItems: REGISTER_LIMITS.tags, items: word },
    expires_in_ms: { type: "integer", minimum: 1, maximum: SOUTHBOUND_LIMITS.invitationMs },
  },
};

const INVITATION: JsonObject = {
  type: "object",
  required: ["command", "token", "url", "expires_at", "only_here"],
  properties: {
    command: { type: "string", description: "The command to run on the host." },
    token: { type: "string", description: "Valid once." },
    url: { type: "string" },
    expires_at: { type: "string", format: "date-time" },
    only_here: { type: "boolean", description: "Whether only the brain's own machine can reach the address." },
  },
};

/** Invites hosts to become hands. */
export function invitations({ admission }: InvitationsDependencies): Surface {
  return {
    name: "invitations",
    faultBody: plainFault,
    routes: [
      {
        method: "POST",
        path: "/v1/hands/invitations",
        summary: "Invite a host to become a hand",
        scope: "admin",
        body: INVITATION_BODY,
        answer: INVITATION,
        handle: (call) => invite(admission, call),
      },
    ],
  };
}

async function invite(admission: InvitationsDependencies["admission"], { body, caller }: RouteCall): Promise<Reply> {
  const { name, tags, expires_in_ms: lifeMs } = body as { name?: string; tags?: string[]; expires_in_ms?: number };
  const invitee = {
    owner: caller.owner,
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
  };
  const { command, token, url, expiresAt, onlyHere } = await admission.invite(invitee, lifeMs);
  const invitation = { command, token, url, expires_at: new Date(expiresAt).toISOString(), only_here: onlyHere };
  return { status: 201, json: invitation };
}
