import type { WebSocket } from "ws";
import { EXECUTOR_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import type { ExecutorGateway } from "@vidro/core/wire/executor-gateway";
import type { Log } from "../observe/log.ts";
import type { ConnectedExecutorDependencies } from "./executor-ws/connected-executor.ts";
import type { HandRegister } from "./register/hand-register.ts";

/** Dependencies of the gateway of executors. */
export interface ExecutorGatewayOptions {
  readonly hands: HandRegister;
  readonly log: Log;
  /** Shorter times than those of EXECUTOR_LIMITS and REGISTER_LIMITS, for tests. */
  readonly bounds?: Partial<ConnectedExecutorDependencies["bounds"]>;
}

/**
 * The gateway of executors (004): programs that dial in, offer their tools and carry out what the brain decides. Loaded
 * with the first connection, so that a daemon is up before.
 */
export async function executorGateway(options: ExecutorGatewayOptions): Promise<ExecutorGateway<WebSocket>> {
  const { hands, log } = options;
  const [{ ConnectedExecutor }, { ExecutorMemories, executorHandId: handOf, executorSessionOf: sessionOf }] =
    await Promise.all([import("./executor-ws/connected-executor.ts"), import("./executor-ws/executor-memories.ts")]);
  const memories = new ExecutorMemories();
  const bounds = { ...EXECUTOR_LIMITS, heartbeatMs: REGISTER_LIMITS.heartbeatMs, ...options.bounds };
  return {
    accept: (connection) => void new ConnectedExecutor({ hands, memories, log, bounds }, connection),
    sessionsSeenBefore: (time) =>
      hands.list({ owner: "", admin: true }).flatMap(({ id, lastSeenAt }) => {
        const session = sessionOf(id);
        return session === undefined || lastSeenAt >= time ? [] : [session];
      }),
    async forget(session) {
      if (hands.isConnected(handOf(session))) return;
      memories.delete(session);
      await hands.forget(handOf(session));
    },
  };
}
