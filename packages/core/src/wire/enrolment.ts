import { Fault, FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "../limits.ts";
import type { JsonObject } from "../json.ts";

/* Enrolment: the invitation, the request of the host and the reply of the brain. */

/** Path of the WebSocket for hands. */
export const SOUTHBOUND_PATH = "/southbound";

/** Path for requesting the first certificate or key. */
export const ENROL_PATH = "/southbound/v1/enrol";

/** Path for exchanging an expired certificate. */
export const RENEW_PATH = "/southbound/v1/renew";

/** The parts of an invitation's token. */
export interface InvitationToken {
  /** Id of the invitation; 32 hexadecimal digits. */
  readonly id: string;
  /** Secret of the invited host. */
  readonly secret: string;
  /** SHA-256 of the authority's certificate; the host checks the brain with it before it sends anything. */
  readonly fingerprint: string;
}

/** The body of an enrolment request. */
export interface EnrolRequest {
  /** The id and the secret of the invitation; the brain knows its own fingerprint. */
  readonly token: string;
  /** A certificate signing request in PEM; without one the host gets a key for signing its messages. */
  readonly csr?: string;
  readonly name: string;
  readonly tags?: readonly string[];
}

/** The reply to an enrolment. */
export interface EnrolReply {
  readonly ok: true;
  readonly agent_id: string;
  readonly name: string;
  /** In PEM, as the next. */
  readonly ca: string;
  /** Set when the request had a `csr`. */
  readonly certificate?: string;
  /** Set when the request had no `csr`: `<hand>/<key>`. */
  readonly key_id?: string;
  /** The root of that key, in base64. */
  readonly key?: string;
}

/** Environment variable for an invitation; arguments of a command are visible to every user of the host. */
export const INVITATION_VARIABLE = "VIDRO_INVITATION";

/** The command to paste on the invited host; its token does not appear in process lists. */
export function joinCommand(url: string, token: string): string {
  return `${INVITATION_VARIABLE}=${token} vidro hands join ${url}`;
}

const NEXT_FOR_JOINING: { readonly [Code in FaultCode]?: string } = {
  INVALID_TOKEN: "Ask for another invitation: vidro hands invite",
  CONFLICT: "Choose another --name, or revoke the hand that has it: vidro hands list",
  FORBIDDEN: "Ask for an invitation with these tags: vidro hands invite --tags a,b",
};

/** What to do next when inviting or joining fails; here INVALID_TOKEN is about an invitation. */
export function nextForJoining(code: FaultCode): string {
  return NEXT_FOR_JOINING[code] ?? FAULTS[code].next;
}

const TOKEN = /^([0-9a-f]{32})\.([\w-]{43})\.([\w-]{43})$/;

/** The token of an invitation as text. */
export function formatInvitation({ id, secret, fingerprint }: InvitationToken): string {
  return `${id}.${secret}.${fingerprint}`;
}

/** Parses the token of an invitation; BAD_REQUEST when it is not one. */
export function parseInvitation(text: string): InvitationToken {
  const [, id, secret, fingerprint] = TOKEN.exec(text.trim()) ?? [];
  if (id === undefined || secret === undefined || fingerprint === undefined)
    throw new Fault("BAD_REQUEST", "That is no token of an invitation; copy the whole of it: vidro hands invite");
  return { id, secret, fingerprint };
}

/** The part of the token that is sent to the brain. */
export function formatInvitationProof({ id, secret }: InvitationToken): string {
  return `${id}.${secret}`;
}

/** Parses the id and the secret that a host sends; undefined when they are malformed. */
export function parseInvitationProof(text: string): Omit<InvitationToken, "fingerprint"> | undefined {
  const [, id, secret] = /^([0-9a-f]{32})\.([\w-]{43})$/.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

const word: JsonObject = { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.nameChars };

/** JSON Schema of a renewal. */
export const RENEW_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["csr"],
  properties: { csr: { type: "string", minLength: 1, maxLength: SOUTHBOUND_LIMITS.csrChars } },
};

/** JSON Schema of an enrolment. */
export const ENROL_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["token", "name"],
  properties: {
    token: word,
    csr: { type: "string", minLength: 1, maxLength: SOUTHBOUND_LIMITS.csrChars },
    name: word,
    tags: { type: "array", maxItems: REGISTER_LIMITS.tags, items: word },
  },
};
