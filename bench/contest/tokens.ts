/**
 * What the quick model says: the first token and the last one can be told from all others. The first one ends with a
 * character that no secret begins with: the brain holds back a letter with which a secret of its own may begin.
 */
export const TOKENS: readonly string[] = [
  "Firstly,",
  ...Array.from({ length: 198 }, (_, at) => ` word${at}`),
  " lastly.",
];

/** How long the quick model rests after its first token: a first token that comes in a crowd has to wait for the crowd. */
export const REST_MS = 5;
