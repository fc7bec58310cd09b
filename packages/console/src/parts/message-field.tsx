import type { ReactNode } from "react";
import { translate } from "../words/translate.ts";

/** The field of a message. Enter sends it, Shift and Enter begin a line, Escape leaves it where there is a way back. */
export function MessageField(props: {
  readonly words: string;
  readonly change: (words: string) => void;
  readonly send: () => void;
  readonly chars: number;
  /** The field is in the place of a message that is edited: it has the focus, behind the last word. */
  readonly back?: () => void;
}): ReactNode {
  const { words, change, send, chars, back } = props;
  const isEdited = back !== undefined;
  return (
    <textarea
      aria-label={translate("Message")}
      placeholder={isEdited ? undefined : translate("What should be done?")}
      rows={isEdited ? Math.min(12, words.split("\n").length + 1) : 1}
      maxLength={chars}
      value={words}
      autoFocus={isEdited}
      onChange={({ target }) => change(target.value)}
      onFocus={({ target }) => isEdited && target.setSelectionRange(target.value.length, target.value.length)}
      onKeyDown={(event) => {
        if (event.key === "Escape") back?.();
        // While a word is being composed, Enter is the keyboard's own.
        if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
        event.preventDefault();
        send();
      }}
    />
  );
}
