import { createHash } from "node:crypto";
import { canonicalJson } from "@vidro/core";
import type { Action, Judgement, ToolSpec } from "@vidro/core";
import { HISTORY_LINE } from "@vidro/core/run";

/**
 * The judgement of an action on a hand that has no policy of its own: an action that only reads is allowed, and a person
 * is asked about any other, with the order itself as the plan.
 */
export function fallbackJudgement({ tool, input }: Action, tools: readonly ToolSpec[]): Judgement {
  const plan = { kind: "order", tool, input } as const;
  const reads =
    tools.some(({ name, effect }) => name === tool && effect === "read") ||
    (tool === "shell" && input["command"] === HISTORY_LINE);
  return {
    plan,
    hash: createHash("sha256")
      .update(canonicalJson({ plan, policy: POLICY }))
      .digest("hex"),
    policy: POLICY,
    verdict: {
      decision: reads ? "allow" : "ask",
      rule: "unjudged-hand",
      class: reads ? "read" : "code-exec",
      reason: reads ? "It only reads." : "The hand has no policy of its own, so that a person decides.",
    },
  };
}

const POLICY = "unjudged-hand";
