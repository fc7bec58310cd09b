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
 * One signed message and its signed reply over HTTP, the same for both ends and both directions. The HTTP itself is
 * the caller's: bytes and fields come in, bytes and fields go out.
 */

/** The keys between a brain and a hand: one for each direction, so that nothing can be sent back to who signed it. */
export interface DirectionKeys {
  readonly toBrain: Uint8Array;
  readonly toHand: Uint8Array;
}

/** The keys that grow from a root. */
export function deriveKeys(root: Uint8Array, keyid: string, crypto: SignatureCrypto): DirectionKeys {
  const key = (direction: keyof DirectionKeys): Uint8Array =>
    crypto.derive(root, NO_SALT, `vidro1 ${direction} ${keyid}`);
  return { toBrain: key("toBrain"), toHand: key("toHand") };
}

/**
 * The root of the next key, which both ends make of the one before and a salt: what goes over the wire is no secret
 * to begin with.
 */
export function deriveNextRoot(
  root: Uint8Array,
  salt: Uint8Array,
  { keyid, crypto }: { keyid: string; crypto: SignatureCrypto },
): Uint8Array {
  return crypto.derive(root, salt, `vidro1 root ${keyid}`);
}

const NO_SALT = new Uint8Array();

/** Where messages go. */
export const MESSAGES_PATH = "/southbound/v1/messages";
/** Where a hand asks what waits for it. */
export const POLL_PATH = "/southbound/v1/poll";

/** An HTTP request that came whole, and is no longer than a message may be. */
export interface SignedHttpRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** An HTTP reply, whole. */
export interface SignedHttpReply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

/** A message that was signed by whoever has the key. */
export interface VerifiedMessage {
  readonly keyid: string;
  readonly path: string;
  readonly message: JsonObject;
}

/** What a server of signed messages stands on. */
export interface SignedMessageServer {
  readonly crypto: SignatureCrypto;
  readonly scheme: "http" | "https";
  /** Which of the two keys the caller signs with; replies are signed with the other one. */
  readonly from: keyof DirectionKeys;
  /** The keys of that name, unless they are not valid any more; rejects when they cannot be read. */
  keys(keyid: string): Promise<DirectionKeys | undefined>;
  /** Nobody's keys: a name that is not known costs the same work as a wrong signature. */
  readonly decoyKeys: DirectionKeys;
  /** Milliseconds since 1970. */
  now(): number;
  /** Keeps a nonce as long as it could come again; false when it has come before, rejects when it cannot be kept. */
  isFirst(claim: SignatureClaim): Promise<boolean>;
  /** Does what a message asks for; rejections are Faults. */
  answer(message: VerifiedMessage): Promise<JsonObject>;
}

const JSON_TYPE = "application/json";
const encoder = new TextEncoder();

/** Answers one request: each check in its order, then the message itself. Never rejects. */
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
  // Also to a stranger, with nobody's key: whether a reply is signed must not tell which names are known.
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
  // What has expired by this clock is refused, however slow the signer's clock may be: it is told the time, and signs anew.
  if (nowS > (claim.expires ?? claim.created) || claim.created - nowS > SIGNED_HTTP_LIMITS.skewS)
    throw new Fault("CLOCK_SKEW", undefined, { detail: { server_time: nowS } });
  const isTheirs = isRequestSignedBy(head, claim, { crypto, key: (keys ?? server.decoyKeys)[from] });
  if (!isTheirs || keys === undefined) throw invalidSignature();
  if (!crypto.same(crypto.digest(incoming.body), claim.digest)) throw invalidSignature();
  if (!(await server.isFirst(claim))) throw invalidSignature();
  return parseObject(incoming.body);
}

/** A request before it is sent. */
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

/** A request as it is to be sent. */
export interface SignedMessage {
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
  /** The message of the reply; SIGNATURE_INVALID when it is not the other end's own reply to this very request. */
  verifyReply(reply: Pick<SignedHttpReply, "status" | "body"> & { readonly rawHeaders: readonly string[] }): JsonObject;
}

/** Signs a message, and says how to tell whether its reply is one. */
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

/** What is answered, before it is signed. */
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

/** What of a request is signed, once all its sizes are known to be within their bounds. */
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

/** The value of a field that has to be there exactly once: of two, each end might believe another. */
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
