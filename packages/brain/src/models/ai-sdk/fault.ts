import type { APICallError } from "@ai-sdk/provider";
import { Fault, MODEL_LIMITS, isObject } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/** The model that failed, and the key to be removed from messages. */
interface FailedModel {
  readonly name: string;
  readonly key?: string;
}

/** Turns an error that a vendor's package threw or streamed into a Fault. */
export async function modelFault(thrown: unknown, blamed: FailedModel): Promise<Fault> {
  const causes = causesOf(thrown);
  const ours = causes.find((cause) => cause instanceof Fault);
  if (ours !== undefined) return ours;
  const sdk = await import("@ai-sdk/provider");
  const fault: MakeFault = (code, words, waitMs) =>
    new Fault(code, safeSentence(words, blamed), {
      cause: thrown,
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    });

  const code = networkCode(causes);
  if (code !== undefined) return fault(NETWORK[code] ?? "MODEL_UNAVAILABLE", reasonOf(causes, code));
  if (sdk.APICallError.isInstance(thrown)) return callFault(thrown, fault);
  if (sdk.InvalidResponseDataError.isInstance(thrown) && thrown.data === undefined) {
    // The stream ended without a finish reason.
    return fault("MODEL_CUT", "ended its answer before it was finished");
  }
  const told = sdk.TypeValidationError.isInstance(thrown) ? errorTextIn(thrown.value) : undefined;
  if (told !== undefined) return fault(streamedCode({ message: told }), `answered with an error: ${told}`);
  if (sdk.AISDKError.isInstance(thrown))
    return fault("MODEL_RUBBISH", `sent what cannot be understood: ${thrown.message}`);
  if (thrown instanceof Error) {
    // A package may throw a plain error where it cannot parse an event.
    const isRubbish = /normalized .* stream error|JSON/.test(thrown.message);
    return fault(isRubbish ? "MODEL_RUBBISH" : "MODEL_UNAVAILABLE", `failed: ${thrown.message}`);
  }
  const words = isObject(thrown) ? thrown["message"] : thrown;
  return fault(
    isObject(thrown) ? streamedCode(thrown) : "MODEL_UNAVAILABLE",
    `answered with an error: ${String(words)}`,
  );
}

/** The words of an error that a server streams as a bare text. */
function errorTextIn(value: unknown): string | undefined {
  const error = isObject(value) ? value["error"] : undefined;
  return typeof error === "string" && error !== "" ? error : undefined;
}

/** How long a server asks us to wait: a number of seconds, or a date. */
export function retryDelayOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000;
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : undefined;
}

/** Fault codes of the system's connection errors; any other one means that the server was not reached. */
const NETWORK: { readonly [code: string]: FaultCode } = {
  ECONNRESET: "MODEL_CUT",
  EPIPE: "MODEL_CUT",
  UND_ERR_SOCKET: "MODEL_CUT",
  UND_ERR_HEADERS_TIMEOUT: "MODEL_TIMEOUT",
  UND_ERR_BODY_TIMEOUT: "MODEL_TIMEOUT",
};

type MakeFault = (code: FaultCode, words: string, waitMs?: number) => Fault;

function callFault(error: APICallError, fault: MakeFault): Fault {
  const status = error.statusCode;
  if (status === undefined) return fault("MODEL_UNAVAILABLE", `cannot be reached: ${error.message}`);
  if (status < 300) return fault("MODEL_RUBBISH", `sent what cannot be understood: ${error.message}`);
  // Without `data` the package could not parse the body, and its message is only the name of the status.
  const { data, message, responseBody: body = "" } = error;
  const code = refusalCode(status, `${message} ${body}`) ?? statusCode(status);
  // Some servers name their window in a field beside the message.
  const isBodyTold = (data === undefined && body !== "") || (code === "MODEL_CONTEXT_FULL" && /"n_ctx"/.test(body));
  const words = isBodyTold ? body : message;
  return fault(code, `answered ${status}: ${words.trim()}`, waitOf(error));
}

/** How long the server asks to wait, in its headers or, as Gemini does, in the body. */
function waitOf({ responseHeaders = {}, responseBody = "" }: APICallError): number | undefined {
  const ms = Number(responseHeaders["retry-after-ms"] ?? "");
  if (responseHeaders["retry-after-ms"] !== undefined && Number.isFinite(ms)) return Math.max(0, ms);
  const [, seconds] = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(responseBody) ?? [];
  return retryDelayOf(responseHeaders["retry-after"] ?? seconds, Date.now());
}

