/** The allowed values of a setting, and their parser. */
export interface SettingKind<Value> {
  /** The allowed values, as the end of a sentence "… must be". */
  readonly allowed: string;
  /** Parses a text of the environment or a flag, or a value of the file; undefined when it is not allowed. */
  read(given: unknown): Value | undefined;
}

/** Any text that is not empty. */
export const anyText: SettingKind<string> = {
  allowed: "a text that is not empty",
  read: (given) => (typeof given === "string" && given.trim() !== "" ? given.trim() : undefined),
};

/** Several texts: an array, or one text with commas between them. */
export const textList: SettingKind<readonly string[]> = {
  allowed: "a list of texts: an array, or one text with commas",
  read(given) {
    if (typeof given === "string") return given.split(",").flatMap((word) => anyText.read(word) ?? []);
    if (!Array.isArray(given)) return undefined;
    const words = given.flatMap((word) => anyText.read(word) ?? []);
    return words.length === given.length ? words : undefined;
  },
};

/** Yes or no. */
export const yesOrNo: SettingKind<boolean> = {
  allowed: "true or false (in the environment also 1 or 0)",
  read(given) {
    if (given === true || given === "true" || given === "1") return true;
    return given === false || given === "false" || given === "0" ? false : undefined;
  },
};

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number): SettingKind<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    read(given) {
      const number = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : given;
      return Number.isSafeInteger(number) && (number as number) >= least && (number as number) <= most
        ? (number as number)
        : undefined;
    },
  };
}

/** One of several words. */
export function oneOf<Word extends string>(...words: readonly Word[]): SettingKind<Word> {
  return { allowed: words.join(" or "), read: (given) => words.find((word) => word === given) };
}
