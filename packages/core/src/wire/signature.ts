import { Fault } from "../fault.ts";
import { SIGNED_HTTP_LIMITS } from "../limits.ts";

/*
 * HTTP Message Signatures (RFC 9421) as a brain and its hands use them: one label, one algorithm, one list of
 * components for requests and one for replies. Anything else is refused, so that an
 * attacker has nothing to choose. There is no cryptography here: each side provides it as a `SignatureCrypto`.
 */

/** The cryptography of the profile; results are base64, so that each value has exactly one spelling. */
export interface SignatureCrypto {
  /** HMAC-SHA-256. */
  mac(key: Uint8Array, text: string): string;
  /** SHA-256. */
  digest(bytes: Uint8Array): string;
  /** HKDF-SHA-256, with the length of a key. */
  derive(root: Uint8Array, salt: Uint8Array, info: string): Uint8Array;
  /** Compares two texts in constant time. */
  same(one: string, other: string): boolean;
}

/** A signed component: its RFC 9421 identifier and its value. */
export type Component = readonly [identifier: string, value: string];

/** The signed parts of a request. */
export interface RequestHead {
  readonly method: string;
  /** Host and port of the URL in lower case, without the default port of the scheme. */
  readonly authority: string;
  readonly path: string;
  /** With its question mark, also when the query is empty. */
  readonly query: string;
  readonly contentType: string;
}

/** The signed parts of a reply; it is bound to its request by the request's signature. */
export interface ReplyHead {
  readonly status: number;
  readonly contentType: string;
  /** The field `Signature` of the request. */
  readonly asked: string;
}

/** The three header fields of a signature. */
export interface SignatureFields {
  readonly "content-digest": string;
  readonly "signature-input": string;
  readonly signature: string;
}

/** The parameters of a signature. */
export interface SignatureParameters {
  /** Seconds since 1970. */
  readonly created: number;
  /** Of requests only: when the signature expires, in seconds since 1970. */
  readonly expires?: number;
  /** Of requests only: a reply is as fresh as the request that it is bound to. */
  readonly nonce?: string;
  /** `<hand>/<key>`. */
  readonly keyid: string;
}

/** A parsed signature. It must not be trusted before its MAC is checked. */
export interface SignatureClaim extends SignatureParameters {
  readonly digest: string;
  readonly mac: string;
  /** The components and parameters, as they were signed. */
  readonly params: string;
}

const LABEL = "vidro1";
const ALG = "hmac-sha256";
const TAG = "vidro-southbound";
const REQUEST = ['"@method"', '"@authority"', '"@path"', '"@query"', '"content-type"', '"content-digest"'] as const;
const REPLY = ['"@status"', '"content-type"', '"content-digest"', '"signature";req'] as const;

