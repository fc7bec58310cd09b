import type { Action, ActionClass, HelperUse, JsonObject, Outcome, ToolSpec } from "@vidro/core";

/** What a tool of the brain may know of the order that it carries out. */
interface BrainToolContext {
  readonly run: string;
  /** Whose run it is; undefined when there is no such run. */
  readonly owner: string | undefined;
  readonly signal: AbortSignal;
  /** Id of the action, the same with each of its orders. */
  readonly action: string;
  /** Shows text beside the action while it is under way. */
  readonly show: (text: string) => void;
  /** Counts what helpers used to the budget of the run; said at most once. */
  readonly spend: (used: HelperUse) => void;
}

/** A tool that the brain carries out itself, without an effect on a host. */
export interface BrainTool {
  readonly spec: ToolSpec;
  /** The class of its plans, which need no approval. */
  readonly class: ActionClass;
  /** Why they need none, in words that end a sentence. */
  readonly reason: string;
  /** Throws BAD_ARGUMENTS when an input is not what the tool takes. */
  check(input: JsonObject): void;
  /** Ids of the runs that an action of the tool stands for; they are part of its plan. */
  runs?(action: Action): readonly string[];
  /** Carries out an input that was checked; throws Faults. */
  run(input: JsonObject, context: BrainToolContext): Promise<Outcome>;
}
