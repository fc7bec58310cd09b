import type { Json } from "./json.ts";

/**
 * What becomes of the work that met a fault.
 * retry: healing is tried, then the run fails. refuse: the asker is told, nothing is tried.
 * pause: a person decides. bug: ours; the asker gets a trace id and the log gets the stack.
 */
export type Fate = "retry" | "refuse" | "pause" | "bug";

/** How loud a fault is on the surfaces that grade it. */
export type Severity = "low" | "medium" | "high" | "critical";

/** What the table says of a fault. */
export interface FaultRow {
  readonly fate: Fate;
  /** The status of an HTTP answer. */
  readonly http: number;
  /** The exit code of a command that ends with this fault. */
  readonly exit: number;
  readonly severity: Severity;
  /** What happened, for a person who has never seen the code. */
  readonly says: string;
  /** What to do next. */
  readonly next: string;
}

type Row = readonly [fate: Fate, http: number, exit: number, severity: Severity, says: string, next: string];

const TABLE = {
  BAD_REQUEST: ["refuse", 400, 2, "low", "The request is not well formed.", "Correct what the message names."],
  NOT_FOUND: ["refuse", 404, 3, "low", "There is no such thing here.", "Look it up: vidro runs list"],
  CONFLICT: ["refuse", 409, 6, "medium", "Somebody else changed it first.", "Read it again, then repeat the request."],
  PAYLOAD_TOO_LARGE: ["refuse", 413, 2, "low", "The input is larger than its bound.", "Send less, or in parts."],
  AUTH_REQUIRED: ["refuse", 401, 4, "low", "A token is needed.", "Send it: Authorization: Bearer <token>"],
  INVALID_TOKEN: [
    "refuse",
    401,
    4,
    "medium",
    "The token is not known here, or no longer.",
    "Make another: vidro tokens create",
  ],
  TOKEN_EXPIRED: ["refuse", 401, 4, "low", "The token has expired.", "Make another: vidro tokens create"],
  FORBIDDEN: ["refuse", 403, 5, "medium", "The token may not do that.", "Use one with the scope that is named."],
  SIGNATURE_INVALID: [
    "refuse",
    401,
    4,
    "high",
    "The message is not signed as it has to be.",
    "Check the key of the hand, or invite the host again: vidro hands invite",
  ],
  CLOCK_SKEW: [
    "refuse",
    401,
    4,
    "medium",
    "The clocks of the two machines are too far apart.",
    "Set the clock of the host; the answer carries ours.",
  ],
  RATE_LIMITED: ["retry", 429, 1, "medium", "Too much is asked at once.", "Wait as long as the answer says."],
  KEYS_UNAVAILABLE: [
    "retry",
    503,
    7,
    "high",
    "The keys that sign people's tokens cannot be read.",
    "Check the address of the key set.",
  ],
  METHOD_NOT_ALLOWED: ["refuse", 405, 2, "low", "This path does not take that method.", "Use one that Allow names."],
  NOT_ACCEPTABLE: ["refuse", 406, 2, "low", "No form of the answer is acceptable to the client.", "Accept JSON."],
  UNSUPPORTED_MEDIA_TYPE: ["refuse", 415, 2, "low", "The body is not JSON.", "Send application/json in UTF-8."],
  MISDIRECTED: ["refuse", 421, 2, "medium", "This brain does not go by that host name.", "Name it in VIDRO_HOSTS."],
  SHUTTING_DOWN: ["retry", 503, 7, "medium", "The brain is shutting down.", "Try again in a moment."],
  BRAIN_UNREACHABLE: [
    "retry",
    503,
    7,
    "high",
    "The brain cannot be reached.",
    "See whether it is up: vidro status; start it: vidro up",
  ],
  CONNECTION_LOST: [
    "retry",
    502,
    7,
    "high",
    "The connection to the brain is lost.",
    "The run may still be going on: vidro attach",
  ],
  INTERNAL_ERROR: [
    "bug",
    500,
    1,
    "critical",
    "Vidro itself is at fault.",
    "Report the trace id; the log has the rest.",
  ],

  MODEL_UNAVAILABLE: ["retry", 503, 7, "high", "The model cannot be reached.", "Check its address: vidro doctor"],
  MODEL_TIMEOUT: [
    "retry",
    504,
    8,
    "high",
    "The model did not answer in time.",
    "Try again, or choose another: VIDRO_MODEL",
  ],
  MODEL_CUT: ["retry", 502, 7, "high", "The model's answer broke off.", "Try again, or choose another: VIDRO_MODEL"],
  MODEL_RATE_LIMITED: [
    "retry",
    429,
    1,
    "medium",
    "The model's server asks us to slow down.",
    "Wait, or choose another: VIDRO_MODEL",
  ],
  MODEL_RUBBISH: [
    "retry",
    502,
    1,
    "medium",
    "The model's answer cannot be understood.",
    "Try again, or choose another: VIDRO_MODEL",
  ],
  MODEL_REFUSED: [
    "refuse",
    502,
    4,
    "high",
    "The model's server refused the request.",
    "Check the key and the model's name: vidro doctor",
  ],
  MODEL_UNKNOWN: [
    "refuse",
    400,
    2,
    "medium",
    "No model goes by that name.",
    "See what VIDRO_MODEL may be: vidro doctor",
  ],

  UNKNOWN_TOOL: [
    "refuse",
    404,
    3,
    "low",
    "There is no such tool in the toolbelt.",
    "Use one of the tools that are listed.",
  ],
  BAD_ARGUMENTS: ["refuse", 422, 2, "low", "The arguments do not fit the tool.", "Correct what the message names."],
  TOOL_FAILED: ["refuse", 500, 1, "low", "The tool could not do it.", "Read the message and try another way."],
  POLICY_DENIED: ["refuse", 403, 5, "medium", "The policy of this hand forbids it.", "See why: vidro policy explain"],
  BAD_POLICY: [
    "refuse",
    500,
    2,
    "high",
    "The policy file cannot be used, so nothing is allowed.",
    "Check it: vidro policy check",
  ],
  APPROVAL_DENIED: ["refuse", 403, 5, "low", "A person said no.", "Try another way, or finish."],
  APPROVAL_EXPIRED: [
    "refuse",
    403,
    5,
    "low",
    "Nobody answered in time, which counts as no.",
    "Ask again when somebody is there.",
  ],
  SECRET_IN_ACTION: [
    "refuse",
    422,
    5,
    "medium",
    "The action holds a secret, or the mark that stands for one, and would not do what it seems to.",
    "Name the secret instead of writing it: a variable of the environment, a file.",
  ],
  PLAN_CHANGED: [
    "refuse",
    409,
    6,
    "medium",
    "What would run is no longer what was approved.",
    "Ask for approval again.",
  ],

  ACTION_ID_REUSED: ["refuse", 409, 6, "high", "The action id belongs to another action.", "Use a new id."],
  ACTION_EXPIRED: [
    "refuse",
    410,
    8,
    "low",
    "The action came too late and was not run.",
    "Decide again with fresh facts.",
  ],
  OUTCOME_UNKNOWN: [
    "pause",
    500,
    9,
    "critical",
    "The action began and its outcome cannot be known.",
    "Look at the host; it is never run again by itself.",
  ],
  OUTCOME_EVICTED: [
    "pause",
    410,
    9,
    "high",
    "The action ended long ago and its outcome is no longer kept.",
    "Look at the host; it is never run again by itself.",
  ],
  STALE_EPOCH: [
    "refuse",
    409,
    6,
    "high",
    "An older brain gave this order; a newer one is in charge.",
    "Stop the older brain.",
  ],
  LEDGER_UNWRITABLE: [
    "refuse",
    507,
    1,
    "critical",
    "The hand cannot record what it does, so it does nothing.",
    "Free some disk on the host: df -h",
  ],
  LEDGER_DAMAGED: [
    "refuse",
    500,
    1,
    "critical",
    "The hand's ledger is damaged, so the hand does nothing.",
    "Move it aside on the host: what was under way is then unknown, and nothing runs twice.",
  ],
  HAND_UNAVAILABLE: [
    "retry",
    503,
    7,
    "high",
    "The hand cannot be reached.",
    "Start it again; the action goes on under the same id.",
  ],

  HAND_REVOKED: [
    "refuse",
    403,
    5,
    "high",
    "The hand was revoked and does nothing for this brain any more.",
    "Invite the host again: vidro hands invite",
  ],
  CERTIFICATE_INVALID: [
    "refuse",
    403,
    4,
    "high",
    "The certificate is not one that this brain gave to a hand, or not any more.",
    "Invite the host again: vidro hands invite",
  ],
  HAND_QUARANTINED: [
    "refuse",
    403,
    5,
    "high",
    "The hand is in quarantine and gets no new work.",
    "See why: vidro hands show; release it: vidro hands release",
  ],

  STORAGE_FULL: [
    "refuse",
    507,
    1,
    "critical",
    "The disk of the journal is full.",
    "Free some disk, then: vidro attach --last",
  ],
  STORE_BUSY: [
    "retry",
    503,
    7,
    "high",
    "Another process keeps the store locked.",
    "Repeat it when that one has ended.",
  ],
  STORE_FAILED: ["retry", 503, 1, "critical", "The journal's disk reports an error.", "Look at the disk: dmesg"],
  COMMIT_UNKNOWN: [
    "pause",
    503,
    9,
    "critical",
    "The disk failed during the commit: it is not known whether this was recorded.",
    "Look whether it was, or repeat the request with the same Idempotency-Key.",
  ],
  STORE_UNREADABLE: ["refuse", 500, 1, "critical", "The store cannot be opened.", "See what is off: vidro doctor"],
  STORE_NEWER: [
    "refuse",
    500,
    1,
    "high",
    "A newer Vidro wrote this store.",
    "Run that version, or point VIDRO_HOME elsewhere.",
  ],
  STORE_RESTORED: [
    "refuse",
    409,
    6,
    "high",
    "The brain came back from a backup, and this run did not go on after it.",
    "Look at what it has done, then start it anew.",
  ],
  JOURNAL_CORRUPT: [
    "refuse",
    500,
    1,
    "critical",
    "The journal of this run was altered or damaged.",
    "See where: vidro audit verify",
  ],
  HOME_BUSY: ["refuse", 409, 6, "medium", "This home has a daemon already.", "See how it is: vidro status"],
  LEASE_LOST: ["refuse", 409, 6, "high", "Another brain took this run over.", "Watch it: vidro attach"],
  RUN_BUSY: ["refuse", 409, 6, "medium", "Another process is driving this run.", "Wait for it, or abort it there."],

  LOOP_DETECTED: [
    "refuse",
    500,
    1,
    "medium",
    "The model asked for the same thing again and again.",
    "Word the task differently, or use a stronger model.",
  ],
  STEP_LIMIT: [
    "refuse",
    500,
    1,
    "medium",
    "The run took as many steps as it may.",
    "Split the task, or raise --max-steps.",
  ],
  TOKEN_LIMIT: [
    "refuse",
    500,
    1,
    "medium",
    "The run used as many tokens as it may.",
    "Split the task, or raise --max-tokens.",
  ],
  TIME_LIMIT: [
    "refuse",
    504,
    8,
    "medium",
    "The run took as long as it may.",
    "Split the task, or raise --max-minutes.",
  ],
  ACTION_LIMIT: [
    "refuse",
    500,
    1,
    "medium",
    "The run took as many actions as it may.",
    "Split the task, or raise --max-actions.",
  ],
} as const satisfies Record<string, Row>;

