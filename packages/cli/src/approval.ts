import { planWords, quoted, spanWords, spelled } from "@vidro/core";
import type { Action, JsonObject, Plan, PolicyJudged } from "@vidro/core";

const DIGEST_CHARS = 16;

/** All that a person has to know to say yes or no, as rows of a name and a text. */
export function approvalRows(
  { plan, verdict }: PolicyJudged,
  action: Action | undefined,
): readonly (readonly [string, string])[] {
  return [
    ...planRows(plan),
    ...(plan.kind === "file" && plan.operation === "write" ? inputRows(action?.input ?? {}) : []),
    ["class", `${verdict.class}, rule ${spelled(verdict.rule)}`],
    ["why", lines(verdict.reason)],
  ];
}

function planRows(plan: Plan): readonly (readonly [string, string])[] {
  switch (plan.kind) {
    case "process":
      return [
        ["command", planWords(plan)],
        ["program", quoted(plan.program)],
        ["in", quoted(plan.cwd)],
        ["limit", spanWords(plan.timeoutMs)],
        ...Object.entries(plan.digests).map(
          ([path, digest]) =>
            ["script", `${quoted(path)} as it is now (${spelled(digest.slice(0, DIGEST_CHARS))}…)`] as const,
        ),
      ];
    case "shell":
      return [
        ["shell", lines(plan.command)],
        ["in", quoted(plan.cwd)],
        ["access", plan.sandboxed ? `${plan.access}, held by a sandbox` : "host: everything that you may do"],
        ["limit", spanWords(plan.timeoutMs)],
      ];
    case "file":
      return [
        ["file", planWords(plan)],
        ["where", plan.inWorkspace ? "in the workspace" : "outside the workspace"],
      ];
    case "facts":
      return [["facts", planWords(plan)]];
    case "order":
      return [["tool", quoted(plan.tool)], ...inputRows(plan.input)];
  }
}

/** What the model wants written: the plan holds only its digest. All of it, since the end of it counts as much. */
function inputRows(input: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(input).map(([name, value]) => [
    name,
    lines(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

/** Line by line as it was written; whoever shows it keeps a margin, so that no line of it passes for a row. */
function lines(text: string): string {
  return text
    .split("\n")
    .map((line) => spelled(line))
    .join("\n");
}