/** The text that is signed (RFC 9421 §2.5). */
export function signatureBase(components: readonly Component[], params: string): string {
  return [...components, ['"@signature-params"', params] as const]
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

/** Key and parameters of a new signature. */
export interface SigningKey extends SignatureParameters {
  readonly crypto: SignatureCrypto;
  readonly key: Uint8Array;
}

/** The fields that sign a request. */
export function signRequest(head: RequestHead, body: Uint8Array, signing: SigningKey): SignatureFields {
  const digest = digestField(signing.crypto.digest(body));
  return signComponents(requestComponents(head, digest), digest, signing);
}

/** The fields that sign a reply. */
export function signReply(head: ReplyHead, body: Uint8Array, signing: SigningKey): SignatureFields {
  const digest = digestField(signing.crypto.digest(body));
  return signComponents(replyComponents(head, digest), digest, signing);
}

type VerifyingKey = Pick<SigningKey, "crypto" | "key">;

/** Whether the request was signed with this key. */
export function isRequestSignedBy(head: RequestHead, claim: SignatureClaim, signing: VerifyingKey): boolean {
  return isMacOf(requestComponents(head, digestField(claim.digest)), claim, signing);
}

/** Whether the reply was signed with this key. */
export function isReplySignedBy(head: ReplyHead, claim: SignatureClaim, signing: VerifyingKey): boolean {
  return isMacOf(replyComponents(head, digestField(claim.digest)), claim, signing);
}

function isMacOf(components: readonly Component[], claim: SignatureClaim, { crypto, key }: VerifyingKey): boolean {
  return crypto.same(crypto.mac(key, signatureBase(components, claim.params)), claim.mac);
}

/** Reads the fields of a signed request; SIGNATURE_INVALID when they do not match the profile exactly. */
export function readRequestClaim(fields: SignatureFields): SignatureClaim {
  return readClaim(fields, REQUEST, ["created", "expires", "nonce", "keyid", "alg", "tag"]);
}

/** Reads the fields of a signed reply; SIGNATURE_INVALID when they do not match the profile exactly. */
export function readReplyClaim(fields: SignatureFields): SignatureClaim {
  return readClaim(fields, REPLY, ["created", "keyid", "alg", "tag"]);
}

/** The fault of every invalid signature; it gives no reason, which would help an attacker. */
export function invalidSignature(): Fault {
  return new Fault("SIGNATURE_INVALID");
}

function requestComponents({ method, authority, path, query, contentType }: RequestHead, digest: string): Component[] {
  const values = [method, authority, path, query, contentType, digest];
  return REQUEST.map((name, index) => [name, values[index] ?? ""]);
}

function replyComponents({ status, contentType, asked }: ReplyHead, digest: string): Component[] {
  const values = [String(status), contentType, digest, asked];
  return REPLY.map((name, index) => [name, values[index] ?? ""]);
}

function signComponents(components: readonly Component[], digest: string, signing: SigningKey): SignatureFields {
  const { crypto, key, created, nonce, keyid } = signing;
  const names = components.map(([name]) => name).join(" ");
  const once = nonce === undefined ? "" : `;expires=${created + SIGNED_HTTP_LIMITS.lifeS};nonce="${nonce}"`;
  const params = `(${names});created=${created}${once};keyid="${keyid}";alg="${ALG}";tag="${TAG}"`;
  const mac = crypto.mac(key, signatureBase(components, params));
  return { "content-digest": digest, "signature-input": `${LABEL}=${params}`, signature: `${LABEL}=:${mac}:` };
}

function digestField(digest: string): string {
  return `sha-256=:${digest}:`;
}

/** The base64 of 32 bytes; other spellings of the same bytes are refused. */
const HASH = "[A-Za-z0-9+/]{43}=";
const DIGEST_FIELD = new RegExp(`^sha-256=:(${HASH}):$`);
/** One member with our label and no parameters; a second label does not match. */
const SIGNATURE_FIELD = new RegExp(`^${LABEL}=:(${HASH}):$`);
const INPUT_FIELD = new RegExp(
  `^${LABEL}=(\\(([^()]*)\\)((?:;[a-z]+=(?:\\d{1,15}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))+))$`,
);
const PARAMETER = /;([a-z]+)=(?:(\d+)|"([^"]*)")/g;
const NONCE = new RegExp(`^[A-Za-z0-9+/_=-]{${SIGNED_HTTP_LIMITS.nonceChars},${SIGNED_HTTP_LIMITS.nonceCharsAtMost}}$`);
const KEYID = new RegExp(`^[\\w.:-]+/[\\w-]+$`);

function readClaim(
  fields: SignatureFields,
  components: readonly string[],
  expected: readonly string[],
): SignatureClaim {
  for (const text of Object.values(fields)) if (text.length > SIGNED_HTTP_LIMITS.fieldChars) throw invalidSignature();
  const [, digest] = DIGEST_FIELD.exec(fields["content-digest"]) ?? [];
  const [, mac] = SIGNATURE_FIELD.exec(fields.signature) ?? [];
  const [, params, names, given = ""] = INPUT_FIELD.exec(fields["signature-input"]) ?? [];
  if (digest === undefined || mac === undefined || params === undefined || names !== components.join(" "))
    throw invalidSignature();
  const { numbers, texts } = readParameters(given, expected);
  if (texts.get("alg") !== ALG || texts.get("tag") !== TAG) throw invalidSignature();
  const created = numbers.get("created");
  const keyid = texts.get("keyid") ?? "";
  if (created === undefined || !KEYID.test(keyid)) throw invalidSignature();
  if (!expected.includes("nonce")) return { created, keyid, digest, mac, params };
  const nonce = texts.get("nonce") ?? "";
  const expires = numbers.get("expires") ?? 0;
  if (!NONCE.test(nonce) || expires <= created || expires > created + SIGNED_HTTP_LIMITS.lifeS)
    throw invalidSignature();
  return { created, expires, nonce, keyid, digest, mac, params };
}

/** The parameters by their RFC 8941 types: each expected name exactly once, in any order. */
function readParameters(
  given: string,
  expected: readonly string[],
): { readonly numbers: ReadonlyMap<string, number>; readonly texts: ReadonlyMap<string, string> } {
  const numbers = new Map<string, number>();
  const texts = new Map<string, string>();
  let count = 0;
  for (const [, name = "", number, text = ""] of given.matchAll(PARAMETER)) {
    count += 1;
    if (!expected.includes(name)) throw invalidSignature();
    if (number === undefined) texts.set(name, text);
    else numbers.set(name, Number(number));
  }
  // As many as expected, none unexpected, none twice.
  if (count !== expected.length || numbers.size + texts.size !== count) throw invalidSignature();
  return { numbers, texts };
}
