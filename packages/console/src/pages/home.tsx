import type { ReactNode } from "react";
import { CONSOLE_LIMITS, HOUR_MS, parentOfThread } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import type { RunHead } from "@vidro/core";
import { vidro } from "../brain/connection.ts";
import { useHandNames } from "../brain/hand-names.tsx";
import { readListed } from "../brain/listed-runs.ts";
import { usePolled } from "../brain/polled.ts";
import { readQuestions } from "../brain/questions.ts";
import type { OpenQuestion } from "../brain/questions.ts";
import { planTitle } from "../run/plan-title.ts";
import { NewTask } from "../parts/new-task.tsx";
import { Link } from "../parts/route.tsx";
import { RunList } from "../parts/run-list.tsx";
import { WeekOfCosts } from "../parts/week-costs.tsx";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { WeekOfRuns } from "../parts/week.tsx";
import { agoWords, healthWords } from "../parts/words.ts";
import { translate } from "../words/translate.ts";

const SHOWN = 8;

/** The page of the runs that work, the questions that wait, and the runs of today. */
export function HomePage({ isAdmin }: { readonly isAdmin: boolean }): ReactNode {
  useTitle(translate("Home"));
  const { value: listed, fault } = usePolled("home", () => readListed(`limit=${CONSOLE_LIMITS.openRuns}`));
  const nameOf = useHandNames();
  const runs = listed?.map((run) => (run.hand === undefined ? run : { ...run, hand: nameOf(run.hand) }));
  const { value: hands } = usePolled("home-hands", () => vidro.hands.list());
  const { value: open } = usePolled("questions", readQuestions);
  const connected = (hands ?? []).filter(({ barred }) => barred !== "revoked");
  // A helper is on the page of the run that it helps.
  const own = (runs ?? []).filter(({ thread }) => parentOfThread(thread) === undefined);
  const running = own.filter(({ status }) => status === "running");
  const today = own.filter((run) => isOver(run) && Date.now() - run.updatedAt < 24 * HOUR_MS);
  const failed = today.filter(({ status }) => status === "failed");
  const ended = today.filter(({ status }) => status !== "failed");
  return (
    <>
      <h1 className="hidden">{translate("Home")}</h1>
      <NewTask hands={connected} isFirst={listed?.length === 0} />
      {fault !== undefined && <p className="fault">{fault}</p>}
      <WaitingQuestions open={open ?? []} />
      {listed?.length === 0 ? (
        <p className="empty">
          {translate("No task was given yet. Try one of those above, or say what should be done.")}
        </p>
      ) : (
        <Part title={translate("Running")} count={running.length} empty={translate("Nothing runs now.")}>
          <RunList runs={running} />
        </Part>
      )}
      {failed.length > 0 && (
        <Part title={translate("Failed today")} count={failed.length} empty="">
          <RunList runs={failed.slice(0, SHOWN)} />
        </Part>
      )}
      {listed?.length !== 0 && (
        <Part title={translate("Ended today")} count={ended.length} empty={translate("Nothing ended today.")}>
          <RunList runs={ended.slice(0, SHOWN)} />
        </Part>
      )}
      {today.length > SHOWN && (
        <p className="more">
          <Link to="/runs">{translate("All runs")}</Link>
        </p>
      )}
      <Hands hands={connected} isAdmin={isAdmin} />
      {(runs?.length ?? 0) > 0 && (
        <div className="tiles">
          <WeekOfRuns runs={runs ?? []} />
          <WeekOfCosts />
        </div>
      )}
    </>
  );
}

function isOver({ status }: RunHead): boolean {
  return status !== "running" && status !== "asking";
}

function WaitingQuestions({ open }: { readonly open: readonly OpenQuestion[] }): ReactNode {
  const nameOf = useHandNames();
  if (open.length === 0) return null;
  return (
    <Part title={translate("Waiting for you")} count={open.length} empty="">
      <div className="stack">
        {open.map(({ run, item }) => (
          <Link key={item.question.id} to={`/runs/${run.id}`} className="card ask asked item">
            <span className="grow">
              <Line text={planTitle(item, nameOf)} chars={160} />
            </span>
            <span className="end">
              {agoWords(item.askedAt)} · <Line text={run.task} chars={40} />
            </span>
          </Link>
        ))}
      </div>
    </Part>
  );
}

function Part(props: {
  readonly title: string;
  readonly count: number;
  readonly empty: string;
  readonly children: ReactNode;
}): ReactNode {
  const { title, count, empty, children } = props;
  return (
    <section>
      <h2 className="label">
        {title} <span className="quiet">{count === 0 ? "" : count}</span>
      </h2>
      {count === 0 ? <p className="empty">{empty}</p> : children}
    </section>
  );
}

function Hands({ hands, isAdmin }: { readonly hands: readonly HandRecord[]; readonly isAdmin: boolean }): ReactNode {
  const up = hands.filter(({ state }) => state === "ok").length;
  return (
    <section>
      <h2 className="label">
        {translate("Hands")}{" "}
        <span className="quiet">
          {hands.length === 0 ? "" : translate("{n} of {all} connected", { n: up, all: hands.length })}
        </span>
      </h2>
      {hands.length === 0 && (
        <p className="empty">
          {translate("No hand is connected.")} {isAdmin && <Link to="/hands">{translate("Add a host")}</Link>}
        </p>
      )}
      <div className="chips">
        {hands.map(({ id, name, state }) => (
          <Link key={id} to="/hands" className={`state ${healthWords(state)[1]}`}>
            <Line text={name} chars={40} /> {state === "ok" ? "" : healthWords(state)[0]}
          </Link>
        ))}
      </div>
    </section>
  );
}
