import { useCallback, useEffect, useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { Entry } from "@vidro/core";
import { jsonLine } from "@vidro/core/text";
import { localeNow, translate } from "../words/translate.ts";
import { ChainState } from "./chain-state.tsx";
import { Copy } from "./copy.tsx";
import { ForkForm } from "./fork-form.tsx";
import { VirtualList } from "./virtual-list.tsx";

/** The journal of a run: each entry with its seq, as it is stored. */
export function JournalView(props: {
  readonly run: string;
  readonly entries: readonly Entry[];
  readonly target: number | undefined;
}): ReactNode {
  const { run, entries, target } = props;
  const [words, setWords] = useState("");
  const filter = words.trim().toLowerCase();
  const shown = filter === "" ? entries : entries.filter((entry) => hasWords(entry, filter));
  const index = target === undefined ? -1 : shown.findIndex(({ seq }) => seq === target);
  const draw = useCallback(
    (entry: Entry) => <EntryRow entry={entry} run={run} isTarget={entry.seq === target} />,
    [run, target],
  );
  return (
    <>
      <div className="filters">
        <label className="filter">
          <span>{translate("Filter")}</span>
          <input type="search" value={words} onChange={({ target: { value } }) => setWords(value)} data-filter="" />
        </label>
        <button type="button" className="small" onClick={() => saveEntries(run, entries)}>
          {translate("Export")}
        </button>
        <Copy text={curlOf(run)} label={translate("Copy curl")} />
        <ChainState run={run} />
      </div>
      {shown.length === 0 && <p className="empty">{translate("No entry has these words.")}</p>}
      <div className="card journal">
        <VirtualList
          items={shown}
          guessPx={33}
          keyOf={keyOf}
          draw={draw}
          label={translate("Journal")}
          target={index === -1 ? undefined : index}
        />
      </div>
    </>
  );
}

/** The request that gives the journal; the token is the reader's own. */
function curlOf(run: string): string {
  const headers = `-H "Authorization: Bearer $VIDRO_TOKEN" -H "Accept: application/x-ndjson"`;
  return `curl ${headers} "${location.origin}/v1/runs/${run}/events?live=false"`;
}

/** Saves the entries as a file of lines of JSON. */
function saveEntries(run: string, entries: readonly Entry[]): void {
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  link.download = `${run}.ndjson`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function keyOf({ seq }: Entry): string {
  return String(seq);
}

function hasWords(entry: Entry, filter: string): boolean {
  return entry.event.type.includes(filter) || JSON.stringify(entry.event).toLowerCase().includes(filter);
}

const SUMMARY_CHARS = 240;

/** One entry; the one that the address names is open. */
function EntryRow(props: { readonly entry: Entry; readonly run: string; readonly isTarget: boolean }): ReactNode {
  const { entry, run, isTarget } = props;
  const [isOpen, setOpen] = useState(isTarget);
  useEffect(() => {
    if (isTarget) setOpen(true);
  }, [isTarget]);
  const { seq, at, event } = entry;
  const { type, ...facts } = event;
  return (
    <div className="entry" id={`seq-${seq}`}>
      <button type="button" className="entry-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="seq">{seq}</span>
        <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString(localeNow())}</time>
        <b>{type}</b>
        <code>
          <bdi>{jsonLine(facts).slice(0, SUMMARY_CHARS)}</bdi>
        </code>
      </button>
      {isOpen && (
        <div className="entry-body">
          <div className="row">
            <Copy text={JSON.stringify(entry)} label={translate("Copy JSON")} />
            <Copy text={`${location.origin}/runs/${run}#seq=${seq}`} label={translate("Copy link")} />
            <ForkForm run={run} at={seq} />
          </div>
          <pre tabIndex={0}>
            <bdi>{wholeWords(entry)}</bdi>
          </pre>
        </div>
      )}
    </div>
  );
}

/** An entry over several lines, its control characters escaped. */
function wholeWords(entry: Entry): string {
  const text = JSON.stringify(entry, null, 2).slice(0, CONSOLE_LIMITS.entryChars);
  return text
    .split("\n")
    .map((line) => JSON.parse(jsonLine(line)) as string)
    .map(escapeControls)
    .join("\n");
}

function escapeControls(line: string): string {
  return jsonLine(line).slice(1, -2).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
}
