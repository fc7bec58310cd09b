import type { HealTried } from "../event.ts";
import { FAULTS } from "../fault.ts";
import type { FaultReport } from "../fault.ts";
import { MODEL_LIMITS } from "../limits.ts";
import type { ContextRoom } from "./context-room.ts";

/** The healing of a model whose server takes no tools: they are described in the text. */
export const TOOLS_IN_TEXT = "tools_in_text";

/** A repair of the conversation for a request that the model's server would refuse again as it was; undefined when none is left. */
export function nextRepair(fault: FaultReport, { attempt, context }: RepairedState): HealTried | undefined {
  const repair = REPAIRS[fault.code];
  if (repair === undefined || !repair.isLeft(context)) return undefined;
  const { healing, description } = repair;
  const window = fault.code === "MODEL_CONTEXT_FULL" ? windowNamedIn(fault.message) : undefined;
  const metadata = { code: fault.code, cause: fault.message, ...(window === undefined ? {} : { window }) };
  return { type: "heal.tried", healing, description, severity: "medium", attempt, delayMs: 0, metadata };
}

interface RepairedState {
  readonly attempt: number;
  readonly context: ContextRoom;
}

interface Repair {
  readonly healing: string;
  readonly description: string;
  isLeft(context: ContextRoom): boolean;
}

const REPAIRS: { readonly [code in FaultReport["code"]]?: Repair } = {
  MODEL_CONTEXT_FULL: {
    healing: "compact_context",
    description: "The conversation is too long for the model; it is shortened and the model is asked again.",
    isLeft: ({ squeezes }) => squeezes < MODEL_LIMITS.squeezedFreshTurns.length,
  },
  MODEL_HISTORY_REFUSED: {
    healing: "drop_thinking",
    description: "The model's server refused its earlier thinking; the model is asked again without it.",
    isLeft: ({ isUnsigned }) => !isUnsigned,
  },
};

/** How servers name the tokens of a window when they refuse a prompt. */
const NAMED_WINDOWS: readonly RegExp[] = [
  /"n_ctx"\s*:\s*(\d+)/,
  /context size \((\d+)/i,
  /maximum (?:context|prompt) length (?:is|of) (\d+)/i,
  /> (\d+) maximum/,
  /exceeds? the maximum(?: number of tokens allowed)? \(?(\d+)/i,
  /with (\d+) maximum context length/i,
  /context (?:window|length) (?:is|of|limit of) (?:only )?(\d+)/i,
];

/** The window that a refusal of a prompt names; undefined when it names none. */
export function windowNamedIn(words: string): number | undefined {
  for (const pattern of NAMED_WINDOWS) {
    const tokens = Number(pattern.exec(words.replaceAll(/(?<=\d),(?=\d{3})/g, ""))?.[1] ?? "");
    if (tokens >= MODEL_LIMITS.countedTokens) return tokens;
  }
  return undefined;
}

/**
 * The next healing for a fault of the model, or undefined when the fault is final.
 * `chance` is a random number from 0 to 1: jitter for the delays of many runs.
 */
export function nextHealing(fault: FaultReport, attempt: number, chance: number): HealTried | undefined {
  const { fate, severity } = FAULTS[fault.code];
  if (fate !== "retry" || attempt >= MODEL_LIMITS.attempts) return undefined;
  const healing = healingOf(fault, attempt, chance);
  return {
    type: "heal.tried",
    severity: severity === "critical" ? "critical" : "medium",
    attempt,
    metadata: { code: fault.code, cause: fault.message },
    ...healing,
  };
}

function healingOf(fault: FaultReport, attempt: number, chance: number) {
  if (fault.code === "MODEL_RUBBISH") {
    return { healing: "ask_again", description: "The answer made no sense; the model is asked again.", delayMs: 0 };
  }
  if (fault.retryAfterMs !== undefined) {
    const delayMs = Math.min(fault.retryAfterMs, MODEL_LIMITS.retryAfterCapMs);
    return { healing: "handle_rate_limit", description: `The server asked for a pause of ${delayMs} ms.`, delayMs };
  }
  const full = Math.min(MODEL_LIMITS.backoffMs * 2 ** (attempt - 1), MODEL_LIMITS.backoffCapMs);
  const delayMs = Math.round(full * (0.5 + chance / 2));
  return { healing: "retry_with_backoff", description: `Trying again in ${delayMs} ms.`, delayMs };
}
