import { parseJson } from "../codec/json.ts";
import { Fault, FAULTS } from "../fault.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "../limits.ts";
import { invalid, isReplyOf, isRequestOf, replyClaim, requestClaim, signReply, signRequest } from "./signature.ts";
import type { Claim, RequestHead, Seal, SignatureFields } from "./signature.ts";

/*
 * One signed message and its signed reply over HTTP, the same for both ends and both directions. The HTTP itself is
 * the caller's: bytes and fields come in, bytes and fields go out.
 */

/** The keys between a brain and a hand: one for each direction, so that nothing can be sent back to who signed it. */
export interface Keys {
  readonly toBrain: Uint8Array;
  readonly toHand: Uint8Array;
}

/** The keys that grow from a root. */
export function keysFrom(root: Uint8Array, keyid: string, seal: Seal): Keys {
  const key = (direction: keyof Keys): Uint8Array => seal.derive(root, NO_SALT, `vidro1 ${direction} ${keyid}`);
  return { toBrain: key("toBrain"), toHand: key("toHand") };
}

/**
 * The root of the next key, which both ends make of the one before and a salt: what goes over the wire is no secret
 * to begin with.
 */
export function nextRoot(
  root: Uint8Array,
  salt: Uint8Array,
  { keyid, seal }: { keyid: string; seal: Seal },
): Uint8Array {
  return seal.derive(root, salt, `vidro1 root ${keyid}`);
}

const NO_SALT = new Uint8Array();

/** Where messages go. */
export const MESSAGES_PATH = "/southbound/v1/messages";
/** Where a hand asks what waits for it. */
export const POLL_PATH = "/southbound/v1/poll";

