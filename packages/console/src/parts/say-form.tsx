import { useState } from "react";
import type { ReactNode } from "react";
import { RUN_LIMITS } from "@vidro/core";
import { faultWords, vidro } from "../brain/connection.ts";
import { translate } from "../words/translate.ts";

/** A line to say something to a run while it works. */
export function SayForm({ run }: { readonly run: string }): ReactNode {
  const [words, setWords] = useState("");
  const [said, setSaid] = useState("");
  const [fault, setFault] = useState("");
  const say = async (): Promise<void> => {
    setFault("");
    try {
      await vidro.attach(run).say(words.trim());
      setWords("");
      setSaid(translate("Said; the model is told with its next step."));
    } catch (thrown) {
      setFault(faultWords(thrown));
    }
  };
  return (
    <form
      className="compose say"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() !== "") void say();
      }}
    >
      <input
        aria-label={translate("Say something while it works")}
        placeholder={translate("Say something while it works: it is told with the next step")}
        maxLength={RUN_LIMITS.remarkChars}
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      <button type="submit" disabled={words.trim() === ""}>
        {translate("Say")}
      </button>
      <p role="status" className={fault === "" ? "quiet small" : "fault"}>
        {fault === "" ? said : fault}
      </p>
    </form>
  );
}
