import type { ModelCall } from "../ports.ts";
import type { Action, ToolSpec } from "../tool.ts";

/*
 * The bootstrap of a run: before the model decides anything, the brain looks at where the hand works, what is there,
 * what was planned and what was done last. The brain opens none of it itself. Each look is a call of a tool like any
 * other: policy judges it, the hand carries it out, and the journal has it.
 */

/** Prefix of the name of a model that bootstraps first; the name of the model that follows stands behind it. */
export const BOOTSTRAP = "bootstrap:";

/** The looks, in their order; each is also the id of its call. */
const LOOKS = ["bootstrap-where", "bootstrap-files", "bootstrap-plan", "bootstrap-history"] as const;

/** One look of the bootstrap. */
export type Look = (typeof LOOKS)[number];

/** The text that each look has given so far; empty for a look that failed. */
export type LookTexts = { readonly [look in Look]?: string };

/** The shell command that lists the last commits of a repository. It only reads. */
export const HISTORY_LINE = "git log --oneline -10";

/** The call of a look; undefined when the toolbelt has no tool for it, or the listing shows that there is nothing. */
const CALLS: {
  readonly [look in Look]: (texts: LookTexts, has: (tool: string) => boolean) => Omit<ModelCall, "id"> | undefined;
} = {
  "bootstrap-where": (_, has) => (has("working_directory") ? { tool: "working_directory", input: {} } : undefined),
  "bootstrap-files": (_, has) => (has("read_folder") ? { tool: "read_folder", input: { dir_path: "." } } : undefined),
  "bootstrap-plan": (texts, has) =>
    has("read_file") && lists(texts, ".codegen")
      ? { tool: "read_file", input: { file_path: ".codegen/plan.md" } }
      : undefined,
  "bootstrap-history": (texts, has) => {
    if (!lists(texts, ".git")) return undefined;
    // Policies can allow a program without a shell by its name and arguments.
    const [command = "", ...args] = HISTORY_LINE.split(" ");
    if (has("command")) return { tool: "command", input: { command, args } };
    return has("shell") ? { tool: "shell", input: { command: HISTORY_LINE } } : undefined;
  },
};

/** The next look after those that gave these texts; undefined when the bootstrap is over. */
export function nextLook(
  texts: LookTexts,
  tools: readonly Pick<ToolSpec, "name">[],
): (ModelCall & { id: Look }) | undefined {
  const has = (tool: string): boolean => tools.some(({ name }) => name === tool);
  for (const look of LOOKS) {
    const call = look in texts ? undefined : CALLS[look](texts, has);
    if (call !== undefined) return { id: look, ...call };
  }
  return undefined;
}

/** Whether a call is a look of the bootstrap. */
export function isLook({ callId }: Pick<Action, "callId">): boolean {
  return (LOOKS as readonly string[]).includes(callId);
}

/** Whether the listing names an entry, whatever else stands on its line. */
function lists(texts: LookTexts, name: string): boolean {
  return (texts["bootstrap-files"] ?? "").split(/[\s"',[\]]+/).some((word) => word.replace(/\/$/, "") === name);
}
