import { FRAME_WORDS } from "./frame-words.ts";
import { PLACE_WORDS } from "./place-words.ts";
import { RUN_WORDS } from "./run-words.ts";

/** Everything that the console says, by its English words: in Portuguese and in Spanish. */
export const WORDS = { ...FRAME_WORDS, ...PLACE_WORDS, ...RUN_WORDS };

/** Something that the console says, in English. */
export type Phrase = keyof typeof WORDS;
