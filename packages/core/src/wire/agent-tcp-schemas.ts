import { HAND_LIMITS, SAMPLE_LIMITS, TCP_LIMITS, WATCH_LIMITS } from "../limits.ts";

/*
 * JSON Schemas of the data of each action of the TCP agent protocol. A server coerces types, fills in defaults and
 * drops unknown fields. Hence three rules: every object is closed, since only then fields are dropped; every string has
 * a least length and every number a least value above zero, since `null` is coerced to "" and 0, unless 0 has no
 * effect; a field with a default is required, since it is present once the default is filled in.
 */

const NOTHING = { type: "object", properties: {}, additionalProperties: false } as const;
const text = (most: number) => ({ type: "string", minLength: 1, maxLength: most }) as const;
const time = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
const actionId = { ...text(TCP_LIMITS.actionChars), pattern: "^[\\w.:-]+$" } as const;
const order = { type: "string", enum: ["asc", "desc"] } as const;
const number = (least: number, most: number, given: number) =>
  ({ type: "integer", minimum: least, maximum: most, default: given }) as const;

/** The token [002-14]; our extension: the largest frame that the client accepts. */
export const AUTH_SCHEMA = {
  type: "object",
  required: ["token"],
  properties: {
    token: text(TCP_LIMITS.tokenChars),
    maxFrame: { type: "integer", minimum: 1024, maximum: TCP_LIMITS.answerBytes },
  },
  additionalProperties: false,
} as const;

/** PING has no data [002-18]. */
export const PING_SCHEMA = NOTHING;

/** QUIT has no data [002-31]. */
export const QUIT_SCHEMA = NOTHING;

/** The span of the samples [002-30]. */
export const GET_OS_INFO_SCHEMA = {
  type: "object",
  required: ["seconds"],
  properties: { seconds: number(1, SAMPLE_LIMITS.kept, SAMPLE_LIMITS.seconds) },
  additionalProperties: false,
} as const;

/** The fields of a process. */
export const PROCESS_FIELDS = ["pid", "ppid", "user", "name", "cmd", "state", "cpuPercent", "memRssBytes"] as const;

/** Filter, order and fields of a process list [002-35]. */
export const PS_SCHEMA = {
  type: "object",
  required: ["limit", "sortBy"],
  properties: {
    limit: number(1, TCP_LIMITS.processesCap, TCP_LIMITS.processes),
    sortBy: { type: "string", enum: ["cpu", "mem", "pid", "name"], default: "cpu" },
    order,
    user: text(256),
    namePattern: text(256),
    fields: { type: "array", minItems: 1, maxItems: 32, items: { type: "string", enum: PROCESS_FIELDS } },
  },
  additionalProperties: false,
} as const;

/** The path to watch, and for how many seconds [002-33]. */
export const WATCH_SCHEMA = {
  type: "object",
  required: ["path", "time"],
  properties: { path: text(HAND_LIMITS.pathChars), time: number(1, WATCH_LIMITS.secondsCap, WATCH_LIMITS.seconds) },
  additionalProperties: false,
} as const;

/** The watch, and the page of its events [002-34]. */
export const GET_WATCHES_SCHEMA = {
  type: "object",
  required: ["token", "pageSize", "order"],
  properties: {
    token: text(128),
    since: time,
    until: time,
    pageSize: number(1, WATCH_LIMITS.pageCap, WATCH_LIMITS.page),
    order: { ...order, default: "asc" },
    cursor: { ...text(32), pattern: "^(asc|desc)-\\d{1,15}$" },
  },
  additionalProperties: false,
} as const;

/** The program to run [002-36]; our extension: an id under which it runs at most once. */
export const OS_CMD_SCHEMA = {
  type: "object",
  required: ["cmd", "args", "timeoutMs"],
  properties: {
    cmd: text(TCP_LIMITS.argChars),
    args: { type: "array", maxItems: TCP_LIMITS.args, items: text(TCP_LIMITS.argChars), default: [] },
    timeoutMs: number(TCP_LIMITS.commandFloorMs, TCP_LIMITS.commandCapMs, TCP_LIMITS.commandMs),
    actionId: { ...text(TCP_LIMITS.nameChars), pattern: "^[\\w.:-]+$" },
  },
  additionalProperties: false,
} as const;

const action = {
  actionId,
  tool: text(TCP_LIMITS.nameChars),
  // The tool checks its own input, so that nothing in it is coerced or dropped.
  input: { type: "object" },
  callId: text(TCP_LIMITS.actionChars),
} as const;

/** Our extension: an action to judge. */
export const JUDGE_SCHEMA = {
  type: "object",
  required: ["actionId", "tool", "input"],
  properties: action,
  additionalProperties: false,
} as const;

/** Our extension: an order of a brain. */
export const RUN_TOOL_SCHEMA = {
  type: "object",
  required: ["actionId", "tool", "input", "run", "epoch", "ttlMs"],
  properties: {
    ...action,
    run: text(TCP_LIMITS.actionChars),
    epoch: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    /** With 0, to which `null` is coerced, nothing is started. */
    ttlMs: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    approved: text(TCP_LIMITS.actionChars),
    ledger: text(TCP_LIMITS.actionChars),
    warrant: text(TCP_LIMITS.actionChars),
    traceparent: text(TCP_LIMITS.actionChars),
    /** Whether output is sent while the action runs. */
    live: { type: "boolean" },
  },
  additionalProperties: false,
} as const;

/** Our extension: an action by its id. */
export const ACTION_SCHEMA = {
  type: "object",
  required: ["actionId"],
  properties: { actionId },
  additionalProperties: false,
} as const;
