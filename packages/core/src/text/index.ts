export * from "./answer-words.ts";
export * from "./approval-words.ts";
export * from "./bounded-lines.ts";
export * from "./language.ts";
export * from "./nearest.ts";
export * from "./printable.ts";
export * from "./sentences.ts";
export * from "./words.ts";
