import type { ReactNode } from "react";
import { CONSOLE_LIMITS, HOUR_MS } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import type { RunHead } from "@vidro/core";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { readQuestions } from "../brain/questions.ts";
import type { OpenQuestion } from "../brain/questions.ts";
import { planTitle } from "../run/plan-title.ts";
import { NewTask } from "../parts/new-task.tsx";
import { Link } from "../parts/route.tsx";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { WeekOfRuns } from "../parts/week.tsx";
import { agoWords } from "../parts/words.ts";
import { RunList } from "./runs.tsx";

const SHOWN = 8;

/** The page of the runs that work, the questions that wait, and the runs of today. */
export function HomePage(): ReactNode {
  useTitle("Home");
  const { value: runs, fault } = usePolled("home", () => vidro.list({ limit: CONSOLE_LIMITS.openRuns }));
  const { value: hands } = usePolled("home-hands", () => vidro.hands.list());
  const { value: open } = usePolled("questions", readQuestions);
  const connected = (hands ?? []).filter(({ barred }) => barred !== "revoked");
  const running = (runs ?? []).filter(({ status }) => status === "running");
  const today = (runs ?? []).filter((run) => isOver(run) && Date.now() - run.updatedAt < 24 * HOUR_MS);
  return (
    <>
      <h1 className="hidden">Home</h1>
      <NewTask hands={connected} />
      {fault !== undefined && <p className="fault">{fault}</p>}
      <WaitingQuestions open={open ?? []} />
      <Part title="Running" count={running.length} empty="Nothing runs now.">
        <RunList runs={running} />
      </Part>
      <Part title="Ended today" count={today.length} empty="Nothing ended today.">
        <RunList runs={today.slice(0, SHOWN)} />
      </Part>
      {today.length > SHOWN && <Link to="/runs">All runs</Link>}
      <Hands hands={connected} />
      {(runs?.length ?? 0) > 0 && (
        <div className="tiles">
          <WeekOfRuns runs={runs ?? []} />
        </div>
      )}
    </>
  );
}

function isOver({ status }: RunHead): boolean {
  return status !== "running" && status !== "asking";
}

function WaitingQuestions({ open }: { readonly open: readonly OpenQuestion[] }): ReactNode {
  if (open.length === 0) return null;
  return (
    <Part title="Waiting for you" count={open.length} empty="">
      <div className="stack">
        {open.map(({ run, item }) => (
          <Link key={item.question.id} to={`/runs/${run.id}`} className="card ask asked item">
            <span className="grow">
              <Line text={planTitle(item)} chars={160} />
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

function Hands({ hands }: { readonly hands: readonly HandRecord[] }): ReactNode {
  const up = hands.filter(({ state }) => state === "ok").length;
  return (
    <section>
      <h2 className="label">
        Hands <span className="quiet">{hands.length === 0 ? "" : `${up} of ${hands.length} connected`}</span>
      </h2>
      {hands.length === 0 && (
        <p className="empty">
          No hand is connected. <Link to="/hands">Add a host</Link>
        </p>
      )}
      <div className="chips">
        {hands.map(({ id, name, state }) => (
          <Link key={id} to="/hands" className={`state ${state === "ok" ? "ok" : "bad"}`}>
            <Line text={name} chars={40} /> {state === "ok" ? "" : state}
          </Link>
        ))}
      </div>
    </section>
  );
}
