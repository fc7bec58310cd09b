import { useState } from "react";
import type { ReactNode } from "react";
import { translate } from "../words/translate.ts";

/** Copies a text when it is pressed, and says so. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [said, setSaid] = useState("");
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid(translate("Copied")),
      () => setSaid(translate("The browser does not allow it: select the text")),
    );
  };
  return (
    <button type="button" className="small" onClick={copy}>
      <span role="status">{said === "" ? label : said}</span>
    </button>
  );
}