/** The name of a fault. */
export type FaultCode = keyof typeof TABLE;

/** The closed table: every failure that anybody outside can see has one of these names. */
export const FAULTS = Object.fromEntries(
  Object.entries(TABLE).map(([code, [fate, http, exit, severity, says, next]]) => [
    code,
    { fate, http, exit, severity, says, next },
  ]),
) as { readonly [Code in FaultCode]: FaultRow };

/** A fault as it is journaled and sent: a name, a sentence, and for retries when to come back. */
export interface FaultReport {
  readonly code: FaultCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** A named failure; the one class that our own code throws, and only inside a port, never across it. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly detail: Json | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: FaultCode, message?: string, more: { detail?: Json; cause?: unknown; retryAfterMs?: number } = {}) {
    super(message ?? FAULTS[code].says, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "Fault";
    this.code = code;
    this.detail = more.detail;
    this.retryAfterMs = more.retryAfterMs;
  }

  /** The fault as data. */
  report(): FaultReport {
    return this.retryAfterMs === undefined
      ? { code: this.code, message: this.message }
      : { code: this.code, message: this.message, retryAfterMs: this.retryAfterMs };
  }
}

/** Any thrown thing as a Fault: ours as it is, a stranger's as `code` with its message. */
export function asFault(thrown: unknown, code: FaultCode = "INTERNAL_ERROR"): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault(code, thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}
