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
    new Fault(code, told(words, blamed), { cause: thrown, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) });

  const code = networkCode(causes);
  if (code !== undefined) return fault(NETWORK[code] ?? "MODEL_UNAVAILABLE", reasonOf(causes, code));
  if (sdk.APICallError.isInstance(thrown)) return callFault(thrown, fault);
  if (sdk.InvalidResponseDataError.isInstance(thrown) && thrown.data === undefined) {
    // The stream ended without a finish reason.
    return fault("MODEL_CUT", "ended its answer before it was finished");
  }
  if (sdk.AISDKError.isInstance(thrown))
    return fault("MODEL_RUBBISH", `sent what cannot be understood: ${thrown.message}`);
  if (thrown instanceof Error) return fault("MODEL_UNAVAILABLE", `failed: ${thrown.message}`);
  const words = isObject(thrown) ? thrown["message"] : thrown;
  return fault(
    isObject(thrown) ? streamedCode(thrown) : "MODEL_UNAVAILABLE",
    `answered with an error: ${String(words)}`,
  );
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
  const words = error.data === undefined && error.responseBody ? error.responseBody : error.message;
  const wait = retryDelayOf(error.responseHeaders?.["retry-after"], Date.now());
  return fault(statusCode(status), `answered ${status}: ${words.trim()}`, wait);
}

function statusCode(status: number): FaultCode {
  if (status === 429) return "MODEL_RATE_LIMITED";
  if (status === 408) return "MODEL_TIMEOUT";
  return status >= 500 ? "MODEL_UNAVAILABLE" : "MODEL_REFUSED";
}

/** Status of an error inside a stream, where the package gives one. */
function streamedCode(error: { readonly [key: string]: unknown }): FaultCode {
  const status = Number(error["statusCode"] ?? error["code"]);
  if (status >= 400 && status < 600) return statusCode(status);
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

function told(words: string, { name, key }: FailedModel): string {
  // The key is removed before the text is cut: a part of a key would not be recognised.
  const safe = key === undefined || key === "" ? words : words.replaceAll(key, "[key]");
  return `${name} ${safe}`.slice(0, MODEL_LIMITS.wordsChars);
}
