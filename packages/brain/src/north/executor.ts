import { EXECUTOR_LIMITS } from "@vidro/core";
import type { Bus, Journal, Records } from "@vidro/core";
import type { ExecutorGateway } from "@vidro/core/wire/executor-gateway";
import type { Upgrade, UpgradedConnection } from "../http/upgrade.ts";
import type { Log } from "../observe/log.ts";
import type { Runs } from "../run/runs.ts";
import { answerRights } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";

/** Dependencies of the surface of executors. */
interface ExecutorSurfaceOptions extends ApprovalRights {
  readonly runs: Runs;
  readonly records: Records;
  readonly journal: Journal;
  /** Loads the gateway that makes executors hands. */
  readonly gateway: () => Promise<ExecutorGateway<UpgradedConnection["socket"]>>;
  /** The way to other brains, if one is set. */
  readonly bus?: Bus;
  readonly log: Log;
  readonly version: string;
  readonly now?: () => number;
}

/**
 * The surface of executors (004): an executor may bring a task, is shown how its run goes, and answers its questions.
 * The same connection makes it a hand, by its gateway.
 */
export function executorUpgrades(options: ExecutorSurfaceOptions): readonly Upgrade[] {
  let loaded: ReturnType<Upgrade["opener"]> | undefined;
  const opener = (): ReturnType<Upgrade["opener"]> => (loaded ??= load(options));
  // Executors of an earlier brain that will not come back are forgotten, also when no other one connects.
  setTimeout(() => void opener().catch(() => undefined), EXECUTOR_LIMITS.sweepAfterMs).unref();
  return ["/executor", "/ws/tasks/{task_id}"].map((path) => ({ path, scope: "runs", opener }));
}

/** Loaded with the first connection, so that a daemon is up before. */
async function load(options: ExecutorSurfaceOptions): ReturnType<Upgrade["opener"]> {
  const { runs, records, journal, bus, log, version, now = Date.now } = options;
  const [gateway, { ExecutorSessions }, { ExecutorConnection }] = await Promise.all([
    options.gateway(),
    import("./executor/sessions.ts"),
    import("./executor/executor-connection.ts"),
  ]);
  const sessions = new ExecutorSessions({ runs, gateway, records, journal, now, bus });
  sessions.forgetAbsent().catch((thrown: unknown) => log("executor.purge_failed", { reason: String(thrown) }));
  return ({ socket, ended, caller, params: { task_id: task } }) => {
    const { owner, tokenId } = caller;
    const dialled = { owner, tokenId, task, rights: answerRights(caller, options) };
    return gateway.accept({
      socket,
      ended,
      listen: (peer) => new ExecutorConnection({ runs, sessions, version }, dialled, peer),
    });
  };
}
