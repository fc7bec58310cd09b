import { planWords } from "@vidro/core/text";
import type { QuestionItem } from "./conversation.ts";

/** The subject of a question, on one line. */
export function planTitle({ question }: QuestionItem): string {
  const { about, text } = question;
  if (about.kind !== "approval" || about.plan === undefined) return text;
  return about.hand === undefined ? planWords(about.plan) : `${planWords(about.plan)} on ${about.hand}`;
}
