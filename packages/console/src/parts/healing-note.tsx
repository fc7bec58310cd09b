import type { ReactNode } from "react";
import { faultSentence, spanWords } from "@vidro/core/text";
import type { HealingItem } from "../run/conversation.ts";
import { faultTable, translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { visible } from "./text.tsx";

/** What each healing does, by its name in the journal. */
const DOES: { readonly [healing: string]: Phrase } = {
  "": "The earlier conversation was summed up.",
  ask_again: "The model is asked again.",
  compact_context: "The conversation is shortened and the model is asked again.",
  drop_thinking: "The model is asked again without its earlier thinking.",
  handle_rate_limit: "The server asked for a pause.",
  retry_with_backoff: "It is tried again.",
};

/** An attempt to recover, on one line: what was wrong, what is done about it, and how long that waits. */
export function HealingNote({ item }: { readonly item: HealingItem }): ReactNode {
  const { healing, text, code, delayMs, seq } = item;
  const does = Object.hasOwn(DOES, healing) ? DOES[healing] : undefined;
  const wrong = code === undefined ? undefined : faultSentence(code, faultTable());
  return (
    <p className="heal" title={does === undefined ? undefined : text}>
      <span aria-hidden="true">⟳</span>{" "}
      {does === undefined ? <bdi>{visible(text)}</bdi> : `${wrong ?? ""} ${translate(does)}`}
      {delayMs > 0 && ` · ${translate("waits {span}", { span: spanWords(delayMs) })}`}{" "}
      <span className="quiet">seq {seq}</span>
    </p>
  );
}
