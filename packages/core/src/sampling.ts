import type { JsonObject } from "./json.ts";

/** `none`: no tool. `required`: some tool before the first answer. `tool`: this tool before the first answer. */
export type ToolChoice = "none" | "required" | { readonly tool: string };

/** Parameters of the model's replies; a model ignores those that it does not know, but for `format`. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  /** Tokens of one reply. */
  readonly maxTokens?: number;
  /** Stop sequences: a reply ends before the first of them. */
  readonly stop?: readonly string[];
  readonly repeatPenalty?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  /** How long the model thinks before it replies. */
  readonly reasoning?: ReasoningEffort;
  /** How much the model says: `low`, `medium` or `high`. */
  readonly verbosity?: string;
  /** The form of the answer: a reply that ends the run has it, or the call of the model fails. */
  readonly format?: AnswerFormat;
  /** Fields that only the vendor of the client's wire knows, as the client wrote them. */
  readonly vendor?: JsonObject;
}

/** Names of how long a model may think, in growing order. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** How long a model thinks before it replies. */
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** The form of an answer that is JSON: any object, or what a JSON Schema describes. */
export type AnswerFormat = {
  readonly name?: string;
  readonly description?: string;
  readonly schema?: JsonObject;
};
