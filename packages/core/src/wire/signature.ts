import { Fault } from "../fault.ts";
import { SIGNED_HTTP_LIMITS } from "../limits.ts";

/*
 * HTTP Message Signatures (RFC 9421) as a brain and its hands use them: one label, one algorithm, one list of
 * components for requests and one for replies. What is not exactly this profile is refused, so that there is nothing
 * to choose for whoever attacks. There is no cryptography here: each side brings its own as a `SignatureCrypto`.
 */

/** The cryptography that the profile needs; what it gives is base64, so that each value has one spelling only. */
export interface SignatureCrypto {
  /** HMAC-SHA-256. */
  mac(key: Uint8Array, text: string): string;
  /** SHA-256. */
  digest(bytes: Uint8Array): string;
  /** HKDF-SHA-256, as many bytes as a key has. */
  derive(root: Uint8Array, salt: Uint8Array, info: string): Uint8Array;
  /** Whether two texts are the same, in a time that does not tell where they differ. */
  same(one: string, other: string): boolean;
}

/** A part of a message that is signed: its identifier as RFC 9421 writes it, and its value. */
export type Component = readonly [identifier: string, value: string];

/** A request as it is signed. */
export interface RequestHead {
  readonly method: string;
  /** Host and port as the client means them, in lower case, without a port that the scheme implies. */
  readonly authority: string;
  readonly path: string;
  /** With its question mark, which is there even when nothing follows it. */
  readonly query: string;
  readonly contentType: string;
}

/** A reply as it is signed: bound to its request by the signature that the request had. */
export interface ReplyHead {
  readonly status: number;
  readonly contentType: string;
  /** The field `Signature` of the request. */
  readonly asked: string;
}

/** The three fields that make a message a signed one. */
export interface SignatureFields {
  readonly "content-digest": string;
  readonly "signature-input": string;
  readonly signature: string;
}

/** What a signature says of itself. */
export interface SignatureParameters {
  /** Seconds since 1970. */
  readonly created: number;
  /** Of requests only: seconds since 1970 after which the signature counts no more. */
  readonly expires?: number;
  /** Of requests only: a reply is as fresh as the request that it is bound to. */
  readonly nonce?: string;
  /** `<hand>/<key>`. */
  readonly keyid: string;
}

/** The fields of a signature after parsing; nothing of it is to be believed before the MAC is checked. */
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

/** What a message is signed with. */
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

/** Whether whoever has the key signed this request. */
export function isRequestSignedBy(
  head: RequestHead,
  claim: SignatureClaim,
  { crypto, key }: Pick<SigningKey, "crypto" | "key">,
): boolean {
  const components = requestComponents(head, digestField(claim.digest));
  return crypto.same(crypto.mac(key, signatureBase(components, claim.params)), claim.mac);
}

/** Whether whoever has the key signed this reply. */
export function isReplySignedBy(
  head: ReplyHead,
  claim: SignatureClaim,
  { crypto, key }: Pick<SigningKey, "crypto" | "key">,
): boolean {
  const components = replyComponents(head, digestField(claim.digest));
  return crypto.same(crypto.mac(key, signatureBase(components, claim.params)), claim.mac);
}

/** Reads the fields of a signed request; SIGNATURE_INVALID when they are not exactly as the profile has them. */
export function readRequestClaim(fields: SignatureFields): SignatureClaim {
  return readClaim(fields, REQUEST, ["created", "expires", "nonce", "keyid", "alg", "tag"]);
}

/** Reads the fields of a signed reply; SIGNATURE_INVALID when they are not exactly as the profile has them. */
export function readReplyClaim(fields: SignatureFields): SignatureClaim {
  return readClaim(fields, REPLY, ["created", "keyid", "alg", "tag"]);
}

/** That a signature is not good; why is nobody's business who cannot sign. */
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

/** The base64 of 32 bytes. Another spelling of the same bytes is another text, and is not the text that is expected. */
const HASH = "[A-Za-z0-9+/]{43}=";
const DIGEST_FIELD = new RegExp(`^sha-256=:(${HASH}):$`);
/** One member with our label and no parameters: a second label, ours again or another, does not fit. */
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

/** The parameters by their types, which RFC 8941 tells apart: each of the expected names once, in any order. */
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
