import { useState } from "react";
import type { ReactNode } from "react";
import { translate } from "../words/translate.ts";

/** Copies a text when it is pressed, and says so; `isQuiet` looks like the text around it. */
export function Copy(props: { readonly text: string; readonly label: string; readonly isQuiet?: boolean }): ReactNode {
  const { text, label, isQuiet = false } = props;
  const [said, setSaid] = useState("");
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid(translate("Copied")),
      () => setSaid(translate("The browser does not allow it: select the text")),
    );
  };
  return (
    <button
      type="button"
      className={isQuiet ? "copy" : "small"}
      title={isQuiet ? translate("Copy {text}", { text }) : undefined}
      onClick={copy}
    >
      <span role="status">{said === "" ? label : said}</span>
    </button>
  );
}
