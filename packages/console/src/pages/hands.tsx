import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { HandRecord, HandSample } from "@vidro/client";
import { faultWords, vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { AddHost } from "../parts/add-host.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { agoWords, clockWords } from "../parts/words.ts";

/** The hosts that work, how they are, and how to add one. */
export function HandsPage({ isAdmin }: { readonly isAdmin: boolean }): ReactNode {
  useTitle("Hands");
  const { value: hands, fault, refresh } = usePolled("hands", () => vidro.hands.list());
  const [isAdding, setAdding] = useState(false);
  const up = hands?.filter(({ state }) => state === "ok").length ?? 0;
  return (
    <>
      <div className="head">
        <div className="grow">
          <h1>Hands</h1>
          <div className="chips">
            <span>{hands === undefined ? "Reading the list…" : `${up} of ${hands.length} connected`}</span>
          </div>
        </div>
        {isAdmin && (
          <button type="button" className={isAdding ? "" : "do"} onClick={() => setAdding(!isAdding)}>
            {isAdding ? "Close" : "Add a host"}
          </button>
        )}
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {isAdding && <AddHost hands={hands ?? []} />}
      {hands?.length === 0 && <p className="empty">No host works for this brain yet: add one.</p>}
      <div className="tiles">
        {hands?.map((hand) => (
          <HandTile key={hand.id} hand={hand} isAdmin={isAdmin} changed={refresh} />
        ))}
      </div>
    </>
  );
}

function HandTile(props: {
  readonly hand: HandRecord;
  readonly isAdmin: boolean;
  readonly changed: () => void;
}): ReactNode {
  const { hand } = props;
  const { value: samples = [] } = usePolled(
    `telemetry-${hand.id}`,
    () => vidro.hands.telemetry(hand.id, { seconds: CONSOLE_LIMITS.telemetryS }),
    CONSOLE_LIMITS.telemetryMs,
  );
  return (
    <section className="card tile" aria-label={hand.name.slice(0, 80)}>
      <div className="name">
        <Line text={hand.name} chars={60} /> <State hand={hand} />
      </div>
      {samples.length > 0 && (
        <Sparkline values={samples.map((sample) => numberIn(sample, "cpu"))} label="CPU in the last five minutes" />
      )}
      <Load samples={samples} />
      <div className="k">
        <span>
          <Line text={hand.gateway} /> · version <Line text={hand.version} chars={20} />
        </span>
        <span title={clockWords(hand.lastSeenAt)}>seen {agoWords(hand.lastSeenAt)}</span>
      </div>
      {hand.why !== null && (
        <p className="fault small">
          <Line text={hand.why} />
        </p>
      )}
      <div className="row">
        {hand.tags.map((tag) => (
          <span key={tag} className="tag">
            <Line text={tag} chars={40} />
          </span>
        ))}
        <details className="small">
          <summary>{hand.tools.length} tools</summary>
          <Line text={hand.tools.join(", ")} chars={2000} />
        </details>
      </div>
      {props.isAdmin && <HandButtons {...props} />}
    </section>
  );
}

function State({ hand: { barred, state } }: { readonly hand: HandRecord }): ReactNode {
  if (barred !== null) return <span className="state bad">{barred}</span>;
  return <span className={`state ${state === "ok" ? "ok" : state === "degraded" ? "asking" : "bad"}`}>{state}</span>;
}

function Load({ samples }: { readonly samples: readonly HandSample[] }): ReactNode {
  const last = samples.at(-1);
  if (last === undefined) return null;
  return (
    <div className="k">
      <span>CPU {Math.round(numberIn(last, "cpu") * 100)} %</span>
      <span>memory {gigabytes(numberIn(last, "mem"))} used</span>
      <span>disk {gigabytes(numberIn(last, "disk"))} used</span>
    </div>
  );
}

function gigabytes(mebibytes: number): string {
  return `${(mebibytes / 1024).toFixed(1)} GiB`;
}

function numberIn({ payload }: HandSample, name: string): number {
  const value = payload[name];
  return typeof value === "number" ? value : 0;
}

function HandButtons(props: { readonly hand: HandRecord; readonly changed: () => void }): ReactNode {
  const { hand, changed } = props;
  const [fault, setFault] = useState("");
  const [isSure, setSure] = useState(false);
  const act = (work: Promise<unknown>): void =>
    void work.then(changed, (thrown: unknown) => setFault(faultWords(thrown)));
  if (hand.barred === "revoked" || hand.id === "local") return null;
  return (
    <div className="row">
      {hand.barred === "quarantined" ? (
        <button type="button" className="small" onClick={() => act(vidro.hands.release(hand.id))}>
          Let it work again
        </button>
      ) : (
        <button type="button" className="small" onClick={() => act(vidro.hands.quarantine(hand.id))}>
          Quarantine
        </button>
      )}
      <button
        type="button"
        className="small no"
        onClick={() => (isSure ? act(vidro.hands.revoke(hand.id)) : setSure(true))}
      >
        {isSure ? "Revoke for good?" : "Revoke"}
      </button>
      {fault !== "" && <p className="fault">{fault}</p>}
    </div>
  );
}
