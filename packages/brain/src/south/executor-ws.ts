import { EXECUTOR, HANDS } from "@vidro/core";
import type { Brain } from "../compose.ts";
import type { Log } from "../log.ts";
import { Sessions } from "./executor/sessions.ts";
import { Visit } from "./executor/visit.ts";
import type { Visitor, VisitWorld } from "./executor/visit.ts";
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
export interface ExecutorDoor {
  /** With `{name}` for parameters. */
  readonly path: string;
  /** The scope that a token needs. */
  readonly scope: string;
  open(visitor: Visitor): void;
}

/**
 * The gateway of executors (004): a program that dials in, offers its tools, brings a task if it likes, carries out
 * what the brain decides and is told how the run goes.
 */
export function executorGateway(options: ExecutorGatewayOptions): readonly ExecutorDoor[] {
  const { runs, hands, records, journal, log, version, now = Date.now } = options;
  const sessions = new Sessions({ runs, hands, records, journal, now });
  sessions
    .sweep()
    .catch((thrown: unknown) => log("warn", "old executors are not forgotten", { reason: String(thrown) }));
  const bounds = { ...EXECUTOR, heartbeatMs: HANDS.heartbeatMs, ...options.bounds };
  const world: VisitWorld = { runs, hands, sessions, standardTools, log, version, bounds };
  const open = (visitor: Visitor): void => void new Visit(world, visitor);
  return ["/executor", "/ws/tasks/{task_id}"].map((path) => ({ path, scope: "runs", open }));
}
