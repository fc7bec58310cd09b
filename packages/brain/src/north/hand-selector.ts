import type { HandCatalog } from "@vidro/core";
import { REGISTER_LIMITS } from "@vidro/core";
import type { StartRequest } from "../run/runs.ts";
import type { Caller } from "../auth/caller.ts";

/** Schema of a selector of hands. */
export const SELECTOR = {
  type: "string",
  minLength: 1,
  maxLength: REGISTER_LIMITS.selectorChars,
  description: "A hand's id or name, tag:NAME or tool:NAME, or several of these with commas.",
} as const;

/** The hands of a run: those that the caller's selector names, the local hand when there is none. */
export function selectHand(
  hands: Pick<HandCatalog, "select">,
  selector: string | undefined,
  caller: Caller,
): Pick<StartRequest, "hand"> {
  return selector === undefined ? {} : { hand: hands.select(selector, caller) };
}
