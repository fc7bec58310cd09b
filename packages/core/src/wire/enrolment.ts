import { Fault, FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "../limits.ts";
import type { JsonObject } from "../json.ts";

/* How a host becomes a hand of a brain: what it is given to paste, what it asks for, and what it gets. */

/** Where hands say their messages over a WebSocket. */
export const SOUTHBOUND_PATH = "/southbound";

/** Where a host asks for its first certificate, or its first key. */
export const ENROL_PATH = "/southbound/v1/enrol";

/** Where a hand that was away for too long exchanges its certificate. */
export const RENEW_PATH = "/southbound/v1/renew";

/** What is in the token of an invitation. */
export interface InvitationToken {
  /** Names it; 32 hexadecimal digits. */
  readonly id: string;
  /** Known to whoever was invited. */
  readonly secret: string;
  /** SHA-256 of the authority's certificate, by which the host knows the brain before it says anything. */
  readonly fingerprint: string;
}

/** What a host sends to be enrolled. */
export interface EnrolRequest {
  /** The id and the secret of the invitation; the brain knows its own fingerprint. */
  readonly token: string;
  /** A certificate signing request in PEM; a host without one is to sign its messages, and gets a key. */
  readonly csr?: string;
  readonly name: string;
  readonly tags?: readonly string[];
}

/** What an enrolled host gets. */
export interface EnrolReply {
  readonly ok: true;
  readonly agent_id: string;
  readonly name: string;
  /** In PEM, as the next. */
  readonly ca: string;
  /** For a host that sent a request for it. */
  readonly certificate?: string;
  /** For a host that sent none: `<hand>/<key>`. */
  readonly key_id?: string;
  /** The root of that key, in base64. */
  readonly key?: string;
}

/** The variable of the environment that an invitation may be in: the words of a command are seen by every user. */
export const INVITATION_VARIABLE = "VIDRO_INVITATION";

/** What to paste on the host that is invited: its token is in no list of processes. */
export function joinCommand(url: string, token: string): string {
  return `${INVITATION_VARIABLE}=${token} vidro hands join ${url}`;
}

const NEXT_FOR_JOINING: { readonly [Code in FaultCode]?: string } = {
  INVALID_TOKEN: "Ask for another invitation: vidro hands invite",
  CONFLICT: "Choose another --name, or revoke the hand that has it: vidro hands list",
  FORBIDDEN: "Ask for an invitation with these tags: vidro hands invite --tags a,b",
};

/** What to do next when a host cannot be invited or cannot join: the token that is wrong then is an invitation. */
export function nextForJoining(code: FaultCode): string {
  return NEXT_FOR_JOINING[code] ?? FAULTS[code].next;
}

const TOKEN = /^([0-9a-f]{32})\.([\w-]{43})\.([\w-]{43})$/;

/** The token as it is pasted. */
export function formatInvitation({ id, secret, fingerprint }: InvitationToken): string {
  return `${id}.${secret}.${fingerprint}`;
}

/** What is in a token that was pasted; BAD_REQUEST when it is none. */
export function parseInvitation(text: string): InvitationToken {
  const [, id, secret, fingerprint] = TOKEN.exec(text.trim()) ?? [];
  if (id === undefined || secret === undefined || fingerprint === undefined)
    throw new Fault("BAD_REQUEST", "That is no token of an invitation; copy the whole of it: vidro hands invite");
  return { id, secret, fingerprint };
}

/** The part of a token that goes to the brain. */
export function formatInvitationProof({ id, secret }: InvitationToken): string {
  return `${id}.${secret}`;
}

/** The id and the secret that a host shows; nothing when they are none. */
export function parseInvitationProof(text: string): Omit<InvitationToken, "fingerprint"> | undefined {
  const [, id, secret] = /^([0-9a-f]{32})\.([\w-]{43})$/.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

const word: JsonObject = { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.nameChars };

/** What a renewal must be. */
export const RENEW_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["csr"],
  properties: { csr: { type: "string", minLength: 1, maxLength: SOUTHBOUND_LIMITS.csrChars } },
};

/** What an enrolment must be. */
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
