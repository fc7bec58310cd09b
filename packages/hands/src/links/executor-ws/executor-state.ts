import { REGISTER_LIMITS } from "@vidro/core";
import type { ExecutorMessage, HandshakeAck } from "@vidro/core/wire/executor-ws";

/** The state of an executor, with all that it needs to continue after a cut. */
export interface ExecutorState {
  readonly connection: "dialling" | "up" | "down";
  /** Why the connection is down. */
  readonly error: string | undefined;
  /** Failures since the connection was last up. */
  readonly failures: number;
  /** The brain's reply to the last handshake. */
  readonly ack: HandshakeAck | undefined;
  /** The seq of the last entry of the run that was received. */
  readonly lastSeq: number;
  /** Actions that are being carried out. */
  readonly running: readonly string[];
  /** Results that the brain has not acknowledged, oldest first. */
  readonly results: ReadonlyMap<string, ExecutorMessage>;
  /** The final status of the task. */
  readonly final: string | undefined;
}

/** Events of an executor. */
export type ExecutorEvent =
  | { readonly type: "CONNECTION_ERROR"; readonly error: string }
  | { readonly type: "CONNECTION_RESTORED" }
  | { readonly type: "HANDSHAKE_ACKED"; readonly ack: HandshakeAck }
  | { readonly type: "RUN_TOLD"; readonly seq: number }
  | { readonly type: "TOOL_BEGUN"; readonly tool: string }
  | { readonly type: "TOOL_ENDED"; readonly tool: string; readonly result: ExecutorMessage }
  | { readonly type: "RESULT_ACKNOWLEDGED"; readonly tool: string }
  | { readonly type: "TASK_COMPLETED"; readonly final: string };

/** The state before the first connection. */
export const INITIAL_EXECUTOR_STATE: ExecutorState = {
  connection: "dialling",
  error: undefined,
  failures: 0,
  ack: undefined,
  lastSeq: 0,
  running: [],
  results: new Map(),
  final: undefined,
};

/** The state after one more event. */
export function reduceExecutor(state: ExecutorState, event: ExecutorEvent): ExecutorState {
  switch (event.type) {
    case "CONNECTION_ERROR":
      return { ...state, connection: "down", error: event.error, failures: state.failures + 1 };
    case "CONNECTION_RESTORED":
      return { ...state, connection: "up", error: undefined, failures: 0 };
    case "HANDSHAKE_ACKED":
      return { ...state, connection: "up", error: undefined, failures: 0, ack: event.ack };
    case "RUN_TOLD":
      return { ...state, lastSeq: Math.max(state.lastSeq, event.seq) };
    case "TOOL_BEGUN":
      return state.running.includes(event.tool) ? state : { ...state, running: [...state.running, event.tool] };
    case "TOOL_ENDED": {
      const running = state.running.filter((tool) => tool !== event.tool);
      return { ...state, running, results: addResult(state.results, event.tool, event.result) };
    }
    case "RESULT_ACKNOWLEDGED": {
      const results = new Map(state.results);
      results.delete(event.tool);
      return { ...state, results };
    }
    case "TASK_COMPLETED":
      return { ...state, final: event.final };
  }
}

/** Adds a result; beyond the bound the oldest is dropped, and the ledger has it if the brain orders it again. */
function addResult(
  results: ExecutorState["results"],
  tool: string,
  result: ExecutorMessage,
): ReadonlyMap<string, ExecutorMessage> {
  const all = [...results].filter(([known]) => known !== tool);
  return new Map([...all, [tool, result] as const].slice(-REGISTER_LIMITS.orders));
}
