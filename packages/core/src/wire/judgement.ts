import type { JsonObject } from "../json.ts";
import { HAND_LIMITS, REGISTER_LIMITS } from "../limits.ts";

/* JSON Schema of a hand's judgement, on the wires that carry one. */

const text = (maxLength: number, minLength = 1): JsonObject => ({ type: "string", minLength, maxLength });
const anyText = text(REGISTER_LIMITS.messageBytes, 0);
const name = text(REGISTER_LIMITS.nameChars);
const count: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const flag: JsonObject = { type: "boolean" };

function list(items: JsonObject, maxItems: number): JsonObject {
  return { type: "array", maxItems, items };
}

/** An object with at least these fields: a newer peer may send more. */
function openObject(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: "object", required, properties };
}

const TEXTS: JsonObject = { type: "object", additionalProperties: { type: "string" } };

const UNSEEN = list(anyText, HAND_LIMITS.argChars);
const STATE: JsonObject = { enum: ["hidden", "open"] };

const BACKGROUND = openObject([], { keep: { const: true }, process: name, input: anyText });

const FILE_PLAN = openObject(["kind", "operation", "path", "inWorkspace"], {
  kind: { const: "file" },
  operation: { enum: ["read", "write"] },
  path: text(HAND_LIMITS.pathChars),
  inWorkspace: flag,
  digest: name,
});

const PLANS: readonly JsonObject[] = [
  openObject(["kind", "program", "argv", "cwd", "env", "timeoutMs", "digests"], {
    kind: { const: "process" },
    program: text(HAND_LIMITS.pathChars),
    argv: list(anyText, HAND_LIMITS.args + 1),
    cwd: text(HAND_LIMITS.pathChars),
    env: TEXTS,
    timeoutMs: count,
    digests: TEXTS,
    unseen: UNSEEN,
    state: STATE,
    background: BACKGROUND,
  }),
  openObject(["kind", "command", "cwd", "env", "timeoutMs", "access", "sandboxed"], {
    kind: { const: "shell" },
    command: anyText,
    cwd: text(HAND_LIMITS.pathChars),
    env: TEXTS,
    timeoutMs: count,
    access: { enum: ["read", "workspace", "host", "all"] },
    sandboxed: flag,
    unseen: UNSEEN,
    state: STATE,
    background: BACKGROUND,
  }),
  FILE_PLAN,
  openObject(["kind", "files"], {
    kind: { const: "files" },
    files: list(FILE_PLAN, HAND_LIMITS.patchFiles),
    patch: anyText,
  }),
  openObject(["kind", "url", "reach"], {
    kind: { const: "fetch" },
    url: text(HAND_LIMITS.urlChars),
    reach: { enum: ["public", "any"] },
  }),
  openObject(["kind", "facts"], { kind: { const: "facts" }, facts: anyText }),
  openObject(["kind", "tool", "input"], {
    kind: { const: "order" },
    tool: name,
    input: { type: "object" },
    definition: name,
    changed: flag,
  }),
];

const VERDICT = openObject(["decision", "rule", "class", "reason"], {
  decision: { enum: ["allow", "ask", "deny"] },
  rule: name,
  class: { enum: ["read", "write", "code-exec", "network", "privileged", "destructive"] },
  reason: text(HAND_LIMITS.pathChars, 0),
});

/** JSON Schema of a judgement. */
export const JUDGEMENT_SCHEMA: JsonObject = openObject(["plan", "hash", "verdict", "policy"], {
  plan: { oneOf: PLANS },
  hash: name,
  verdict: VERDICT,
  policy: name,
  ledger: name,
});
