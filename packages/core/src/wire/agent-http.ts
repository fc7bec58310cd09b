import { parseJson } from "../codec/json.ts";
import { Fault, FAULTS } from "../fault.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "../limits.ts";
import {
  invalidSignature,
  isReplySignedBy,
  isRequestSignedBy,
  readReplyClaim,
  readRequestClaim,
  signReply,
  signRequest,
} from "./signature.ts";
import type { SignatureClaim, RequestHead, SignatureCrypto, SignatureFields } from "./signature.ts";

/*
 * One signed message and its signed reply over HTTP, the same for both ends and both directions. It does no HTTP itself:
 * header fields and bytes come in, header fields and bytes go out.
 */

/** The keys between a brain and a hand: one for each direction, so that no message can be reflected to its signer. */
export interface DirectionKeys {
  readonly toBrain: Uint8Array;
  readonly toHand: Uint8Array;
}

/** Derives the keys of both directions from a root. */
export function deriveKeys(root: Uint8Array, keyid: string, crypto: SignatureCrypto): DirectionKeys {
  const key = (direction: keyof DirectionKeys): Uint8Array =>
    crypto.derive(root, NO_SALT, `vidro1 ${direction} ${keyid}`);
  return { toBrain: key("toBrain"), toHand: key("toHand") };
}

/**
 * Derives the root of the next key from the current root and a salt, at both ends. Only the salt goes over the wire,
 * and it is not secret.
 */
export function deriveNextRoot(
  root: Uint8Array,
  salt: Uint8Array,
  { keyid, crypto }: { keyid: string; crypto: SignatureCrypto },
): Uint8Array {
  return crypto.derive(root, salt, `vidro1 root ${keyid}`);
}

const NO_SALT = new Uint8Array();

/** Path for messages. */
export const MESSAGES_PATH = "/southbound/v1/messages";
/** Path on which a hand polls for messages. */
export const POLL_PATH = "/southbound/v1/poll";

/** A complete HTTP request within the bound of a message. */
export interface SignedHttpRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Names and values alternating, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** A complete HTTP reply. */
export interface SignedHttpReply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

/** A message whose signature was verified. */
export interface VerifiedMessage {
  readonly keyid: string;
  readonly path: string;
  readonly message: JsonObject;
}

/** The dependencies of a server of signed messages. */
export interface SignedMessageServer {
  readonly crypto: SignatureCrypto;
  readonly scheme: "http" | "https";
  /** The direction whose key the caller signs with; replies are signed with the other one. */
  readonly from: keyof DirectionKeys;
  /** The valid keys of an id, or undefined; rejects when they cannot be read. */
  keys(keyid: string): Promise<DirectionKeys | undefined>;
  /** Keys that are used for unknown ids, so that an unknown id takes as long as a wrong signature. */
  readonly decoyKeys: DirectionKeys;
  /** Milliseconds since 1970. */
  now(): number;
  /** Stores a nonce for as long as it could be replayed; false when it was used before, rejects when it cannot be stored. */
  isFirst(claim: SignatureClaim): Promise<boolean>;
  /** Carries out a message; rejections are Faults. */
  answer(message: VerifiedMessage): Promise<JsonObject>;
}

const JSON_TYPE = "application/json";
const encoder = new TextEncoder();

/** Verifies one request, carries its message out and signs the reply. Never rejects. */
export async function answerSigned(server: SignedMessageServer, incoming: SignedHttpRequest): Promise<SignedHttpReply> {
  let claim: SignatureClaim;
  let head: RequestHead;
  try {
    head = headOf(incoming, server.scheme);
    claim = readRequestClaim(fieldsIn(incoming.rawHeaders));
  } catch (thrown) {
    return encodeReply(refusalReply(thrown));
  }
  let keys: DirectionKeys | undefined;
  let reply: ReplyBody;
  try {
    keys = await server.keys(claim.keyid);
    const message = await verifyMessage({ server, head, claim, keys, incoming });
    reply = { status: 200, message: await server.answer({ keyid: claim.keyid, path: head.path, message }) };
  } catch (thrown) {
    reply = refusalReply(thrown);
  }
  // Replies to unknown ids are signed with decoy keys, so that a signature does not reveal which ids are known.
  return signedReply(reply, {
    server,
    claim,
    keys: keys ?? server.decoyKeys,
    asked: soleHeader(incoming.rawHeaders, "signature"),
  });
}

interface UnverifiedMessage {
  readonly server: SignedMessageServer;
  readonly head: RequestHead;
  readonly claim: SignatureClaim;
  readonly keys: DirectionKeys | undefined;
  readonly incoming: SignedHttpRequest;
}

async function verifyMessage({ server, head, claim, keys, incoming }: UnverifiedMessage): Promise<JsonObject> {
  const { crypto, from } = server;
  const nowS = Math.floor(server.now() / 1000);
  // An expired message is refused even if the signer's clock is slow; the signer gets the time and signs again.
  if (nowS > (claim.expires ?? claim.created) || claim.created - nowS > SIGNED_HTTP_LIMITS.skewS)
    throw new Fault("CLOCK_SKEW", undefined, { detail: { server_time: nowS } });
  const isTheirs = isRequestSignedBy(head, claim, { crypto, key: (keys ?? server.decoyKeys)[from] });
  if (!isTheirs || keys === undefined) throw invalidSignature();
  if (!crypto.same(crypto.digest(incoming.body), claim.digest)) throw invalidSignature();
  if (!(await server.isFirst(claim))) throw invalidSignature();
  return parseObject(incoming.body);
}