/** What vendors write when a conversation is longer than the model's window. */
const WINDOW_FULL =
  /prompt is too long|input is too long|exceeds? the (?:context window|available context size|maximum)|maximum (?:context|prompt) length|context_length_exceeded|exceed_context_size|context_window_exceeded|reduce the length of the messages|exceeded model token limit|context window exceeds|too large for model with|too many tokens/i;
/** What vendors write when thinking, signatures or results of earlier replies are missing or do not hold. */
const HISTORY_REFUSED =
  /thought.?signature|`?signature`? in `?thinking|thinking`? or `?redacted_thinking|encrypted content|invalid_encrypted_content|reasoning_content|required '?reasoning'? item|required following item|no tool (?:output|call) found|tool_(?:use|calls)\b.*(?:without|must be followed)|number of function response parts/i;
/** What servers write when the model, or the way in which it was started, has no tools. */
const NO_TOOLS =
  /does not support (?:tools|tool use|function)|tools? (?:param|use|calling).{0,40}(?:requires?|not supported|unsupported)|--jinja|--enable-auto-tool-choice|no endpoints found that support tool use/i;
/** What vendors write when an account has no credit or its quota of the day or month is used up. */
const UNPAID = /insufficient.?quota|billing|credit balance|per.?day|payment required/i;

/** The code of a refusal that its words tell apart; undefined when only the status says what it is. */
function refusalCode(status: number, words: string): FaultCode | undefined {
  if (status === 413) return "MODEL_CONTEXT_FULL";
  if (status === 402 || (status === 429 && UNPAID.test(words))) return "MODEL_UNPAID";
  if (status === 429) return undefined;
  if (NO_TOOLS.test(words)) return "MODEL_TOOLLESS";
  if (status >= 500) return undefined;
  if (WINDOW_FULL.test(words)) return "MODEL_CONTEXT_FULL";
  return HISTORY_REFUSED.test(words) ? "MODEL_HISTORY_REFUSED" : undefined;
}

function statusCode(status: number): FaultCode {
  if (status === 429) return "MODEL_RATE_LIMITED";
  if (status === 408) return "MODEL_TIMEOUT";
  if (status === 401 || status === 403) return "MODEL_KEY_REFUSED";
  // 409: the vendor could not take the request at this moment.
  return status >= 500 || status === 409 ? "MODEL_UNAVAILABLE" : "MODEL_REFUSED";
}

/** Status of an error inside a stream, where the package gives one. */
function streamedCode(error: { readonly [key: string]: unknown }): FaultCode {
  const status = Number(error["statusCode"] ?? error["code"]);
  const words = [error["message"], error["type"], error["code"]].filter((word) => typeof word === "string").join(" ");
  if (WINDOW_FULL.test(words)) return "MODEL_CONTEXT_FULL";
  if (status >= 400 && status < 600) return refusalCode(status, words) ?? statusCode(status);
  const limited = [error["type"], error["code"]].some((word) => typeof word === "string" && /rate.?limit/i.test(word));
  return limited ? "MODEL_RATE_LIMITED" : "MODEL_UNAVAILABLE";
}

function causesOf(thrown: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  let current = thrown;
  while (current !== undefined && current !== null && causes.length < 8) {
    causes.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return causes;
}

function networkCode(causes: readonly unknown[]): string | undefined {
  for (const cause of causes) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (typeof code === "string" && /^(E(?!RR_)[A-Z]|UND_ERR_|CERT_|DEPTH_|SELF_)/.test(code)) return code;
  }
  return undefined;
}

function reasonOf(causes: readonly unknown[], code: string): string {
  // The innermost cause is the system's; its message is empty when several addresses failed at once.
  const inner = causes.at(-1);
  const reason = inner instanceof Error && inner.message !== "" ? inner.message : code;
  return NETWORK[code] === undefined ? `cannot be reached: ${reason}` : `broke the connection: ${reason}`;
}

function safeSentence(words: string, { name, key }: FailedModel): string {
  // The key is removed before the text is cut: a part of a key would not be recognised.
  const safe = key === undefined || key === "" ? words : words.replaceAll(key, "[key]");
  return `${name} ${safe}`.slice(0, MODEL_LIMITS.wordsChars);
}
