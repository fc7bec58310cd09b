import { EXECUTOR_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import type { Brain } from "../brain.ts";
import type { Log } from "../observe/log.ts";
import type { Visitor, VisitWorld } from "./executor-ws/visit.ts";
import { standardTools } from "./local.ts";

/** What the gateway of executors needs. */
export interface ExecutorGatewayOptions extends Pick<Brain, "runs" | "hands" | "records" | "journal"> {
  readonly log: Log;
  readonly version: string;
  readonly now?: () => number;
  /** Shorter times than those of EXECUTOR and HANDS, for tests. */
  readonly bounds?: Partial<VisitWorld["bounds"]>;
}

/** A path on which executors come in. */
interface ExecutorDoor {
  /** With `{name}` for parameters. */
  readonly path: string;
  /** The scope that a token needs. */
  readonly scope: string;
  opener(): Promise<(visitor: Visitor) => void>;
}

/**
 * The gateway of executors (004): a program that dials in, offers its tools, brings a task if it likes, carries out
 * what the brain decides and is told how the run goes.
 */
export function executorGateway(options: ExecutorGatewayOptions): readonly ExecutorDoor[] {
  let loaded: ReturnType<ExecutorDoor["opener"]> | undefined;
  const opener = (): ReturnType<ExecutorDoor["opener"]> => (loaded ??= load(options));
  // Executors of an earlier brain that will not come back are forgotten, also when no other ever comes.
  setTimeout(() => void opener().catch(() => undefined), EXECUTOR_LIMITS.sweepAfterMs).unref();
  return ["/executor", "/ws/tasks/{task_id}"].map((path) => ({ path, scope: "runs", opener }));
}

/** Loaded with the first who comes: a daemon is up before. */
async function load(options: ExecutorGatewayOptions): ReturnType<ExecutorDoor["opener"]> {
  const { runs, hands, records, journal, log, version, now = Date.now } = options;
  const [{ Sessions }, { Visit }] = await Promise.all([
    import("./executor-ws/sessions.ts"),
    import("./executor-ws/visit.ts"),
  ]);
  const sessions = new Sessions({ runs, hands, records, journal, now });
  sessions
    .sweep()
    .catch((thrown: unknown) => log("executor.purge_failed", { reason: String(thrown) }));
  const bounds = { ...EXECUTOR_LIMITS, heartbeatMs: REGISTER_LIMITS.heartbeatMs, ...options.bounds };
  const world: VisitWorld = { runs, hands, sessions, standardTools, log, version, bounds };
  return (visitor) => void new Visit(world, visitor);
}
