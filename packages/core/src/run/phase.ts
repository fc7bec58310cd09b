import type { QuestionAsked, TerminalEvent } from "../event.ts";
import type { FaultReport } from "../fault.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Action, Plan, ToolSpec, Verdict } from "../tool.ts";

/** The phase of a run. In each phase decide() names exactly one next step. */
export type Phase =
  | { readonly name: "ready" }
  | { readonly name: "calling-model"; readonly summary?: true }
  | { readonly name: "model-failed"; readonly fault: FaultReport }
  | { readonly name: "backing-off"; readonly until: number }
  | { readonly name: "question-drafted"; readonly text: string; readonly options: readonly string[] }
  | { readonly name: "tool-proposed"; readonly tool: ToolSpec }
  /** With `approval`, the id of the question whose answer approved the action as it is now. */
  | { readonly name: "action-proposed"; readonly action: Action; readonly approval?: string }
  | {
      readonly name: "judged";
      readonly action: Action;
      readonly verdict: Verdict;
      readonly plan: Plan;
      readonly hash: string;
      readonly policy: string;
      readonly always?: JsonObject;
    }
  | {
      readonly name: "asking";
      readonly question: QuestionAsked;
      readonly action?: Action;
      /** The phase that the question interrupted; the run returns to it after a yes. */
      readonly interrupted?: Phase;
    }
  | { readonly name: "approved"; readonly action: Action; readonly approved?: string; readonly approval?: string }
  | { readonly name: "refused"; readonly action: Action; readonly fault: FaultReport }
  | { readonly name: "acting"; readonly action: Action; readonly approved?: string }
  | { readonly name: "outcome-unknown"; readonly action: Action; readonly fault: FaultReport }
  | { readonly name: "answered"; readonly answer: Json; readonly unmet?: true }
  | { readonly name: "failing"; readonly fault: FaultReport }
  | { readonly name: "ended"; readonly end: TerminalEvent };
