/** What the quick model says: the first token and the last one can be told from all others. */
export const TOKENS: readonly string[] = [
  "Firstly",
  ...Array.from({ length: 198 }, (_, at) => ` word${at}`),
  " lastly.",
];

/** How long the quick model rests after its first token: a first token that comes in a crowd has to wait for the crowd. */
export const REST_MS = 5;
