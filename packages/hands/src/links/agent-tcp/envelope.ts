import { Fault, isObject, TCP_LIMITS } from "@vidro/core";
import { NO_ID, TCP_VERSION } from "@vidro/core/wire/agent-tcp";
import type { Json, JsonObject } from "@vidro/core";

/** A well-formed request. */
export interface RequestEnvelope {
  readonly id: string;
  readonly act: string;
  readonly data: JsonObject;
}

/** A message that is no request, with the fields that an answer repeats. */
interface UnreadableMessage {
  readonly id: string;
  readonly act: string;
  readonly fault: Fault;
  /** Whether the connection must be closed, because the client speaks another version. */
  readonly last: boolean;
}

const NOTHING: JsonObject = {};

/** Reads the envelope of a message from a client; a bare `ping` is the action of that name. */
export function readEnvelope(message: Json): RequestEnvelope | UnreadableMessage {
  if (!isObject(message)) return unreadable({}, "A message is a JSON object with v, t, id and act.");
  if (message["v"] !== TCP_VERSION) {
    const said = JSON.stringify(message["v"])?.slice(0, TCP_LIMITS.nameChars) ?? "none";
    return unreadable(message, `The version ${said} is not spoken here: send v=${TCP_VERSION}.`, true);
  }
  const { t, id, act } = message;
  const data = message["data"] ?? NOTHING;
  if (t === "ping") return { id: isName(id) ? id : NO_ID, act: "PING", data: NOTHING };
  if (t !== "req") return unreadable(message, 'A client sends t="req" only.');
  if (!isName(id))
    return unreadable(message, `A request has an id: a text of 1 to ${TCP_LIMITS.nameChars} characters.`);
  if (!isName(act))
    return unreadable(message, `A request has an act: a text of 1 to ${TCP_LIMITS.nameChars} characters.`);
  if (!isObject(data)) return unreadable(message, "The data of a request is a JSON object, null, or left out.");
  return { id, act, data };
}

function unreadable({ id, act }: JsonObject, why: string, last = false): UnreadableMessage {
  const fault = new Fault("BAD_REQUEST", why);
  return { id: isName(id) ? id : NO_ID, act: isName(act) ? act : "", fault, last };
}

function isName(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= TCP_LIMITS.nameChars;
}
