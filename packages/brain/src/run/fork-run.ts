import { Fault, FOLLOW_LIMITS } from "@vidro/core";
import type { RunHead, RunStarted, Turn } from "@vidro/core";
import { reduce, turnsOf } from "@vidro/core/run";
import type { RunState } from "@vidro/core/run";
import type { Runs, StartRequest } from "./runs.ts";

/** A fork: from which entry on, and how the new run differs. */
interface ForkRequest {
  /** The entry up to which the runs are the same; the last one when absent. */
  readonly at?: number | undefined;
  /** Words that the model is told next. */
  readonly text?: string | undefined;
  /** A task in the place of the run's own: the new run begins where the run began. */
  readonly task?: string | undefined;
  /** Name of the model; that of the run when absent. */
  readonly model?: string | undefined;
  /** Owner, token and idempotency key of the new run. */
  readonly as?: Pick<StartRequest, "owner" | "token" | "key">;
  /** The ids of the hands that the new run may use for those of the run. */
  readonly select?: (hands: string) => string;
}

/**
 * Starts a run with the prompt of another one as it was at an entry: at the last moment up to it in which the model was
 * to be asked next. Nothing that the other run did is done again, and that run is left as it is.
 */
export async function forkRun(
  runs: Pick<Runs, "find" | "read" | "start">,
  run: string,
  { at, text, task, model, as = {}, select = (hands) => hands }: ForkRequest,
): Promise<{ readonly run: RunHead; readonly existed: boolean }> {
  const { seq: last } = await runs.find(run);
  if (at !== undefined && (at < 1 || at > last))
    throw new Fault("BAD_REQUEST", `Run ${run} has the entries 1 to ${last}; it cannot be forked at ${at}.`);
  if (task !== undefined && at !== undefined)
    throw new Fault("BAD_REQUEST", "A fork with another task begins at the first entry: leave out either task or at.");
  const { started, ...state } = await readyState(runs, run, task === undefined ? (at ?? last) : 1);
  const request = {
    ...requestOf(started, select),
    ...(task === undefined ? {} : { task }),
    ...forkOf(run, { ...state, started }, text),
    ...as,
  };
  if (model !== undefined) return runs.start({ ...request, model });
  try {
    return await runs.start({ ...request, model: started.model });
  } catch {
    // As for a run that is taken over: a model that is gone by now is replaced by the configured one.
    return runs.start(request);
  }
}

/** The state in which the model was to be asked next, the last one up to an entry. */
async function readyState(runs: Pick<Runs, "read">, run: string, at: number): Promise<RunState> {
  let [state, ready]: [RunState | undefined, RunState | undefined] = [undefined, undefined];
  for (let after = 0; after < at;) {
    const entries = await runs.read(run, after, Math.min(FOLLOW_LIMITS.batch, at - after));
    for (const entry of entries) {
      state = reduce(state, entry);
      if (state.phase.name === "ready") ready = state;
    }
    if (entries.length === 0) break;
    after += entries.length;
  }
  if (ready === undefined) throw new Fault("JOURNAL_CORRUPT", `Run ${run} has no beginning.`);
  return ready;
}

/** The start of a run like another one. */
function requestOf(started: RunStarted, select: (hands: string) => string): StartRequest {
  const { task, files, workspace, hand, agent, system, tools, choice, sampling, interactive } = started;
  return {
    task,
    ...(files === undefined ? {} : { files }),
    workspace,
    ...(hand === LOCAL ? {} : { hand: select(hand) }),
    agent: { name: agent, description: "", prompt: system },
    tools: tools.filter(({ caller }) => caller !== true).map(({ name }) => name),
    callerTools: tools.filter(({ caller }) => caller === true),
    ...(choice === undefined ? {} : { choice }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(interactive === undefined ? {} : { interactive }),
  };
}

/** The id of the hand on the brain's own machine. */
const LOCAL = "local";

function forkOf(run: string, state: RunState, text: string | undefined): Pick<StartRequest, "history" | "fork"> {
  const { started, history, turns, seq, digest, plan } = state;
  const said: readonly Turn[] = text === undefined || text.trim() === "" ? [] : [{ role: "user", text: text.trim() }];
  const { facts, changed } = started;
  return {
    history,
    fork: {
      forked: {
        run,
        seq,
        turns: [...turnsOf(turns), ...said],
        ...(digest === "" ? {} : { digest }),
        ...(plan.length === 0 ? {} : { plan }),
      },
      ...(facts === undefined ? {} : { facts }),
      ...(changed === undefined ? {} : { changed }),
    },
  };
}
