import { planWords } from "@vidro/core/text";
import { translate } from "../words/translate.ts";
import type { QuestionItem } from "./conversation.ts";

/** The subject of a question, on one line. */
export function planTitle({ question }: QuestionItem): string {
  const { about, text } = question;
  if (about.kind !== "approval" || about.plan === undefined) return text;
  return about.hand === undefined
    ? planWords(about.plan)
    : translate("{plan} on {hand}", { plan: planWords(about.plan), hand: about.hand });
}
