import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import { faultWords, vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { Choice } from "./choice.tsx";
import { go } from "./route.tsx";

/** Tasks that every machine can do, for who has given none yet. */
const EXAMPLES: readonly Phrase[] = [
  "How much disk is free?",
  "Which processes use the most memory?",
  "What is in this folder?",
];

/** One line that starts a task, on a hand and with an agent that a person chooses; for the first one with examples. */
export function NewTask(props: { readonly hands: readonly HandRecord[]; readonly isFirst: boolean }): ReactNode {
  const { hands, isFirst } = props;
  const { value: agents = [] } = usePolled("agents", () => vidro.agents.list(), CONSOLE_LIMITS.catalogMs);
  const [task, setTask] = useState("");
  const [hand, setHand] = useState("");
  const [agent, setAgent] = useState("");
  const [fault, setFault] = useState("");
  const start = (): void => {
    setFault("");
    vidro.run(task.trim(), { ...(hand === "" ? {} : { hand }), ...(agent === "" ? {} : { agent }) }).then(
      ({ id }) => go(`/runs/${id}`),
      (thrown: unknown) => setFault(faultWords(thrown)),
    );
  };
  const others = hands.filter(({ id }) => id !== "local").map(({ id, name }) => [id, name] as const);
  const personas = agents.filter(({ name }) => name !== "bunny").map(({ uuid, name }) => [uuid, name] as const);
  return (
    <form
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        if (task.trim() !== "") start();
      }}
    >
      <input
        aria-label={translate("What should be done?")}
        placeholder={translate("What should be done?")}
        value={task}
        onChange={({ target }) => setTask(target.value)}
      />
      <Choice
        label={translate("Hand")}
        first={translate("this machine")}
        others={others}
        value={hand}
        choose={setHand}
      />
      <Choice label={translate("Agent")} first="bunny" others={personas} value={agent} choose={setAgent} />
      <button type="submit" className="do" disabled={task.trim() === ""}>
        {translate("Run")}
      </button>
      {isFirst && (
        <p className="row">
          {EXAMPLES.map((example) => (
            <button key={example} type="button" className="small" onClick={() => setTask(translate(example))}>
              {translate(example)}
            </button>
          ))}
        </p>
      )}
      <p role="alert" className="fault">
        {fault}
      </p>
    </form>
  );
}
