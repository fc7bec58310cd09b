import { useState } from "react";
import type { ReactNode } from "react";
import type { JsonObject } from "@vidro/core";
import { planWords, reasonWords } from "@vidro/core/text";
import { faultWords } from "../brain/connection.ts";
import { explainAction } from "../brain/policy.ts";
import type { PolicyAnswer } from "../brain/policy.ts";
import { wordsOfLine } from "../run/command-line.ts";
import { languageNow, translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { wholeText } from "./text.tsx";
import { decisionWords } from "./words.ts";

/** What can be asked about, by the tool that would do it. */
const KINDS: { readonly [tool: string]: { readonly name: Phrase; readonly input: (text: string) => JsonObject } } = {
  command: { name: "a command", input: commandInput },
  shell: { name: "a shell line", input: (command) => ({ command }) },
  read_file: { name: "reading a file", input: (path) => ({ file_path: path }) },
  write_file: { name: "writing a file", input: (path) => ({ file_path: path, content: "" }) },
  web_fetch: { name: "fetching a page", input: (url) => ({ url }) },
};

/** "Would this run?": the verdict on an action, by which rule and why; with a draft, by the draft. */
export function PolicyTester({ draft }: { readonly draft?: () => JsonObject | undefined }): ReactNode {
  const [tool, setTool] = useState("command");
  const [text, setText] = useState("");
  const [said, setSaid] = useState<{ readonly answer?: PolicyAnswer; readonly fault?: string }>({});
  const ask = async (): Promise<void> => {
    try {
      const source = draft?.();
      setSaid({ answer: await explainAction(tool, KINDS[tool]?.input(text.trim()) ?? {}, source) });
    } catch (thrown) {
      setSaid({ fault: faultWords(thrown) });
    }
  };
  return (
    <section className="tester" aria-label={translate("Would this run?")}>
      <h2 className="label">{translate("Would this run?")}</h2>
      <form
        className="compose"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <select
          aria-label={translate("What is asked about")}
          value={tool}
          onChange={({ target }) => setTool(target.value)}
        >
          {Object.entries(KINDS).map(([name, kind]) => (
            <option key={name} value={name}>
              {translate(kind.name)}
            </option>
          ))}
        </select>
        <input
          aria-label={translate("What would be done")}
          placeholder={tool === "command" ? "rm -rf build" : ""}
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" disabled={text.trim() === ""}>
          {translate("Ask the policy")}
        </button>
      </form>
      <div role="status">
        {said.fault !== undefined && <p className="fault">{said.fault}</p>}
        {said.answer !== undefined && <Answer answer={said.answer} />}
      </div>
    </section>
  );
}

function commandInput(line: string): JsonObject {
  const [command = "", ...args] = wordsOfLine(line) ?? [line];
  return { command, args };
}

function Answer({ answer }: { readonly answer: PolicyAnswer }): ReactNode {
  const [word, tone] = decisionWords(answer.decision);
  const rows: readonly (readonly [name: Phrase, text: string])[] = [
    ["plan", planWords(answer.plan)],
    ["rule", `${answer.rule} (${answer.class})`],
    ["why", reasonWords(answer.reason, languageNow())],
  ];
  return (
    <div className="card verdict">
      <header>
        <span className={`state ${tone}`}>{word}</span>
      </header>
      <dl className="rows">
        {rows.map(([name, text]) => (
          <div key={name}>
            <dt>{translate(name)}</dt>
            <dd>
              <bdi>{wholeText(text)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <ul className="findings">
        {answer.findings.map(({ rule, matched, why }) => (
          <li key={rule} className={matched ? "" : "quiet"}>
            {matched ? translate("matches") : translate("does not match")} <b>{rule}</b>: <bdi>{wholeText(why)}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}