/** A message to sign, with its address and key. */
export interface MessageToSign {
  readonly url: URL;
  readonly message: JsonObject;
  readonly crypto: SignatureCrypto;
  readonly from: keyof DirectionKeys;
  readonly keys: DirectionKeys;
  readonly keyid: string;
  readonly nonce: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A signed request, ready to be sent. */
export interface SignedMessage {
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
  /** The message of the reply; SIGNATURE_INVALID unless the other end signed it as the reply to this request. */
  verifyReply(reply: Pick<SignedHttpReply, "status" | "body"> & { readonly rawHeaders: readonly string[] }): JsonObject;
}

/** Signs a message; the result also verifies its reply. */
export function signMessage({ url, message, crypto, from, keys, keyid, nonce, now }: MessageToSign): SignedMessage {
  const body = encoder.encode(JSON.stringify(message));
  const head: RequestHead = {
    method: "POST",
    authority: url.host,
    path: url.pathname,
    query: url.search === "" ? "?" : url.search,
    contentType: JSON_TYPE,
  };
  const created = Math.floor(now / 1000);
  const fields = signRequest(head, body, { crypto, key: keys[from], created, nonce, keyid });
  return {
    headers: { ...fields, "content-type": JSON_TYPE, "content-length": String(body.length) },
    body,
    verifyReply(reply) {
      const claim = readReplyClaim(fieldsIn(reply.rawHeaders));
      const contentType = soleHeader(reply.rawHeaders, "content-type");
      const replied = { status: reply.status, contentType, asked: fields.signature };
      const isTheirs =
        isReplySignedBy(replied, claim, { crypto, key: keys[otherDirection(from)] }) && claim.keyid === keyid;
      if (!isTheirs || !crypto.same(crypto.digest(reply.body), claim.digest)) throw invalidSignature();
      return parseObject(reply.body);
    },
  };
}

/** A reply before it is encoded and signed. */
interface ReplyBody {
  readonly status: number;
  readonly message: JsonObject;
}

function refusalReply(thrown: unknown): ReplyBody {
  const fault = thrown instanceof Fault ? thrown : new Fault("INTERNAL_ERROR", undefined, { cause: thrown });
  const detail = isObject(fault.detail) ? fault.detail : {};
  const rest = fault.retryAfterMs === undefined ? {} : { retry_after_ms: fault.retryAfterMs };
  const message = { ok: false, error: fault.message, code: fault.code, ...rest, ...detail };
  return { status: FAULTS[fault.code].http, message };
}

function encodeReply({ status, message }: ReplyBody): SignedHttpReply {
  const body = encoder.encode(JSON.stringify(message));
  return { status, body, headers: { "content-type": JSON_TYPE, "content-length": String(body.length) } };
}

interface ReplyContext {
  readonly server: SignedMessageServer;
  readonly claim: SignatureClaim;
  readonly keys: DirectionKeys;
  readonly asked: string;
}

function signedReply(reply: ReplyBody, { server, claim, keys, asked }: ReplyContext): SignedHttpReply {
  const plain = encodeReply(reply);
  const head = { status: reply.status, contentType: JSON_TYPE, asked };
  const created = Math.floor(server.now() / 1000);
  const signing = { crypto: server.crypto, key: keys[otherDirection(server.from)], created, keyid: claim.keyid };
  return { ...plain, headers: { ...plain.headers, ...signReply(head, plain.body, signing) } };
}

function otherDirection(direction: keyof DirectionKeys): keyof DirectionKeys {
  return direction === "toBrain" ? "toHand" : "toBrain";
}

/** The signed parts of a request; throws when a size is over its bound. */
function headOf(
  { method, target, rawHeaders, body }: SignedHttpRequest,
  scheme: SignedMessageServer["scheme"],
): RequestHead {
  if (body.length > REGISTER_LIMITS.messageBytes)
    throw new Fault("PAYLOAD_TOO_LARGE", `A message has at most ${REGISTER_LIMITS.messageBytes} bytes.`);
  if (method !== "POST" || target.length > SIGNED_HTTP_LIMITS.fieldChars || !target.startsWith("/"))
    throw invalidSignature();
  const mark = target.indexOf("?");
  const host = soleHeader(rawHeaders, "host").toLowerCase();
  return {
    method,
    authority: host.replace(scheme === "https" ? /:443$/ : /:80$/, ""),
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? "?" : target.slice(mark),
    contentType: soleHeader(rawHeaders, "content-type"),
  };
}

function fieldsIn(rawHeaders: readonly string[]): SignatureFields {
  return {
    "content-digest": soleHeader(rawHeaders, "content-digest"),
    "signature-input": soleHeader(rawHeaders, "signature-input"),
    signature: soleHeader(rawHeaders, "signature"),
  };
}

/** The value of a header that must occur exactly once; of two values each end might use another one. */
function soleHeader(rawHeaders: readonly string[], name: string): string {
  const [value, ...more] = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  if (value === undefined || more.length > 0) throw invalidSignature();
  return value;
}

function parseObject(body: Uint8Array): JsonObject {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The message is not UTF-8.", { cause });
  }
  const value = parseJson(text);
  if (!isObject(value)) throw new Fault("BAD_REQUEST", "A message is a JSON object.");
  return value;
}
