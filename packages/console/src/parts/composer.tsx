import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS, RUN_LIMITS } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { faultWords, vidro } from "../brain/connection.ts";
import type { ListedRun } from "../brain/listed-runs.ts";
import { usePolled } from "../brain/polled.ts";
import { translate } from "../words/translate.ts";
import { Attachments } from "./attachments.tsx";
import { Choice } from "./choice.tsx";
import { MessageField } from "./message-field.tsx";
import { go, useAddress } from "./route.tsx";

/** Who does what a message asks for: an agent, a hand and a model; an empty text stands for the usual one. */
interface RunChoices {
  readonly agent: string;
  readonly hand: string;
  readonly model: string;
}

/** The line for the next message of a conversation, which it begins when there is none. */
export function Composer(props: {
  readonly thread: string | undefined;
  /** The run whose agent and hand are gone on with, where no conversation on record names them. */
  readonly like: ListedRun | undefined;
  readonly tools: readonly string[] | undefined;
  readonly sent: () => void;
}): ReactNode {
  const { thread, like, tools, sent } = props;
  const first = useAddress().searchParams.get("agent") ?? "";
  const [choices, setChoices] = useState<RunChoices>({ agent: first, hand: "", model: "" });
  const [words, setWords] = useState("");
  const [files, setFiles] = useState<readonly FilePart[]>([]);
  const [fault, setFault] = useState("");
  const [isBusy, setBusy] = useState(false);
  const isReady = words.trim() !== "" && !isBusy;
  const send = async (): Promise<void> => {
    if (!isReady) return;
    setBusy(true);
    setFault("");
    const { agent, hand, model } = choices;
    try {
      const id = thread ?? (await vidro.conversations.create(agent === "" ? {} : { agent })).id;
      await vidro.run(words.trim(), {
        thread: id,
        ...settingOf(like),
        ...(files.length === 0 ? {} : { files }),
        ...(tools === undefined ? {} : { tools }),
        ...(hand === "" ? {} : { hand }),
        ...(model.trim() === "" ? {} : { model: model.trim() }),
      });
      setWords("");
      setFiles([]);
      if (thread === undefined) go(`/chat/${id}`);
      else sent();
    } catch (thrown) {
      setFault(faultWords(thrown));
    }
    setBusy(false);
  };
  return (
    <form
      className={thread === undefined ? "compose" : "compose at-end"}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <MessageField words={words} change={setWords} send={() => void send()} chars={RUN_LIMITS.taskChars} />
      <Attachments files={files} change={setFiles} />
      <ChoiceFields isNew={thread === undefined} choices={choices} change={setChoices} />
      <button type="submit" className="do" disabled={!isReady}>
        {translate("Send")}
      </button>
      <p role="alert" className="fault">
        {fault}
      </p>
    </form>
  );
}

/** Agent and hand of a run, where they are not the usual ones. */
function settingOf(run: ListedRun | undefined): { readonly agent?: string; readonly hand?: string } {
  const { agent = "bunny", hand = "local" } = run ?? {};
  return { ...(agent === "bunny" ? {} : { agent }), ...(hand === "local" ? {} : { hand }) };
}

/** The agent of a new conversation, and hand and model of its next message. */
function ChoiceFields(props: {
  readonly isNew: boolean;
  readonly choices: RunChoices;
  readonly change: (choices: RunChoices) => void;
}): ReactNode {
  const { isNew, choices, change } = props;
  const { value: agents = [] } = usePolled("agents", () => vidro.agents.list(), CONSOLE_LIMITS.catalogMs);
  const { value: hands = [] } = usePolled("chat-hands", () => vidro.hands.list(), CONSOLE_LIMITS.catalogMs);
  const personas = agents.filter(({ name }) => name !== "bunny").map(({ uuid, name }) => [uuid, name] as const);
  const others = hands.filter(({ id, barred }) => id !== "local" && barred === null);
  return (
    <>
      {isNew && (
        <Choice
          label={translate("Agent")}
          first="bunny"
          others={personas}
          value={choices.agent}
          choose={(agent) => change({ ...choices, agent })}
        />
      )}
      <Choice
        label={translate("Hand")}
        first={translate("this machine")}
        others={others.map(({ id, name }) => [id, name] as const)}
        value={choices.hand}
        choose={(hand) => change({ ...choices, hand })}
      />
      <input
        className="short"
        aria-label={translate("Model (empty: the agent's)")}
        placeholder={translate("model")}
        spellCheck={false}
        value={choices.model}
        onChange={({ target }) => change({ ...choices, model: target.value })}
      />
    </>
  );
}
