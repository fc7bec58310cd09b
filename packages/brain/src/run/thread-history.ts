import { boundFiles, FOLLOW_LIMITS, isTerminal, RUN_LIMITS } from "@vidro/core";
import type { FilePart, Journal, RunHead, RunStarted, TerminalEvent, Turn } from "@vidro/core";
import { changedFacts, extendHistory, fold, haveSamePrompt, historyRoom, turnsOfEnded } from "@vidro/core/run";
import type { RunState } from "@vidro/core/run";

/** An ended run of a thread. */
interface EndedRun {
  readonly head: RunHead;
  readonly state: RunState;
  readonly end: TerminalEvent;
}

/** What a run knows besides the words of its task. */
export interface EarlierTurns {
  /** Files that the person attached to the task. */
  readonly files?: readonly FilePart[];
  /** Earlier turns, when the caller keeps the conversation; otherwise they are read from the thread. */
  readonly history?: readonly Turn[];
  /** Turns that the caller added to the thread; those that the thread has already are left out. */
  readonly added?: readonly Turn[];
  /** The thread to continue; a new one when left out. */
  readonly thread?: string;
  /** An ended run of the same owner whose turns are taken instead of those of the thread. */
  readonly followsRun?: RunHead;
}

/** A start with the turns of the runs before it, unless the caller keeps the conversation. */
export async function withEarlier(
  journal: Journal,
  started: RunStarted,
  { thread, history, added = [], followsRun }: EarlierTurns,
): Promise<RunStarted> {
  if ((thread === undefined && followsRun === undefined) || history !== undefined)
    return { ...started, history: boundFiles(started.history) };
  const known =
    followsRun === undefined ? await inThread(journal, started) : await afterRun(journal, started, followsRun);
  const said = new Set(known.history.map(({ text }) => text));
  return { ...known, history: boundFiles([...known.history, ...added.filter(({ text }) => !said.has(text))]) };
}

/**
 * A new run of a thread with what it knows of the runs before it, from their journals: the history of the last run that
 * ended, and the turns of that run. Runs that ended beside it are added, too. A run that cannot be read is left out, so that
 * a damaged journal does not block its thread.
 */
async function inThread(journal: Journal, fresh: RunStarted): Promise<RunStarted> {
  const heads = await journal.list({ thread: fresh.thread, limit: RUN_LIMITS.historyRuns });
  const ended = heads.filter(({ status }) => status !== "running" && status !== "asking");
  const last = await firstReadable(journal, ended);
  if (last === undefined) return fresh;
  const beside = ended.filter(({ id, updatedAt }) => id !== last.head.id && updatedAt >= last.head.startedAt);
  let hasOthers = false;
  let earlier: readonly Turn[] = last.state.history;
  for (const head of beside.toReversed()) {
    const other = await readEnded(journal, head);
    if (other === undefined) continue;
    earlier = [...earlier, ...turnsOfEnded(other.state, other.end)];
    hasOthers = true;
  }
  return extendRun(last, fresh, hasOthers ? earlier : undefined);
}

/** A new run with what it knows of one ended run, which may be of another thread. */
async function afterRun(journal: Journal, fresh: RunStarted, head: RunHead): Promise<RunStarted> {
  const last = await readEnded(journal, head);
  return last === undefined ? fresh : extendRun(last, fresh);
}

/** A new run with the turns of an ended one; `earlier` are the turns before those, where they are not its own history. */
function extendRun({ state, end }: EndedRun, fresh: RunStarted, earlier?: readonly Turn[]): RunStarted {
  const started = beginningLike(state.started, fresh);
  const keepsSignatures = earlier === undefined && haveSamePrompt(state.started, started);
  const room = { chars: historyRoom(started.window), keepsSignatures };
  return { ...started, history: extendHistory(earlier ?? state.history, turnsOfEnded(state, end), room) };
}

/** The run with the facts of the run before it, so that their prompts begin alike; what differs now is told with the task. */
function beginningLike({ facts: before, hand, workspace }: RunStarted, fresh: RunStarted): RunStarted {
  const { facts: now } = fresh;
  if (before === undefined || now === undefined || hand !== fresh.hand || workspace !== fresh.workspace) return fresh;
  const changed = changedFacts(before, now);
  return { ...fresh, facts: before, ...(changed === undefined ? {} : { changed }) };
}

async function firstReadable(journal: Journal, heads: readonly RunHead[]): Promise<EndedRun | undefined> {
  for (const head of heads) {
    const run = await readEnded(journal, head);
    if (run !== undefined) return run;
  }
  return undefined;
}

async function readEnded(journal: Journal, head: RunHead): Promise<EndedRun | undefined> {
  let state: RunState | undefined;
  try {
    for (;;) {
      const entries = await journal.read(head.id, state?.seq ?? 0, FOLLOW_LIMITS.batch);
      state = fold(entries, state);
      if (entries.length < FOLLOW_LIMITS.batch) break;
    }
  } catch {
    return undefined;
  }
  if (state?.phase.name !== "ended" || !isTerminal(state.phase.end)) return undefined;
  return { head, state, end: state.phase.end };
}
