import { isAbsolute } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { HandCatalog } from "@vidro/core";
import type { Caller } from "../auth/caller.ts";
import type { Thread, Threads } from "../catalog/threads.ts";
import type { Runs, StartRequest } from "../run/runs.ts";
import { selectHand } from "./hand-selector.ts";

/** Where threads, runs and hands are found. */
interface SettingDependencies {
  readonly runs: Pick<Runs, "list">;
  readonly threads: Pick<Threads, "find" | "cast">;
  readonly hands: Pick<HandCatalog, "select">;
}

/** The thread to go on with and the hands to work with, as a caller names them. */
interface AskedSetting {
  readonly thread?: string;
  readonly hand?: string;
}

/** Settings and hands of a new run: those of the request, otherwise those of its thread. */
export async function runSetting(
  deps: SettingDependencies,
  { thread: named, hand }: AskedSetting,
  caller: Caller,
): Promise<Partial<StartRequest>> {
  const thread = named === undefined ? undefined : await threadOf(deps, named, caller.owner);
  return {
    ...(named === undefined ? {} : { thread: named }),
    ...(thread === undefined ? {} : await deps.threads.cast(thread)),
    ...selectHand(deps.hands, hand ?? thread?.hand, caller),
  };
}

/** The caller's thread with that id; undefined for one that a run started without a stored thread. */
async function threadOf(
  { runs, threads }: SettingDependencies,
  thread: string,
  owner: string,
): Promise<Thread | undefined> {
  try {
    return await threads.find(thread, owner);
  } catch (thrown) {
    const isTheirs = (await runs.list({ thread, owner, limit: 1 })).length > 0;
    if (isTheirs && thrown instanceof Fault && thrown.code === "NOT_FOUND") return undefined;
    throw thrown;
  }
}

/** Schema of the folder that a request names. */
export const WORKSPACE = {
  type: "string",
  minLength: 1,
  maxLength: HAND_LIMITS.pathChars,
  description: "Folder of the brain's own machine to work in; takes the scope admin. Default: the daemon's.",
} as const;

/** The folder of a run; only an administrator may choose where the brain's own machine works. */
export function folderOf(named: string | undefined, unnamed: string, { admin }: Caller): string {
  if (named === undefined) return unnamed;
  if (!admin) throw new Fault("FORBIDDEN", "Naming the folder of a run takes the scope admin.");
  if (!isAbsolute(named)) throw new Fault("BAD_REQUEST", "workspace: the path of a folder begins with /.");
  return named;
}
