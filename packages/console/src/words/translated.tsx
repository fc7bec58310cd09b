import { Fragment, useSyncExternalStore } from "react";
import type { ReactNode } from "react";
import type { Language } from "@vidro/core/text";
import { languageNow, phraseText, watchLanguage } from "./translate.ts";
import type { Phrase } from "./words.ts";

/** The language that is spoken, as it changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(watchLanguage, languageNow);
}

/** A phrase whose values are parts of the page. */
export function TranslatedText(props: {
  readonly phrase: Phrase;
  readonly values: { readonly [name: string]: ReactNode };
}): ReactNode {
  const pieces = phraseText(props.phrase).split(/\{(\w+)\}/);
  return pieces.map((piece, index) => <Fragment key={index}>{index % 2 === 0 ? piece : props.values[piece]}</Fragment>);
}
