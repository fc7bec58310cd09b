import { FAULT_WORDS_ES } from "./fault-words-es.ts";
import { FAULT_WORDS_PT } from "./fault-words-pt.ts";

/** What the faults of the table say, in the languages besides English; apart from the other texts, since few need it. */
export const FAULT_WORDS = { pt: FAULT_WORDS_PT, es: FAULT_WORDS_ES } as const;
