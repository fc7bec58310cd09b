/** A language in which people are spoken to; the words of the wires are the same in all of them. */
export type Language = "en" | "pt" | "es";
