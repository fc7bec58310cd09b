import type { Json, JsonObject } from "@vidro/core";
import type { Severity } from "../event.ts";
import type { Failure } from "./failure.ts";
import type { Schema } from "./mend.ts";

/** One run of an operation. */
export interface Attempt {
  /** Counts from 1. */
  readonly attempt: number;
  /** The operation's input, mended if a healing did so. */
  readonly input: Json | undefined;
  /** The token that a healing got; undefined before. */
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

/** Work that may be healed. */
export interface Operation<T> {
  /** What the caller wants, in one word: the `original_intent`. */
  readonly name: string;
  readonly run: (attempt: Attempt) => T | Promise<T>;
  readonly input?: Json;
  /** What `input` should be. */
  readonly schema?: Schema;
  /**
   * Whether running it twice does no more than running it once. When it is not, it is run again only after failures
   * that certainly came before any effect.
   */
  readonly idempotent?: boolean;
}

/** What a heuristic is told. */
export interface HealingContext {
  readonly failure: Failure;
  readonly operation: Pick<Operation<unknown>, "name" | "schema" | "idempotent">;
  readonly input: Json | undefined;
  /** How often this heuristic was tried for this operation, this time included. */
  readonly attempt: number;
  /** Aborted when the time for healing is over or nobody waits any more. */
  readonly signal: AbortSignal;
  /** These values must never be shown. */
  readonly hide: (...secrets: readonly string[]) => void;
  /** Waits, and says so. */
  readonly rest: (ms: number, message: string) => Promise<void>;
}

/** What a healing changed for the next run. */
export interface HealingChange {
  readonly input?: Json;
  readonly token?: string;
  /** What to tell about it. */
  readonly metadata?: JsonObject;
}

/** What a heuristic throws to say why it could not help; of anything else that it throws only the code is told. */
export class UnhealedError extends Error {}

/** A way of healing: what it is for and what it does about it. */
export interface Heuristic {
  readonly action: string;
  readonly severity: Severity;
  /** What is said while it is tried. */
  readonly description: string;
  /** Tries for one operation. */
  readonly attempts: number;
  /** The `detected_issue` and `decision` of the analysis; the failure's code and the action by default. */
  readonly issue?: string;
  readonly decision?: string;
  /** Values that it works with and that must never be shown, not even in the words of the failure. */
  readonly secrets?: () => readonly string[];
  /** Whether it could help against this failure. */
  fits(failure: Failure, circumstances: Pick<HealingContext, "operation" | "input">): boolean;
  /** Really does it; undefined or a rejection when it could not. */
  mend(circumstances: HealingContext): Promise<HealingChange | undefined>;
}
