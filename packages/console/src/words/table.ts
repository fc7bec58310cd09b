/** A phrase in the languages besides English. */
export type WordRow = readonly [pt: string, es: string];

/** Phrases by their English words; `{name}` stands for a value. */
export interface WordTable {
  readonly [english: string]: WordRow;
}