/** An HTTP request that came whole, and is no longer than a message may be. */
export interface Incoming {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** An HTTP reply, whole. */
export interface Outgoing {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

/** A message that was signed by whoever has the key. */
export interface Authentic {
  readonly keyid: string;
  readonly path: string;
  readonly message: JsonObject;
}

/** What a server of signed messages stands on. */
export interface Door {
  readonly seal: Seal;
  readonly scheme: "http" | "https";
  /** Which of the two keys the caller signs with; replies are signed with the other one. */
  readonly from: keyof Keys;
  /** The keys of that name, unless they are not valid any more; rejects when they cannot be read. */
  keys(keyid: string): Promise<Keys | undefined>;
  /** Nobody's keys: a name that is not known costs the same work as a wrong signature. */
  readonly nobody: Keys;
  /** Milliseconds since 1970. */
  now(): number;
  /** Keeps a nonce as long as it could come again; false when it has come before, rejects when it cannot be kept. */
  isFirst(claim: Claim): Promise<boolean>;
  /** Does what a message asks for; rejections are Faults. */
  answer(authentic: Authentic): Promise<JsonObject>;
}

const JSON_TYPE = "application/json";
const encoder = new TextEncoder();

/** Answers one request: each check in its order, then the message itself. Never rejects. */
export async function answerSigned(door: Door, incoming: Incoming): Promise<Outgoing> {
  let claim: Claim;
  let head: RequestHead;
  try {
    head = headOf(incoming, door.scheme);
    claim = requestClaim(fieldsIn(incoming.rawHeaders));
  } catch (thrown) {
    return unsigned(refusal(thrown));
  }
  let keys: Keys | undefined;
  let said: Said;
  try {
    keys = await door.keys(claim.keyid);
    const message = await authentic({ door, head, claim, keys, incoming });
    said = { status: 200, message: await door.answer({ keyid: claim.keyid, path: head.path, message }) };
  } catch (thrown) {
    said = refusal(thrown);
  }
  // Also to a stranger, with nobody's key: whether a reply is signed must not tell which names are known.
  return replyWith(said, { door, claim, keys: keys ?? door.nobody, asked: once(incoming.rawHeaders, "signature") });
}

interface Checking {
  readonly door: Door;
  readonly head: RequestHead;
  readonly claim: Claim;
  readonly keys: Keys | undefined;
  readonly incoming: Incoming;
}

async function authentic({ door, head, claim, keys, incoming }: Checking): Promise<JsonObject> {
  const { seal, from } = door;
  const nowS = Math.floor(door.now() / 1000);
  // What has expired by this clock is refused, however slow the signer's clock may be: it is told the time, and signs anew.
  if (nowS > (claim.expires ?? claim.created) || claim.created - nowS > SIGNED_HTTP_LIMITS.skewS)
    throw new Fault("CLOCK_SKEW", undefined, { detail: { server_time: nowS } });
  const isTheirs = isRequestOf(head, claim, { seal, key: (keys ?? door.nobody)[from] });
  if (!isTheirs || keys === undefined) throw invalid();
  if (!seal.same(seal.digest(incoming.body), claim.digest)) throw invalid();
  if (!(await door.isFirst(claim))) throw invalid();
  return objectIn(incoming.body);
}

/** A request before it is sent. */
export interface Asking {
  readonly url: URL;
  readonly message: JsonObject;
  readonly seal: Seal;
  readonly from: keyof Keys;
  readonly keys: Keys;
  readonly keyid: string;
  readonly nonce: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A request as it is to be sent. */
export interface Asked {
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
  /** The message of the reply; SIGNATURE_INVALID when it is not the other end's own reply to this very request. */
  believe(reply: Pick<Outgoing, "status" | "body"> & { readonly rawHeaders: readonly string[] }): JsonObject;
}

/** Signs a message, and says how to tell whether its reply is one. */
export function askSigned({ url, message, seal, from, keys, keyid, nonce, now }: Asking): Asked {
  const body = encoder.encode(JSON.stringify(message));
  const head: RequestHead = {
    method: "POST",
    authority: url.host,
    path: url.pathname,
    query: url.search === "" ? "?" : url.search,
    contentType: JSON_TYPE,
  };
  const created = Math.floor(now / 1000);
  const fields = signRequest(head, body, { seal, key: keys[from], created, nonce, keyid });
  return {
    headers: { ...fields, "content-type": JSON_TYPE, "content-length": String(body.length) },
    body,
    believe(reply) {
      const claim = replyClaim(fieldsIn(reply.rawHeaders));
      const contentType = once(reply.rawHeaders, "content-type");
      const replied = { status: reply.status, contentType, asked: fields.signature };
      const isTheirs = isReplyOf(replied, claim, { seal, key: keys[other(from)] }) && claim.keyid === keyid;
      if (!isTheirs || !seal.same(seal.digest(reply.body), claim.digest)) throw invalid();
      return objectIn(reply.body);
    },
  };
}

/** What is answered, before it is signed. */
interface Said {
  readonly status: number;
  readonly message: JsonObject;
}

function refusal(thrown: unknown): Said {
  const fault = thrown instanceof Fault ? thrown : new Fault("INTERNAL_ERROR", undefined, { cause: thrown });
  const detail = isObject(fault.detail) ? fault.detail : {};
  const rest = fault.retryAfterMs === undefined ? {} : { retry_after_ms: fault.retryAfterMs };
  const message = { ok: false, error: fault.message, code: fault.code, ...rest, ...detail };
  return { status: FAULTS[fault.code].http, message };
}

function unsigned({ status, message }: Said): Outgoing {
  const body = encoder.encode(JSON.stringify(message));
  return { status, body, headers: { "content-type": JSON_TYPE, "content-length": String(body.length) } };
}

interface Replying {
  readonly door: Door;
  readonly claim: Claim;
  readonly keys: Keys;
  readonly asked: string;
}

function replyWith(said: Said, { door, claim, keys, asked }: Replying): Outgoing {
  const plain = unsigned(said);
  const head = { status: said.status, contentType: JSON_TYPE, asked };
  const created = Math.floor(door.now() / 1000);
  const signing = { seal: door.seal, key: keys[other(door.from)], created, keyid: claim.keyid };
  return { ...plain, headers: { ...plain.headers, ...signReply(head, plain.body, signing) } };
}

function other(direction: keyof Keys): keyof Keys {
  return direction === "toBrain" ? "toHand" : "toBrain";
}

/** What of a request is signed, once all its sizes are known to be within their bounds. */
function headOf({ method, target, rawHeaders, body }: Incoming, scheme: Door["scheme"]): RequestHead {
  if (body.length > REGISTER_LIMITS.messageBytes)
    throw new Fault("PAYLOAD_TOO_LARGE", `A message has at most ${REGISTER_LIMITS.messageBytes} bytes.`);
  if (method !== "POST" || target.length > SIGNED_HTTP_LIMITS.fieldChars || !target.startsWith("/")) throw invalid();
  const mark = target.indexOf("?");
  const host = once(rawHeaders, "host").toLowerCase();
  return {
    method,
    authority: host.replace(scheme === "https" ? /:443$/ : /:80$/, ""),
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? "?" : target.slice(mark),
    contentType: once(rawHeaders, "content-type"),
  };
}

function fieldsIn(rawHeaders: readonly string[]): SignatureFields {
  return {
    "content-digest": once(rawHeaders, "content-digest"),
    "signature-input": once(rawHeaders, "signature-input"),
    signature: once(rawHeaders, "signature"),
  };
}

/** The value of a field that has to be there exactly once: of two, each end might believe another. */
function once(rawHeaders: readonly string[], name: string): string {
  const [value, ...more] = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  if (value === undefined || more.length > 0) throw invalid();
  return value;
}

function objectIn(body: Uint8Array): JsonObject {
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
