import { useState } from "react";
import type { ReactNode } from "react";
import { faultWords, vidro } from "../brain/connection.ts";
import { translate } from "../words/translate.ts";
import { go } from "./route.tsx";

/** Starts a run that is the same as another one up to an entry, and may be told something else from there on. */
export function ForkForm({ run, at }: { readonly run: string; readonly at?: number }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const fork = (): void => {
    setFault("");
    const words = text.trim();
    vidro
      .attach(run)
      .fork({ ...(at === undefined ? {} : { at }), ...(words === "" ? {} : { text: words }) })
      .then(
        ({ id }) => go(`/runs/${id}`),
        (thrown: unknown) => setFault(faultWords(thrown)),
      );
  };
  if (!isOpen)
    return (
      <button type="button" className={at === undefined ? "" : "small"} onClick={() => setOpen(true)}>
        {at === undefined ? translate("Fork") : translate("Fork from here")}
      </button>
    );
  return (
    <form
      className="compose fork"
      onSubmit={(event) => {
        event.preventDefault();
        fork();
      }}
    >
      <input
        aria-label={translate("What the fork is told")}
        placeholder={translate("What should it be told now? Nothing that was done is done again")}
        value={text}
        onChange={({ target }) => setText(target.value)}
        autoFocus
      />
      <button type="submit" className="do">
        {translate("Start the fork")}
      </button>
      <button type="button" onClick={() => setOpen(false)}>
        {translate("Back")}
      </button>
      <p className="fault">{fault}</p>
    </form>
  );
}
