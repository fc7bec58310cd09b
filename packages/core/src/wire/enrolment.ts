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

/** Path of the script that installs a hand and joins the brain; anyone may read it. */
export const INSTALL_PATH = "/southbound/v1/install";

/** Path of the archive that the script installs; the query names the platform. */
export const ARCHIVE_PATH = "/southbound/v1/archive";

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

/** The command to run on an invited host that has Vidro; its token does not appear in process lists. */
export function joinCommand(url: string, token: string): string {
  return `${INVITATION_VARIABLE}=${token} vidro hands join ${url}`;
}

/** The parts of the line for a host without Vidro. */
export interface InstallLine {
  /** The address that hands dial. */
  readonly url: string;
  readonly token: string;
  /** SHA-256 of the listener's public key, in base64, as curl pins it. */
  readonly pin: string;
  /** SHA-256 of the install script, in hexadecimal; the script has that of each archive. */
  readonly sha256: string;
}

/**
 * The line to paste on an invited host that has nothing of Vidro. What it fetches is run only when it has the hash that
 * the line names; curl also checks the server's key before it asks for anything. The token stays in the environment:
 * only the hand reads it, and sends it to no server but the brain. On a host that this invitation has joined already
 * the line starts the hand again, without asking the brain for anything.
 */
export function installCommand({ url, token, pin, sha256 }: InstallLine): string {
  const { host } = new URL(url);
  const from = `https://${host}${INSTALL_PATH}`;
  const script = [
    "PATH=$PATH:$HOME/.local/bin:/usr/local/bin",
    "has() { command -v $1 >/dev/null 2>&1; }",
    'no() { echo "vidro: $2 Nothing was run." >&2; exit $1; }',
    "if has vidro-hand; then vidro-hand rejoin; c=$?; [ $c = 3 ] || exit $c; fi",
    "f=$(mktemp) || exit 1",
    String.raw`trap "rm -f \"$f\"" 0`,
    `if has curl; then curl -fsSk --pinnedpubkey sha256//${pin} -o "$f" ${from}; elif has wget; then wget -q --no-check-certificate -O "$f" ${from}; else no 1 "There is neither curl nor wget."; fi`,
    "c=$?",
    `[ $c != 90 ] || no 4 "What answers at ${host} is not the brain that has invited; it was told nothing."`,
    `[ $c = 0 ] || no 7 "The brain at ${host} cannot be reached, or it gave no install script."`,
    's=$(sha256sum "$f" 2>/dev/null || shasum -a 256 "$f" 2>/dev/null || openssl dgst -sha256 -r "$f")',
    `[ "\${s%% *}" = ${sha256} ] || no 4 "What came from ${host} is not what the invitation names. Ask for another one."`,
    'sh "$f"',
  ];
  return `${INVITATION_VARIABLE}=${token} sh -c '${script.join("; ")}'`;
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
