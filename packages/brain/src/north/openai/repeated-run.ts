import { canonicalJson } from "@vidro/core";
import type { Json, RunHead, RunStarted, Turn } from "@vidro/core";
import type { Runs, StartRequest } from "../../run/runs.ts";

/** What a run would be started with, and the open runs among which it may exist already. */
interface Candidate {
  readonly setting: Pick<StartRequest, "agent" | "callerTools" | "thread">;
  readonly task: string;
  readonly history: readonly Turn[];
  readonly open: readonly RunHead[];
}

/**
 * The open run that the same conversation started before. Clients of this wire repeat a request when its answer is
 * late or its connection is cut, without a key: a second run would do the work a second time.
 */
export async function findRepeatedRun(runs: Pick<Runs, "read">, candidate: Candidate): Promise<RunHead | undefined> {
  const task = candidate.task.trim();
  for (const head of candidate.open) {
    if (head.task !== task) continue;
    // A stored conversation has one open run at a time, and the brain keeps its history.
    if (candidate.setting.thread !== undefined) return head;
    const [first] = await runs.read(head.id, 0, 1);
    if (first?.event.type === "run.started" && isSame(first.event, candidate)) return head;
  }
  return undefined;
}

function isSame(started: RunStarted, { setting: { agent, callerTools = [] }, history }: Candidate): boolean {
  const offered = new Set(started.tools.map(({ name }) => name));
  return (
    started.agent === agent?.name &&
    started.system === agent.prompt &&
    callerTools.every(({ name }) => offered.has(name)) &&
    canonicalJson(started.history as unknown as Json) === canonicalJson(history as unknown as Json)
  );
}
