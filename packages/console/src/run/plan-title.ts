import { planWords } from "@vidro/core/text";
import { translate } from "../words/translate.ts";
import type { QuestionItem } from "./conversation.ts";

/** The subject of a question, on one line; `nameOf` gives the name of a hand. */
export function planTitle({ question }: QuestionItem, nameOf: (hand: string) => string): string {
  const { about, text } = question;
  if (about.kind !== "approval" || about.plan === undefined) return text;
  return about.hand === undefined
    ? planWords(about.plan)
    : translate("{plan} on {hand}", { plan: planWords(about.plan), hand: nameOf(about.hand) });
}
