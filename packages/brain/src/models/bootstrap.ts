import { taskIn } from "@vidro/core/run";
import type { Action, Model, ModelCall, ModelEvent, ModelRequest, ToolSpec, Turn } from "@vidro/core";

/*
 * Looking around before anything is decided: where the hand works, what is there, what was planned, what was done
 * last. The brain opens none of it; each look is a call of a tool like any other, so that policy judges it, the hand
 * does it, and the journal shows it.
 */

/** What names a model that looks around first: this, and then the name of the model. */
export const BOOTSTRAP = "bootstrap:";

/** The looks, in their order; each is also the id of its call. */
const LOOKS = ["bootstrap-where", "bootstrap-files", "bootstrap-plan", "bootstrap-history"] as const;

/** One of them. */
export type Look = (typeof LOOKS)[number];

/** What was seen so far, as text; a look that failed has seen nothing. */
export type Seen = { readonly [look in Look]?: string };

/** The line for a shell that shows what was done last in a repository; it only reads. */
export const HISTORY_LINE = "git log --oneline -10";

/** The call of a look; none when it would be in vain, or the toolbelt has nothing for it. */
const CALLS: {
  readonly [look in Look]: (seen: Seen, has: (tool: string) => boolean) => Omit<ModelCall, "id"> | undefined;
} = {
  "bootstrap-where": (_, has) => (has("working_directory") ? { tool: "working_directory", input: {} } : undefined),
  "bootstrap-files": (_, has) => (has("read_folder") ? { tool: "read_folder", input: { dir_path: "." } } : undefined),
  "bootstrap-plan": (seen, has) =>
    has("read_file") && lists(seen, ".codegen")
      ? { tool: "read_file", input: { file_path: ".codegen/plan.md" } }
      : undefined,
  "bootstrap-history": (seen, has) => {
    if (!lists(seen, ".git")) return undefined;
    // A program without a shell is something that policies allow by its name and arguments.
    const [command = "", ...args] = HISTORY_LINE.split(" ");
    if (has("command")) return { tool: "command", input: { command, args } };
    return has("shell") ? { tool: "shell", input: { command: HISTORY_LINE } } : undefined;
  },
};

/** The next look after what was seen, or nothing when there is no more to look at. */
export function nextLook(seen: Seen, tools: readonly Pick<ToolSpec, "name">[]): (ModelCall & { id: Look }) | undefined {
  const has = (tool: string): boolean => tools.some(({ name }) => name === tool);
  for (const look of LOOKS) {
    const call = look in seen ? undefined : CALLS[look](seen, has);
    if (call !== undefined) return { id: look, ...call };
  }
  return undefined;
}

/** Whether a call is a look. */
export function isLook({ callId }: Pick<Action, "callId">): boolean {
  return (LOOKS as readonly string[]).includes(callId);
}

/**
 * A model that looks around first and then leaves everything to another. What it does follows from the conversation
 * alone, so that a run that is taken up again goes on where it was.
 */
export function bootstrapModel<Inner extends Model>(inner: Inner): Inner {
  return {
    ...inner,
    name: `${BOOTSTRAP}${inner.name}`,
    call: (request: ModelRequest, signal: AbortSignal) => {
      const look = isLooking(request.turns) ? nextLook(seenIn(request.turns), request.tools) : undefined;
      return look === undefined ? inner.call(request, signal) : said(look, `${BOOTSTRAP}${inner.name}`);
    },
  };
}

async function* said(call: ModelCall, model: string): AsyncGenerator<ModelEvent> {
  const usage = { inputTokens: 0, outputTokens: 0 };
  yield { type: "replied", reply: { model, text: "", calls: [call], usage } };
}

/** Whether nothing was said since the task but looks. Of a conversation that was compacted the looks may be gone. */
function isLooking(turns: readonly Turn[]): boolean {
  const task = turns.findLast(({ role }) => role === "user");
  if (task === undefined || taskIn(task.text) !== task.text) return false;
  const first = turns.findIndex((turn) => turn.role === "assistant" && turn.action && isLook(turn.action));
  if (first === -1) return turns.at(-1) === task;
  return turns.slice(first).every((turn) => {
    if (turn.role === "assistant") return turn.action !== undefined && isLook(turn.action);
    return turn.role === "tool" && isLook(turn);
  });
}

function seenIn(turns: readonly Turn[]): Seen {
  const seen: { [look in Look]?: string } = {};
  for (const turn of turns)
    if (turn.role === "tool" && isLook(turn)) seen[turn.callId as Look] = turn.failed ? "" : turn.text;
  return seen;
}

/** Whether a listing names an entry, whatever else stands on its line. */
function lists(seen: Seen, name: string): boolean {
  return (seen["bootstrap-files"] ?? "").split(/[\s"',[\]]+/).some((word) => word.replace(/\/$/, "") === name);
}
