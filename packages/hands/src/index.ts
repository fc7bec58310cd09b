export { localHand } from "./hand.ts";
export type { HandPolicy, LocalHandOptions, ProbePoint } from "./hand.ts";
export type { AgentTcp, Bearer, Verify } from "./links/agent-tcp.ts";
export type { Executor, ExecutorOptions } from "./links/executor-ws.ts";
export type { ExecutorEvent, ExecutorState } from "./links/executor/state.ts";
export { keepPolicy, openPolicy } from "./policy-file.ts";
export type { KeptPolicy, OpenPolicy } from "./policy-file.ts";
export type { Reloadable } from "./signals.ts";
export { hostSandbox } from "./sandbox.ts";
export { surviveErrors } from "./survive.ts";
export { TOOLS } from "./tools/tools.ts";

/** A hand that listens for TCP; loaded only where one is served. */
export const loadTcpHand = () => import("./tcp-hand.ts");

/** Keeps a connection up; loaded only where one is dialled. */
export const loadRedial = () => import("./redial.ts");

/** An executor that dials a brain; loaded only where one is. */
export const loadExecutor = () => import("./links/executor-ws.ts");
