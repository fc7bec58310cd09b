import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { AgentInput, AgentRecord } from "@vidro/client";
import { faultWords, vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { translate } from "../words/translate.ts";
import { ToolSwitches } from "./tool-switches.tsx";

/** The fields of a new agent, or of one that is changed. */
export function AgentForm({
  agent,
  done,
}: {
  readonly agent: AgentRecord | undefined;
  readonly done: () => void;
}): ReactNode {
  const [draft, setDraft] = useState<AgentInput>(() => draftOf(agent));
  const [fault, setFault] = useState("");
  const act = async (work: Promise<unknown>): Promise<void> => {
    setFault("");
    try {
      await work;
      done();
    } catch (thrown) {
      setFault(faultWords(thrown));
    }
  };
  const save = (): Promise<void> =>
    act(agent === undefined ? vidro.agents.create(draft) : vidro.agents.replace(agent.uuid, draft));
  return (
    <form
      className="wizard agent-form"
      aria-label={agent === undefined ? translate("New agent") : translate("Change")}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextFields draft={draft} change={setDraft} />
      <div className="wide">
        <AgentTools draft={draft} change={setDraft} />
      </div>
      <div className="row wide">
        <button type="submit" className="do" disabled={draft.name.trim() === ""}>
          {translate("Save")}
        </button>
        {agent !== undefined && <DeleteButton remove={() => void act(vidro.agents.delete(agent.uuid))} />}
        <p role="alert" className="fault">
          {fault}
        </p>
      </div>
    </form>
  );
}

function TextFields({
  draft,
  change,
}: {
  readonly draft: AgentInput;
  readonly change: (draft: AgentInput) => void;
}): ReactNode {
  return (
    <>
      <Field label={translate("Name")} value={draft.name} change={(name) => change({ ...draft, name })} />
      <Field
        label={translate("What it is for")}
        value={draft.description ?? ""}
        change={(description) => change({ ...draft, description })}
      />
      <Field
        label={translate("Model (empty: the brain's)")}
        value={draft.model ?? ""}
        change={(model) => change({ ...draft, model })}
      />
      <label className="wide">
        <span>{translate("Prompt")}</span>
        <textarea
          rows={6}
          value={draft.prompt ?? ""}
          onChange={({ target }) => change({ ...draft, prompt: target.value })}
        />
      </label>
    </>
  );
}

/** A switch for each tool; an agent with all of them has those that come later, too. */
function AgentTools({
  draft,
  change,
}: {
  readonly draft: AgentInput;
  readonly change: (draft: AgentInput) => void;
}): ReactNode {
  const { value: tools = [] } = usePolled("tools", () => vidro.tools(), CONSOLE_LIMITS.catalogMs);
  const names = tools.map(({ name }) => name);
  const off = new Set(names.filter((name) => draft.tools?.includes(name) === false));
  const toggle = (name: string): void => {
    const on = names.filter((one) => off.has(one) === (one === name));
    const { tools: before, ...rest } = draft;
    change(before !== undefined && on.length === names.length ? rest : { ...rest, tools: on });
  };
  return <ToolSwitches title={translate("Tools of the agent")} tools={tools} off={off} toggle={toggle} />;
}

function draftOf(agent: AgentRecord | undefined): AgentInput {
  if (agent === undefined) return { name: "" };
  const { name, description, prompt, model, tools, image } = agent;
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(prompt === null ? {} : { prompt }),
    ...(model === null ? {} : { model }),
    ...(tools === null ? {} : { tools }),
    ...(image === null ? {} : { image }),
  };
}

function Field(props: {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
}): ReactNode {
  return (
    <label>
      <span>{props.label}</span>
      <input value={props.value} onChange={({ target }) => props.change(target.value)} />
    </label>
  );
}

/** Deletes at the second press. */
function DeleteButton({ remove }: { readonly remove: () => void }): ReactNode {
  const [isSure, setSure] = useState(false);
  return (
    <button type="button" className="no" onClick={() => (isSure ? remove() : setSure(true))}>
      {isSure ? translate("Delete for good?") : translate("Delete")}
    </button>
  );
}
