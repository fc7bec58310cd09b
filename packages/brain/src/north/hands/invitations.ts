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
    installed: { type: "boolean", description: "The host has Vidro already: the command installs nothing." },
    expires_in_ms: { type: "integer", minimum: 1, maximum: SOUTHBOUND_LIMITS.invitationMs },
  },
};

interface InvitationBody {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly installed?: boolean;
  readonly expires_in_ms?: number;
}

const INVITATION: JsonObject = {
  type: "object",
  required: ["command", "needs_vidro", "token", "url", "expires_at", "only_here"],
  properties: {
    command: { type: "string", description: "The line to paste on the host." },
    needs_vidro: { type: "boolean", description: "Whether Vidro has to be installed on the host before." },
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
        status: 201,
        handle: (call) => invite(admission, call),
      },
    ],
  };
}

async function invite(admission: InvitationsDependencies["admission"], { body, caller }: RouteCall): Promise<Reply> {
  const { name, tags, installed, expires_in_ms: lifeMs } = body as InvitationBody;
  const invitee = {
    owner: caller.owner,
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
  };
  const { command, needsVidro, token, url, expiresAt, onlyHere } = await admission.invite(invitee, {
    ...(lifeMs === undefined ? {} : { lifeMs }),
    ...(installed === undefined ? {} : { installed }),
  });
  const expires_at = new Date(expiresAt).toISOString();
  return { status: 201, json: { command, needs_vidro: needsVidro, token, url, expires_at, only_here: onlyHere } };
}
