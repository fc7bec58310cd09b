import type { Json, JsonObject } from "@vidro/core";
import type { Severity } from "../event.ts";
import type { Failure } from "./failure.ts";
import type { Schema } from "./mend.ts";

/** One run of an operation. */
export interface Attempt {
  /** Counts from 1. */
  readonly attempt: number;
  /** The operation's input, possibly changed by a healing. */
  readonly input: Json | undefined;
  /** The token that a healing obtained; undefined before. */
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

/** Work that may be healed. */
export interface Operation<T> {
  /** What the caller wants, in one word: the `original_intent`. */
  readonly name: string;
  readonly run: (attempt: Attempt) => T | Promise<T>;
  readonly input?: Json;
  /** JSON Schema of `input`. */
  readonly schema?: Schema;
  /**
   * Whether running it twice has the same effect as once. Otherwise it is repeated only after failures that certainly
   * came before any effect.
   */
  readonly idempotent?: boolean;
}

/** The input of a heuristic. */
export interface HealingContext {
  readonly failure: Failure;
  readonly operation: Pick<Operation<unknown>, "name" | "schema" | "idempotent">;
  readonly input: Json | undefined;
  /** Count of this heuristic's attempts for this operation, from 1. */
  readonly attempt: number;
  /** Aborted when the time limit of healing is reached or the client has disconnected. */
  readonly signal: AbortSignal;
  /** Adds values that must not appear in events. */
  readonly hide: (...secrets: readonly string[]) => void;
  /** Waits, with a status event. */
  readonly rest: (ms: number, message: string) => Promise<void>;
}

/** The change that a healing makes for the next attempt. */
export interface HealingChange {
  readonly input?: Json;
  readonly token?: string;
  /** Metadata of its event. */
  readonly metadata?: JsonObject;
}

/** Thrown by a heuristic with a reason for the client; of other errors only the code is shown. */
export class UnhealedError extends Error {}

/** One way of healing: which failures it fits, and what it does. */
export interface Heuristic {
  readonly action: string;
  readonly severity: Severity;
  /** Text of its event. */
  readonly description: string;
  /** Most attempts for one operation. */
  readonly attempts: number;
  /** The `detected_issue` and `decision` of the analysis; the failure's code and the action by default. */
  readonly issue?: string;
  readonly decision?: string;
  /** Values that must not appear in events, not even in the text of the failure. */
  readonly secrets?: () => readonly string[];
  /** Whether it may help against this failure. */
  fits(failure: Failure, circumstances: Pick<HealingContext, "operation" | "input">): boolean;
  /** Carries it out; undefined or a rejection when it did not help. */
  mend(circumstances: HealingContext): Promise<HealingChange | undefined>;
}
