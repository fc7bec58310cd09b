import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS, isObject, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { spanWords } from "@vidro/core/text";
import { faultWords, request } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { Line } from "./text.tsx";
import { healthWords } from "./words.ts";

/** What the brain is made of: version, health of each part, store and bus, and its models with a test of each. */
export function BrainParts(props: {
  readonly checks: JsonObject;
  readonly details: JsonObject;
  readonly version: string;
  readonly isAdmin: boolean;
}): ReactNode {
  const { checks, details, version, isAdmin } = props;
  return (
    <>
      <dl className="rows">
        <div>
          <dt>{translate("version")}</dt>
          <dd>{version}</dd>
        </div>
        {isAdmin && <Storage />}
        {Object.keys(checks).map((name) => (
          <PartHealth key={name} name={name} state={textIn(checks, name) ?? ""} why={textIn(details, name) ?? ""} />
        ))}
      </dl>
      {isAdmin && <Models />}
    </>
  );
}

/** The parts whose health the brain tells, by their names on the wire. */
const PARTS: { readonly [name: string]: Phrase } = {
  store: "store",
  disk: "disk",
  descriptors: "open files",
  runs: "runs",
  hands: "hands",
};

function PartHealth(props: { readonly name: string; readonly state: string; readonly why: string }): ReactNode {
  const [word, tone] = healthWords(props.state);
  const name = Object.hasOwn(PARTS, props.name) ? PARTS[props.name] : undefined;
  return (
    <div>
      <dt>{name === undefined ? <bdi>{props.name}</bdi> : translate(name)}</dt>
      <dd>
        <span className={`state ${tone}`}>{word}</span>{" "}
        <span className="quiet">
          <Line text={props.why} />
        </span>
      </dd>
    </div>
  );
}

function useAbout(): JsonObject | undefined {
  return usePolled("about", () => request("GET", "/v1/about"), CONSOLE_LIMITS.catalogMs).value;
}

function Storage(): ReactNode {
  const about = useAbout();
  if (about === undefined) return null;
  return (
    <>
      <div>
        <dt>{translate("kept in")}</dt>
        <dd>
          <bdi>{textIn(about, "store")}</bdi>
        </dd>
      </div>
      <div>
        <dt>{translate("shared by")}</dt>
        <dd>{textIn(about, "bus") ?? translate("no bus: this brain works alone")}</dd>
      </div>
    </>
  );
}

function Models(): ReactNode {
  const about = useAbout();
  const names = Array.isArray(about?.["models"]) ? about["models"].filter((name) => typeof name === "string") : [];
  if (names.length === 0) return null;
  return (
    <>
      <h2 className="label">{translate("Models, in the order in which they are asked")}</h2>
      <p className="quiet small">
        <Line text={textIn(about ?? {}, "because") ?? ""} />
      </p>
      <ol className="models">
        {names.map((name) => (
          <ModelRow key={name} name={name} />
        ))}
      </ol>
    </>
  );
}

function ModelRow({ name }: { readonly name: string }): ReactNode {
  const [trial, setTrial] = useState<{ readonly said?: string; readonly isBad?: boolean; readonly isBusy?: boolean }>(
    {},
  );
  const test = (): void => {
    setTrial({ isBusy: true });
    request("POST", "/v1/models/test", { model: name }).then(
      (answer) => setTrial(trialOf(answer)),
      (thrown: unknown) => setTrial({ said: faultWords(thrown), isBad: true }),
    );
  };
  return (
    <li className="card">
      <div className="row">
        <b className="grow">
          <Line text={name} chars={80} />
        </b>
        <button type="button" className="small" disabled={trial.isBusy === true} onClick={test}>
          {trial.isBusy === true ? translate("Testing…") : translate("Test")}
        </button>
      </div>
      <p role="status" className={trial.isBad === true ? "fault" : "quiet small"}>
        <bdi>{trial.said ?? ""}</bdi>
      </p>
    </li>
  );
}

function trialOf(answer: JsonObject): { readonly said: string; readonly isBad: boolean } {
  const { fault, tookMs, isRight, calls } = answer;
  if (isObject(fault)) return { said: textIn(fault, "message") ?? "", isBad: true };
  const times = Array.isArray(tookMs) ? tookMs.map((ms) => spanWords(Number(ms))).join(" + ") : "";
  const how = calls === undefined ? translate("calls no tool") : translate("calls tools");
  return { said: [isRight === true ? translate("works") : translate("answers"), how, times].join(" · "), isBad: false };
}
