import { LINKS } from "./links/links.ts";
import type * as redialModule from "./links/redial.ts";

export { readBrainKey } from "./enrol/brain-key.ts";
export { exportSpans, loadTraces } from "./export-spans.ts";
export { localHand } from "./hand.ts";
export { mountingHand } from "./mounting-hand.ts";
export type { HandPolicy, LocalHandOptions, ProbePoint } from "./hand-options.ts";
export type { EditorAnswer, FileEditor } from "./files/planned-files.ts";
export type { AgentTcp, Bearer, Verify } from "./links/agent-tcp.ts";
export type { Executor, ExecutorOptions } from "./links/executor-ws.ts";
export type { ExecutorEvent, ExecutorState } from "./links/executor-ws/executor-state.ts";
export { homePolicy } from "./policy/home-policy.ts";
export { readPolicySource, replacePolicyFile, rulesIn } from "./policy/rule-file.ts";
export { openReloadablePolicy, openPolicy } from "./policy/policy-file.ts";
export type { ReloadablePolicy, OpenPolicy } from "./policy/policy-file.ts";
export type { Reloadable } from "./program/signals.ts";
export { findHostSandbox } from "./exec/sandbox.ts";
export { canScreen } from "./exec/sandbox/process-screen.ts";
export { surviveErrors } from "./program/uncaught-errors.ts";
export { TOOLS } from "./tools/tools.ts";

/** Reads the file of MCP servers; loaded only where it is looked at. */
export const loadMountFile = () => import("./mcp/mount-file.ts");

/** Reads the documents of a folder; loaded only where folders are configured. */
export const loadDocumentScan = () => import("./files/document-scan.ts");

/** Fetches images of the web; loaded with the first one. */
export const loadImageFetch = () => import("./web/fetch-image.ts");

/** A hand that listens for TCP; loaded only where one is served. */
export const loadTcpHand = () => import("./program/tcp-hand.ts");

/** The module that dials again when a connection is lost. */
export type RedialModule = typeof redialModule;

/** Keeps a connection up; loaded only where one is dialled. */
export const loadConnectionKeeper = (): Promise<RedialModule> => import("./links/redial.ts");

/** An executor that dials a brain; loaded only where one is. */
export const loadExecutor = LINKS["executor-ws"].load;
