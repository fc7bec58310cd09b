import type { FaultReport } from "./fault.ts";
import type { JsonObject } from "./json.ts";
import type { Action, ActionClass, Plan, ToolSpec } from "./tool.ts";

/** What a question is about; it determines the effect of the answer. */
export type Question =
  | { readonly kind: "ask" }
  | Approval
  | { readonly kind: "tool"; readonly tool: ToolSpec }
  | { readonly kind: "call"; readonly call: Action }
  | { readonly kind: "unknown"; readonly action: string }
  | { readonly kind: "healing"; readonly fault: FaultReport }
  | { readonly kind: "restored"; readonly generation: number };

/** A plan that waits for a person's approval. Optional fields are absent in journals of older versions. */
export interface Approval {
  readonly kind: "approval";
  readonly action: string;
  readonly hash: string;
  readonly policy: string;
  /** The whole plan that the hash is of. */
  readonly plan?: Plan;
  /** The host on which it would happen. */
  readonly hand?: string;
  readonly class?: ActionClass;
  readonly rule?: string;
  /** The rule that the answer "always" would add to the hand's policy; absent when none can be added. */
  readonly always?: JsonObject;
}
